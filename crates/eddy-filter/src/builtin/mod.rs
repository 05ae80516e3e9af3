//! The filters that eddy brings along, on the same contract as everybody's.

mod library;

pub use library::{Answer, Builtin, BuiltinLibrary};
