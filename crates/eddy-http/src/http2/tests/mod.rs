//! Tests of the server side of HTTP/2 connections, frame by frame.

mod abuse;
mod bodies;
mod client;
mod head_budget;
mod heads;
mod streams;
