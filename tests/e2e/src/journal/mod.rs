//! The exactly-once checker: a load of numbered requests, an origin that keeps a journal, and the comparison of both.

mod load;
mod message;
mod origin;
mod relay;
mod verdict;

pub use load::{ClientJournalEntry, Load, RequestOutcome, RunningLoad};
pub use message::{Numbers, hash_of};
pub use origin::{JournalOrigin, OriginJournalEntry};
pub use relay::{FaultyRelay, InjectedFault};
pub use verdict::JournalSummary;
