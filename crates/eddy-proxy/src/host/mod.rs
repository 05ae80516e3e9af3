//! What filters can ask of the gateway from any thread, and how it reaches the workers.

mod filter_host;
mod inbox;
mod slots;

#[cfg(test)]
mod schedule_tests;

pub use filter_host::FilterHost;
pub(crate) use filter_host::note_worker;
pub(crate) use inbox::{FilterResume, WorkerMessage};
pub(crate) use slots::Slots;
