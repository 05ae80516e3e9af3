//! Filters in Lua: scripts for the interface that Envoy's Lua filter has, each with a machine a worker.

mod asked;
mod context;
mod mentions;
mod order;
mod question;
mod running;
mod script;
mod shared;
mod shown;
mod spec;
mod stage;
mod vm;
mod worker;

pub use script::{LuaLimits, LuaScript, LuaSource};
pub use shared::SharedLimits;
pub use spec::{LuaSpec, SpecPart};
