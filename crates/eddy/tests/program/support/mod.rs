//! The real binary as a child process of the test, and a client for it.

mod client;
mod directory;
mod eddy;
mod load;
mod page;

pub(crate) use client::{exchange, get, get_with, try_get};
pub(crate) use directory::Directory;
pub(crate) use eddy::{EddyProcess, Launch, binary, command_to_end, run_to_end};
pub(crate) use load::BackgroundLoad;
pub(crate) use page::PageRun;

use std::time::Duration;

/// Maximum time that a test waits for anything.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// A gateway that responds locally, at ports chosen by the kernel, regardless of the machine's speed.
pub(crate) const DEMO: &str = "\
workers: 2
limits: {queue_delay: 0s}
listeners: [{name: demo, address: '127.0.0.1:0', demo: true}]
admin: {address: '127.0.0.2:0'}
";
