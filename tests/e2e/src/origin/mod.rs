//! An origin that keeps every byte it is sent and misbehaves as it is told.

mod link;
mod script;
mod tap;

pub use script::{Gate, Script, Step, Wait, echo, response};
pub use tap::{Asked, Event, Log, TapOrigin};
