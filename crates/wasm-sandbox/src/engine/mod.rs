//! The machine that compiles and runs modules, and its clock of deadlines.

mod machine;
mod settings;
mod ticker;

pub(crate) use machine::TABLES_MAX;
pub use machine::{Engine, EngineError};
pub use settings::{Allocation, EngineSettings};
pub use ticker::Ticker;
