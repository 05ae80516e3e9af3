//! What holds modules of WebAssembly, whatever contract they speak.
//!
//! An [`Engine`] compiles and runs; its clock ticks. The store of an instance is made by [`confine`] and has a
//! [`Confinement`], which limits memory, tables, the time of a call and what is printed. [`define_wasi`] gives a module
//! the functions of WASI: time, randomness and a place to print to, nothing else. How a call ended that did not return
//! is an [`Ending`].
//!
//! What modules and host say to each other is another crate's affair.

#![forbid(unsafe_code)]

mod ending;
mod engine;
mod region;
mod store;
mod wasi;

pub use ending::{CallTermination, Exit, Missing, cause_of, message_of};
pub use engine::{Allocation, Engine, EngineError, EngineSettings, Ticker};
pub use region::{Beyond, Region};
pub use store::{Bounds, Confined, Confinement, Output, OutputLine, Refused, begin, confine, memory_of, put};
pub use wasi::{Sandbox, SystemClock, WasiClock, define as define_wasi};
