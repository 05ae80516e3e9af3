//! Message heads: end detection, parsing and body framing.

mod authority;
mod edit;
mod fault;
mod framing;
mod limits;
mod request;
mod response;
mod scanner;
mod target;

pub use edit::{FieldsEditor, HEAD_BYTES_EDITED_MAX, check_field};
pub use fault::HeadFault;
pub use framing::{RequestBody, ResponseBody};
pub use limits::HeadLimits;
pub use request::RequestHead;
pub(crate) use request::Strictness;
pub use response::{ResponseContext, ResponseHead};
pub use scanner::HeadScanner;
pub use target::TargetForm;

#[cfg(test)]
mod tests;
