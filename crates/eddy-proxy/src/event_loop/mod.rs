//! Event loop of one core: accepts connections, runs their sessions, keeps time and applies plans.

mod accept;
mod run;
mod sockets;
mod state;
mod tick;

pub(crate) use run::{Apply, Start, WorkerCommand, run};
pub use sockets::Sockets;
