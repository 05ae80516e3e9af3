//! The gateway process: reads the configuration, runs the gateway, and does what its parent or its signals ask.
//!
//! The main thread only listens and decides; whatever may take time has a thread of its own.

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
