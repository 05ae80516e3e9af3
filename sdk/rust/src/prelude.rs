//! Imports that nearly every filter needs.

pub use crate::{Context, Edit, Exchange, Fault, FieldId, Filter, Interest, Paused, Phase, Reply, Verdict};
