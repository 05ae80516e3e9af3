//! JSON conversion in both directions, driven by the tables of a schema.

mod keys;
mod options;
mod read;
mod text;
mod write;

pub use options::{Duplicates, EnumForm, FromJsonOptions, JsonFieldNaming, Required, ToJsonOptions, Unknown};
pub use read::FromJson;
pub use text::{decode_base64, write_base64};
pub use write::ToJson;

pub(crate) use text::write_text;
