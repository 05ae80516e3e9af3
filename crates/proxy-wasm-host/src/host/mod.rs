//! The embedder's side.

mod arguments;
mod embedder;

pub use arguments::{
    CallStatus, GrpcCall, GrpcStream, HttpCall, LocalResponse, PropertyPath, Rest, Scope, SharedValue,
};
pub use embedder::Host;
pub use wasm_sandbox::Output;
