//! Tests of Lua filters: a spec makes requests and mock responses, which pass through a script without a gateway.

mod exchange;
mod host;
mod message;
mod script;
mod spec;
mod upstream;

pub(crate) use spec::{Rehearsal, SpecTestResult};
