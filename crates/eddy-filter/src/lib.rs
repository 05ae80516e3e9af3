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

pub use call::{CALL_WITHOUT_PHASE, EndReason, EndedExchange, FilterInvocation, LibraryCall};
pub use chain::{CHAIN_FILTERS_MAX, ChainStep, ChainTooLong, HttpFilterChain, PhaseOrderEntry};
pub use edit::{
    EDITS_BYTES_MAX, EditError, EditLog, EditRecord, EditRefused, EditableSection, FilterEdit, FilterLimit,
    apply_to_body, apply_to_fields,
};
pub use filter::{
    CallLimits, FailurePolicy, Filter, FilterInfo, FilterLibrary, FilterPolicy, LibraryKeepAlive, LoadError,
};
pub use handle::{Announced, Direction, Handle, HandleTable};
pub use host::{
    CallBond, EventKind, FilterEvent, FilterLogLevel, FilterOutboundRequest, HostApi, HostError, Wake,
};
pub use kept::{KeptFields, KeptView};
pub use metadata::{DynamicMetadata, METADATA_BYTES_MAX, MetadataFull};
pub use metric::{METRICS_MAX, Metric, MetricError, MetricKind, MetricRegistry, MetricView};
pub use phase::{Interest, Phase, Verdict};
pub use set::{FilterSet, RuleFilter};
pub use view::{ExchangeInfo, ExchangeView, RequestView, ResponseView};
