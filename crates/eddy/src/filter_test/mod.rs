//! Filters in Lua rehearsed: a spec makes up requests and answers, and a script is taken through them without a gateway.

mod exchange;
mod host;
mod message;
mod script;
mod spec;

pub(crate) use spec::{Rehearsal, SpecTestResult};
