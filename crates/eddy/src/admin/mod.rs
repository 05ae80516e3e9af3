//! Admin listener: a small HTTP/1 server on its own thread, independent of the traffic and its overload.

mod connection;
mod reserve;
mod server;

pub(crate) use server::{AdminServer, Page, Pages};

#[cfg(test)]
mod tests;
