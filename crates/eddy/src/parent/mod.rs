//! The parent: holds the listening sockets, starts the gateway process, replaces it when it dies or hangs, and hands over.
//!
//! It reads no configuration and serves nobody, so there is little in it that can fail.

mod crash_context;
mod gateway;
mod program;
mod quarantine;
mod report;
mod request;
mod restart;
mod state;
mod supervisor;
mod take_up;
mod watchdog;

pub(crate) use program::GatewayProgram;
pub(crate) use supervisor::{ParentOptions, Supervisor};
