//! JSON both ways, driven by the tables of a schema.

mod keys;
mod options;
mod read;
mod text;
mod write;

pub use options::{Duplicates, EnumForm, FromJsonOptions, Names, ToJsonOptions, Unknown};
pub use read::FromJson;
pub use write::ToJson;
