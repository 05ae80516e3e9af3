//! gRPC calls for HTTP requests with JSON: request messages, responses, and status.

mod request;
mod response;
mod status;

pub use request::CallRequest;
pub use response::{CallResponse, StreamForm};
pub use status::RpcStatus;
