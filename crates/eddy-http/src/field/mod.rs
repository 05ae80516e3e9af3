//! Fields of a head or trailer section: names, positions, views, parser.

mod id;
mod line;
mod list;
mod traits;

pub use id::FieldId;
pub(crate) use id::is_alias_of;
pub(crate) use line::{LineFault, SeenFieldIds, is_line_end, parse_lines};
pub use list::{Field, FieldRef, Fields};
pub(crate) use traits::Traits;

#[cfg(test)]
mod tests;
