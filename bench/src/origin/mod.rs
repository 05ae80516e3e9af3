//! The upstream of every target: as little work per request as an HTTP/1.1 server can do.

mod answer;
pub mod calls;
mod connection;
pub mod echo;
mod server;

pub use server::BenchOrigin;
