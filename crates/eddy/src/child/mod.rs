//! The gateway process: reads the configuration, runs the gateway, and obeys its parent and signals.
//!
//! The main thread only listens and decides; anything slow has its own thread.

mod engine;
mod lend;
mod load;
mod mailbox;
mod orders;
mod pages;
mod predecessors;
mod process;
mod socket_source;
mod status;
mod stderr_capture;
mod succession;
mod taken;
mod tried;
mod unbound;
mod watchdog;

pub(crate) use load::{pack, unpack};
pub(crate) use process::{ChildOptions, LogChoice, Supervision, run};
