//! The gateway process: reads the configuration, runs the gateway, and obeys its parent and signals.
//!
//! The main thread only listens and decides; anything slow has its own thread.

mod command;
mod engine;
mod lend;
mod load;
mod load_attempt;
mod loaded;
mod log_choice;
mod mailbox;
mod pages;
mod predecessors;
mod process;
mod socket_source;
mod status;
mod stderr_capture;
mod succession;
mod taken;
mod unbound;
mod watchdog;

pub(crate) use loaded::{pack, unpack};
pub(crate) use log_choice::LogChoice;
pub(crate) use process::{ChildOptions, Supervision, run};
