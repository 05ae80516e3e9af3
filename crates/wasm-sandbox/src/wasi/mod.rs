//! Subset of WASI for modules: output to the log, time and randomness; nothing else.

mod clock;
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

pub use clock::{SystemClock, WasiClock};
pub use define::define;
pub use sandbox::Sandbox;
