//! The exactly-once checker: a load whose every request is known by number, an origin that keeps a journal, and the join.

mod load;
mod message;
mod origin;
mod relay;
mod verdict;

pub use load::{ClientJournalEntry, Load, RequestOutcome, RunningLoad};
pub use message::{Numbers, hash_of};
pub use origin::{JournalOrigin, OriginJournalEntry};
pub use relay::{FaultyRelay, Plant};
pub use verdict::JournalSummary;
