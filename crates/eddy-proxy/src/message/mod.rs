//! Messages on their way: bodies read, output staged and written, bytes spliced.

mod bulk;
mod duplex;
mod field_list;
mod pump;

pub(crate) use bulk::{Bulk, Moved};
pub(crate) use duplex::DuplexStream;
pub(crate) use field_list::FieldList;
pub(crate) use pump::{BodyCopy, LengthMismatch, OutputFraming, Pump};
