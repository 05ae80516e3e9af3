//! Field programs: extraction, checks and edits of a message in one walk.

mod build;
mod compile;
mod edit;
mod engine;
mod error;
mod fast_path;
mod frame;
mod node;
mod path;
mod rule;
mod store;
mod take;
mod tree;
mod value;
mod walk;

pub use build::ProgramBuilder;
pub use edit::{Mask, MessageEdit};
pub use error::ProgramError;
pub use node::{ValueSlot, WalkProgram};
pub use rule::RuleTest;
pub use value::{FieldValue, ValueSpan, Values};
pub use walk::MessageWalk;
