//! The way of traffic: accept, session, exchange.

#![forbid(unsafe_code)]
