//! View of an exchange for a module, with the module's changes.
//!
//! A [`MessageView`] shows a view lent for a callback, or a [copy](eddy_filter::KeptView) for a paused exchange.
//! Changes are written to a log, and to copies of the changed parts, so that the module reads its own changes.

mod body;
mod fields;
mod overlay;
mod pseudo;
mod replay;
mod shown;
mod start;

pub(crate) use fields::MessageSection;
pub(crate) use shown::MessageView;
