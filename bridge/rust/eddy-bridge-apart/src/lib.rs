//! Bridge calls between two processes, over a ring, for services declared for calls within one process.
//!
//! The caller finds a service with [`RemoteProcess::bind`] and passes it to the generated caller; the called process
//! passes its implementations to [`ServiceHandler`], which is a handler of the ring. Either may be in Go: the Go
//! package `apart` uses the same protocol.
//!
//! ```text
//! method 0   finds a service: its shape (8 bytes) and its name; the answer is its number (8 bytes)
//! method 1   calls: service and method (4 bytes each), then the request; the answer is the reply
//! failures   code 16: no such service; 17: of another declaration; 32 and more: a fault of this kind, less 32
//! ```

mod answers;
mod apart;
mod words;

pub use answers::ServiceHandler;
pub use apart::{RemoteBindError, RemoteProcess};

/// Finds a service.
const BIND: u32 = 0;
/// Calls a method of a service.
const CALL: u32 = 1;
/// The service does not exist.
const ABSENT: u32 = eddy_bridge_ring::CallFailure::FIRST_OWN;
/// The service has another declaration.
const DIFFERENT: u32 = ABSENT + 1;
/// Added to the kind of a fault.
const FAULT: u32 = 32;
