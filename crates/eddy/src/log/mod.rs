//! eddy's own messages: one line a record on standard error, for people or as JSON.
//!
//! A thread of its own writes them, so that a full pipe or disk never holds up the program; what does not fit is counted.

mod layer;
mod record;
mod writer;

pub(crate) use layer::{Log, LogSettings};
