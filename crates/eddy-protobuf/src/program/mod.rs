//! Field programs: what is taken from a message, checked in it and changed in it, in one walk.

mod build;
mod compile;
mod edit;
mod engine;
mod error;
mod frame;
mod node;
mod path;
mod quickly;
mod rule;
mod store;
mod take;
mod tree;
mod value;
mod walk;

pub use build::ProgramBuilder;
pub use edit::{Edit, Mask};
pub use error::ProgramError;
pub use node::{Program, Slot};
pub use rule::RuleTest;
pub use value::{Span, Value, Values};
pub use walk::Walk;
