//! Subset of WASI for modules: output to the log, time and randomness; nothing else.

mod clocks;
mod define;
mod descriptors;
mod environment;
mod errno;
mod poll;
mod print;
mod random;
mod refusals;
mod sandbox;

pub use define::define;
pub use sandbox::{Sandbox, SystemClock, WasiClock};
