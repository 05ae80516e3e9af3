//! Static analysis of rules: their order, and rules that can never win.

mod cover;
mod dead;
mod example;
mod fragile;
mod imply;
mod joint;
mod language;
mod ranked;
mod redundant;
mod text;

pub(crate) use ranked::survey;
pub use ranked::{RankedRule, Shadow};
pub use text::Listing;
