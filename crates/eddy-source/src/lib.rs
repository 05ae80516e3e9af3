//! Sources of configuration texts.
//!
//! A source reads texts and reports when they change; `eddy-config` interprets them.

#![forbid(unsafe_code)]

mod file;
mod folder;
mod read;
mod stamp;
mod watch;

pub use file::{CompanionsSnapshot, FileSource, Loaded, Rejected};
pub use watch::Watcher;
