//! What filters may see and say of an exchange, whatever language they are written in.
//!
//! A [`Call`] shows one phase of an exchange to the filters of one [`Library`] that stand next to each other in a
//! [`Chain`]; each answers with a [`Verdict`], all of them with one [`EditLog`], which is read back with suspicion
//! ([`EditLog::records`]). `abi/README.md` tells the same story to those who write filters. No I/O, no clock.

#![forbid(unsafe_code)]

mod call;
mod chain;
mod edit;
mod filter;
mod handle;
mod host;
mod kept;
mod metadata;
mod metric;
mod phase;
mod set;
mod view;

pub mod builtin;

pub use call::{CALL_WITHOUT_PHASE, Call, EndReason, Ended, Step};
pub use chain::{CHAIN_FILTERS_MAX, Chain, ChainStep, ChainTooLong, Entry};
pub use edit::{
    EDITS_BYTES_MAX, Edit, EditError, EditLog, EditRecord, EditRefused, FilterLimit, Head, apply_to_body,
    apply_to_fields,
};
pub use filter::{CallLimits, FailurePolicy, Filter, FilterInfo, FilterPolicy, Library, LoadError, Owner};
pub use handle::{Announced, Direction, Handle, HandleTable};
pub use host::{CallBond, Event, EventKind, Host, HostError, Level, Outbound, Wake};
pub use kept::{KeptFields, KeptView};
pub use metadata::{METADATA_BYTES_MAX, Metadata, MetadataFull};
pub use metric::{METRICS_MAX, Metric, MetricError, MetricKind, MetricRegistry, MetricView};
pub use phase::{Interest, Phase, Verdict};
pub use set::{FilterSet, RuleFilter};
pub use view::{About, RequestView, ResponseView, View};
