//! WebAssembly engine, its settings and its deadline clock.

mod machine;
mod settings;
mod ticker;

pub(crate) use machine::TABLES_MAX;
pub use machine::{Engine, EngineError};
pub use settings::{Allocation, EngineSettings};
pub use ticker::Ticker;
