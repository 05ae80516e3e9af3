//! Filters of a configuration: probed in a separate process, then created.

mod bundle;
mod dynamic_module;
mod lua;
mod maker;
mod metrics;
mod names;
mod probe;
mod probed;
mod problem;
mod quarantine;
mod registered;
mod services;
mod unbuilt;
mod wasm;

pub(crate) use bundle::{folders_of, link_packages, name_library, problems_of};
pub(crate) use maker::{FilterMaker, needs_new_process};
pub(crate) use metrics::{library_figures, write_metrics};
pub(crate) use names::FilterNames;
pub(crate) use probe::probe;
pub(crate) use probed::run as run_probe;
pub(crate) use problem::FilterProblem;
pub(crate) use quarantine::{held, version};
pub(crate) use unbuilt::{FilterFileKind, build_hint};
pub(crate) use wasm::cache_folder as module_cache;
