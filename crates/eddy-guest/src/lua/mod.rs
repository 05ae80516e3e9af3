//! Filters in Lua: scripts with the interface of Envoy's Lua filter, run in one VM per worker.

mod context;
mod host_functions;
mod mentions;
mod numbers;
mod order;
mod outbound;
mod question;
mod running;
mod script;
mod shared;
mod shared_call;
mod shown;
mod spec;
mod stage;
mod stats;
mod stats_call;
mod tls_facts;
mod vm;
mod worker;

pub use script::{LuaLimits, LuaScript, LuaSource};
pub use shared::SharedLimits;
pub use spec::{LuaSpec, SpecPart};
