//! Filters as the program sees them: made from a configuration, tried out in a process of their own first.

mod bundle;
mod maker;
mod names;
mod probe;
mod probed;
mod problem;

pub(crate) use maker::needs_new_process;
pub(crate) use names::FilterNames;
pub(crate) use probe::probe;
pub(crate) use probed::run as run_probe;
