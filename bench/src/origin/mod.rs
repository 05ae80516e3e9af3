//! The upstream that every target proxies: as little work a request as an HTTP/1.1 server can do.

mod answer;
pub mod calls;
mod connection;
pub mod echo;
mod server;

pub use server::BenchOrigin;
