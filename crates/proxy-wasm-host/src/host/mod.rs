//! Embedder's side of the ABI: the [`Host`] trait and its argument types.

mod arguments;
mod embedder;

pub use arguments::{
    CallStatus, CallerScope, GrpcCall, GrpcStream, HttpCall, LocalResponse, PropertyPath, Rest, SharedValue,
};
pub use embedder::Host;
pub use wasm_sandbox::Output;
