//! A worker as everything above its connections sees it.

mod state;

pub(crate) use state::{Worker, WorkerParts};
