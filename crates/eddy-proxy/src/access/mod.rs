//! Access log: one entry per exchange or forwarded connection, written as a line or sent to a service without ever
//! blocking a worker.

mod noted;
mod queue;
mod record;
mod service_entry;
mod session_record;
mod sink;
mod write;

pub(crate) use noted::AccessMetadata;
pub(crate) use queue::{Batch, RecordQueue};
pub(crate) use record::{AccessRecord, detail_word};
pub(crate) use session_record::{Datagrams, SessionRecord, SessionStart};
pub(crate) use sink::AccessLogSink;
pub(crate) use write::AccessWriter;
