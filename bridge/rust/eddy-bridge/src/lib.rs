//! Calls between Rust and Go in one process, from one declaration.
//!
//! A trait declares the functions. With [`go`], Go implements the trait and Rust calls it; with [`rust`], Rust
//! implements it and Go calls it. The attribute generates the Rust side in place; `eddy-bridge generate` writes the
//! Go side.
//!
//! ```
//! /// An order, read where the caller has it.
//! #[derive(eddy_bridge::Record)]
//! pub struct Order<'a> {
//!     /// What is ordered.
//!     pub article: &'a str,
//!     /// How many of it.
//!     pub count: u32,
//! }
//!
//! /// Prices, which a Go library knows.
//! #[eddy_bridge::go]
//! pub trait Prices {
//!     /// What an order costs, in cents, or why it has no price.
//!     fn price(&self, order: &Order<'_>) -> Result<u64, String>;
//! }
//!
//! fn total(go: &eddy_bridge::Go) -> Result<u64, Box<dyn std::error::Error>> {
//!     let prices = Prices::bind(go)?;
//!     Ok(prices.price(&Order { article: "apple", count: 3 })?)
//! }
//! ```
//!
//! See `docs/guide/bridge.md` for the full description.

mod bind;
mod block;
mod call;
mod caught;
mod executor;
mod fault;
mod go;
mod message;
mod method;
mod offer;
mod promise;
mod served;
mod tasks;
mod thread;
mod waited;
mod wire;
mod writer;

pub use self::bind::BindError;
pub use self::call::{BoundService, ReplyFuture, ServiceTransport, Started};
pub use self::executor::{CallTask, Executor, ExecutorIsSet, Threads, set_executor, spawn};
pub use self::fault::{BridgeError, BridgeErrorKind, MethodError};
pub use self::go::{Go, OpenError};
pub use self::message::{BridgeMessage, Malformed};
pub use self::method::{AsyncMethod, ServiceMethod, reply};
pub use self::offer::{bind_for_go, offer};
pub use self::served::{ServiceBuilder, ServiceImplementation};
pub use self::wire::{BridgeRead, BridgeWrite, Scalar, Wire};
pub use self::writer::MessageWriter;
pub use eddy_bridge_macros::{Record, go, rust};
pub use eddy_bridge_shape::{shape_of_field, shape_of_method, shape_of_name};
