//! An origin that keeps every byte it is sent and misbehaves as it is told.

mod link;
mod script;
mod tap;

pub use script::{Gate, OriginScript, ScriptStep, ScriptTrigger, echo, response};
pub use tap::{Log, TapEvent, TapOrigin, TapRequest};
