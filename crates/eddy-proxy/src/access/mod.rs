//! Access log: one entry per exchange or forwarded connection, written as a line or sent to a service without ever
//! blocking a worker.

mod noted;
mod passage;
mod record;
mod service;
mod sink;
mod write;

pub(crate) use passage::{Datagrams, PassageRecord, PassageStart};
pub(crate) use record::AccessRecord;
pub(crate) use service::{RecordQueue, settle, ship};
pub(crate) use sink::AccessLogSink;
pub(crate) use write::{AccessPlan, AccessWriter};
