//! Writers of heads: towards the upstream, towards the client, and local replies.

mod forwarded;
mod line;
mod local;
mod request;
mod response;

pub use forwarded::{ForwardedClient, ForwardedPolicy};
pub use local::{GrpcReply, LocalReply, write_local_head};
pub use request::{RequestId, RequestWrite, write_request_head};
pub use response::{CONTINUE, ResponseWrite, Switched, write_interim_head, write_response_head};

#[cfg(test)]
mod tests;
