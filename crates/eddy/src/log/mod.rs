//! eddy's own log: one line per entry on standard error, as text or JSON.
//!
//! A separate thread writes the entries, so that a full pipe or disk never blocks the program; entries that do not fit
//! are counted.

mod layer;
mod record;
mod writer;

pub(crate) use layer::{Log, LogSettings};
