//! Sandbox for WebAssembly modules, independent of the ABI they use.
//!
//! An [`Engine`] compiles and runs modules and ticks their deadline clock. [`confine`] creates the store of an instance
//! with a [`Confinement`], which limits memory, tables, call time and printed output. [`define_wasi`] gives a module
//! the WASI functions: time, randomness and standard output, nothing else. [`CallTermination`] says why a call did not
//! return.
//!
//! The ABI between module and host is defined by another crate.

#![forbid(unsafe_code)]

mod ending;
mod engine;
mod region;
mod store;
mod wasi;

pub use ending::{CallTermination, Exit, Missing, cause_of, message_of};
pub use engine::{Allocation, Engine, EngineError, EngineSettings, Ticker};
pub use region::{Beyond, Region};
pub use store::{
    Bounds, Confined, Confinement, Output, OutputLine, Printed, Refused, begin, confine, memory_of, put,
};
pub use wasi::{Sandbox, SystemClock, WasiClock, define as define_wasi};
