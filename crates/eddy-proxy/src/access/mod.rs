//! The access log: one record an exchange, written without ever making a worker wait.

mod noted;
mod record;
mod sink;
mod write;

pub(crate) use record::Record;
pub(crate) use sink::Sink;
pub(crate) use write::{AccessPlan, AccessWriter};
