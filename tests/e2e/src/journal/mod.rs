//! The exactly-once checker: a load whose every request is known by number, an origin that keeps a journal, and the join.

mod load;
mod message;
mod origin;
mod relay;
mod verdict;

pub use load::{Load, Outcome, Running, Sent};
pub use message::{Numbers, hash_of};
pub use origin::{JournalOrigin, Seen};
pub use relay::{Plant, Relay};
pub use verdict::Verdict;
