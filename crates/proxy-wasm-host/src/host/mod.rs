//! The embedder's side.

mod arguments;
mod embedder;

pub use arguments::{
    CallStatus, CallerScope, GrpcCall, GrpcStream, HttpCall, LocalResponse, PropertyPath, Rest, SharedValue,
};
pub use embedder::Host;
pub use wasm_sandbox::Output;
