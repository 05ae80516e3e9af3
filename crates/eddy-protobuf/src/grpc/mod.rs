//! Calls of gRPC, made of requests of HTTP with JSON: their messages, their answers, how they end.

mod request;
mod response;
mod status;

pub use request::CallRequest;
pub use response::{CallResponse, StreamForm};
pub use status::RpcStatus;
