//! The admin listener: a small HTTP/1 server on a thread of its own, apart from the traffic and its overloads.

mod connection;
mod reserve;
mod server;

pub(crate) use server::{AdminServer, Page, Pages};

#[cfg(test)]
mod tests;
