//! Interface between the gateway and filters in any language: views, verdicts and edits.
//!
//! A [`LibraryCall`] shows one phase of an exchange to neighbouring filters of one [`FilterLibrary`] in an
//! [`HttpFilterChain`]. Each filter returns a [`Verdict`]; together they write one [`EditLog`], which is validated when
//! it is read ([`EditLog::records`]). `abi/README.md` describes the same interface for authors of filters. No I/O, no
//! clock.

#![forbid(unsafe_code)]

mod call;
mod chain;
mod edit;
mod event;
mod field_places;
mod filter;
mod handle;
mod host;
mod host_error;
mod kept;
mod metadata;
mod metric;
mod phase;
mod run;
mod view;

pub use call::{CALL_WITHOUT_PHASE, EndReason, EndedExchange, FilterInvocation, LibraryCall};
pub use chain::{CHAIN_FILTERS_MAX, ChainStep, ChainTooLong, HttpFilterChain, PhaseOrderEntry};
pub use edit::{
    EDITS_BYTES_MAX, EditError, EditLog, EditRecord, EditRefused, EditableSection, FilterEdit, FilterLimit,
    TrailerChange, apply_to_body, apply_to_fields, apply_to_trailers,
};
pub use event::{EventKind, FilterEvent, StreamEvent, StreamPart};
pub use field_places::{
    FieldPlace, MESSAGE_FIELDS_SPACE, field_json, field_places, field_places_key, push_field_places,
};
pub use filter::{
    CallLimits, FailurePolicy, Filter, FilterInfo, FilterLibrary, FilterPolicy, LibraryKeepAlive, LoadError,
    LoadResult,
};
pub use handle::{Announced, Direction, Handle, HandleTable, TURN_MAX};
pub use host::{CallBond, FilterLogLevel, FilterOutboundRequest, HostApi, StreamData, Wake};
pub use host_error::HostError;
pub use kept::{KeptFields, KeptView};
pub use metadata::{DynamicMetadata, METADATA_BYTES_MAX, MetadataFull};
pub use metric::{
    METRIC_NAME_BYTES_MAX, METRIC_TEXT_BYTES_MAX, METRICS_MAX, Metric, MetricError, MetricKind, MetricLabels,
    MetricRegistry, MetricView,
};
pub use phase::{Interest, Phase, Verdict};
pub use run::{
    BodyPart, BodyState, FailureOutcome, FilterPause, FilterRun, HeadState, IncomingBody, MessageRun,
    PhaseCall, RunOutput, StepOrder, StepResult,
};
pub use view::{ExchangeFacts, ExchangeInfo, ExchangeView, RequestView, ResponseView, TlsInfo};
