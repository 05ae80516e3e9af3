//! Where configuration comes from.
//!
//! A source reads texts and says when they changed; what they mean is decided in `eddy-config`.

#![forbid(unsafe_code)]

mod file;
mod folder;
mod read;
mod stamp;
mod watch;

pub use file::{CompanionsLook, FileSource, Loaded, Rejected};
pub use watch::Watcher;
