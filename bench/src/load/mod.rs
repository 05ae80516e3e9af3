//! The load generator: one thread that sends requests, checks every response and counts.

mod connection;
mod exchange;
mod generator;
mod idle;
mod response;
mod schedule;
mod talk;
mod tally;
pub mod wrk;

pub use exchange::{Answer, Exchange, Expected, Request};
pub use generator::Generator;
pub use idle::IdleConnections;
pub use response::Mismatch;
pub use talk::{Talk, Talkers, pull};
pub use tally::Tally;
