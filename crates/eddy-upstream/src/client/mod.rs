//! The upstream client: one request and its response, over any channel to an endpoint.
//!
//! A [`Conversation`] sends the request and reads the response within its limits, for health checks as for a worker's
//! own requests. The channel differs: a [`DedicatedConnection`] carries this request only and belongs to any thread,
//! while a worker's channel is a link of its pools, which stay on its thread.

mod conversation;
mod dedicated;

pub use conversation::{
    Conversation, ConversationFault, INTERIM_MAX, RequestChannel, ResponseProgress, WholeRequest,
    WholeResponse,
};
pub use dedicated::DedicatedConnection;
