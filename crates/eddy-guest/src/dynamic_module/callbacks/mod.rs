//! Callbacks: the host's functions that modules call, by theme.
//!
//! The program exports each function under its name in the ABI. A callback finds its stream by the handle that the
//! module passes; a stale handle, or one of another worker, gets the answer for "not available".

mod attributes;
mod body;
mod calls;
mod headers;
mod list;
mod metadata;
mod metrics;
mod other_extensions;
mod other_filters;
mod process;
mod reply;
mod schedulers;
mod state;
mod table;
mod unavailable;
mod upstream;

pub(super) use list::{is_known, is_unavailable};
