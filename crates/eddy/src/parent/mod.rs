//! The parent process: holds the listening sockets, starts the gateway process, replaces it when it dies or hangs, and
//! hands over to a new one.
//!
//! It reads no configuration and serves no traffic, so there is little in it that can fail.

mod crash_context;
mod gateway;
mod program;
mod quarantine;
mod report;
mod request;
mod restart;
mod restore_state;
mod state;
mod supervisor;
mod watchdog;

pub(crate) use program::GatewayProgram;
pub(crate) use supervisor::Supervisor;
