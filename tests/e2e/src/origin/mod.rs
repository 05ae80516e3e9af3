//! An origin that records every byte it receives and misbehaves as its script demands.

mod link;
mod script;
mod tap;

pub use script::{Gate, OriginScript, ScriptStep, ScriptTrigger, echo, response};
pub use tap::{Log, TapEvent, TapOrigin, TapRequest};
