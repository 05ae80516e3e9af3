//! Calls between two processes through shared memory.
//!
//! A [`ProcessLink`] connects two processes: each can call the other with a method number and some bytes, any number
//! of calls concurrently, answered in any order. The data is in two rings of shared memory; a Unix socket beside them
//! wakes a sleeping process and reports at once when the other one dies.
//!
//! The other process is not trusted. Every number that it writes is read once and checked, every byte is copied
//! before it is used, and a violation ends the link with a [`LinkEndReason`]. Whatever the other process does, a call
//! returns by its deadline.
//!
//! ```no_run
//! use std::time::Duration;
//! use eddy_bridge_ring::{Incoming, LinkLimits, LinkListener, NoCalls, connect};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // One process answers ...
//! let listener = LinkListener::bind("/run/me/echo.sock", LinkLimits::default())?;
//! let link = listener.accept(|call: Incoming| {
//!     let bytes = call.bytes().to_vec();
//!     call.answer(bytes);
//! })?;
//! // ... and another one asks.
//! let link = connect("/run/me/echo.sock", LinkLimits::default(), NoCalls)?;
//! assert_eq!(link.call(1, b"hello", Duration::from_secs(1))?, b"hello");
//! # Ok(()) }
//! ```

mod assembler;
mod calls;
mod fault;
mod frame;
mod handler;
mod hello;
mod inbound;
mod incoming;
mod limits;
mod link;
mod memory;
mod outbox;
mod reader;
mod redial;
mod ring;
mod shared;
mod slot;
mod socket;
mod workers;

pub use fault::{CallError, CallFailure, LinkEndReason, LinkError, Misconduct};
pub use handler::{CallHandler, NoCalls};
pub use incoming::{Cancellation, Incoming};
pub use limits::LinkLimits;
pub use link::{PendingCall, ProcessLink};
pub use redial::Redial;
pub use socket::{LinkListener, accept_stream, connect, connect_stream};
pub use workers::Workers;

#[cfg(test)]
mod tests;
