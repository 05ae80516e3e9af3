//! eddy's own configuration language: `eddy.yaml`.

mod embed;
mod tables;
mod whole;

pub(crate) use whole::{Eddy, embedded_files};
