//! Admin listener: a small HTTP/1 server on its own thread, independent of the traffic and its overload.

mod connection;
mod page;
mod server;

pub(crate) use page::{Page, Pages};
pub(crate) use server::AdminServer;

#[cfg(test)]
mod tests;
