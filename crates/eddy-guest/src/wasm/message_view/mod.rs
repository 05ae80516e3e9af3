//! What a module is shown of an exchange, and what it has changed so far.
//!
//! A [`MessageView`] shows a view that is lent for a callback, or a copy that was [kept](eddy_filter::KeptView) for an exchange that waits. Changes
//! go to a log, and to copies of what they change, so that the module reads what it wrote.

mod body;
mod fields;
mod overlay;
mod replay;
mod shown;
mod start;

pub(crate) use fields::MessageSection;
pub(crate) use shown::MessageView;
pub(crate) use start::scheme;
