//! The access log: one record an exchange, or a connection that was passed on, written as a line or sent to a service without ever making a
//! worker wait.

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
