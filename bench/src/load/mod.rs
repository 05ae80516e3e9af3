//! The load generator: one thread that sends requests, checks every response and counts.

mod connection;
mod exchange;
mod generator;
mod h2load;
mod handshakes;
mod http2;
mod idle;
mod messages;
mod response;
mod schedule;
mod tally;
pub mod wrk;

pub use exchange::{ExpectedResponse, LoadExchange, ResponseOrigin, ScenarioRequest};
pub use generator::Generator;
pub use h2load::{H2load, H2loadSummary};
pub use handshakes::Shakers;
pub use http2::{IdleHttp2, check_call, check_get};
pub use idle::IdleConnections;
pub use messages::{Talk, Talkers, pull};
pub use response::Mismatch;
pub use tally::LoadStats;
