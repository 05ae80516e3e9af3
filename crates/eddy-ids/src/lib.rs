//! Counted references and typed identifiers of a configuration and its plan, and the times of a worker.

#![forbid(unsafe_code)]

mod by_slot;
mod id;
mod shared;
mod slots;
mod time;

pub use by_slot::BySlot;
pub use id::{ActionId, ClusterId, FilterId, IdParts, ListenerId, SitesId, SlotId, TableId};
pub use shared::{Shared, shared_clones};
pub use slots::{DuplicateKey, SlotChanges, Slots, SlotsDraft};
pub use time::{Millis, TICK, WorkerTime};
