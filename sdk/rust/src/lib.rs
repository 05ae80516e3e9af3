//! SDK for filters of the eddy gateway, written in Rust.
//!
//! A filter is a type that implements [`Filter`]; a library is a `cdylib` crate that lists its filters with
//! [`filters!`]. eddy loads the library into its own process and calls the filters for the requests and responses of
//! a listener.
//!
//! ```
//! use eddy_sdk::prelude::*;
//!
//! struct Mark {
//!     value: String,
//! }
//!
//! #[derive(serde::Deserialize)]
//! struct Config {
//!     value: String,
//! }
//!
//! impl Filter for Mark {
//!     type Config = Config;
//!     type State = ();
//!     const INTEREST: Interest = Interest::of(&[Phase::RequestHead]);
//!
//!     fn new(config: Config, _: &Context) -> Result<Self, String> {
//!         Ok(Self { value: config.value })
//!     }
//!
//!     fn request_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
//!         x.set("x-mark", &self.value)?;
//!         Ok(Verdict::Continue)
//!     }
//! }
//!
//! eddy_sdk::filters! { "mark" => Mark }
//! ```
//!
//! The data that a filter reads is in memory of the host and valid until the hook returns, which the lifetimes
//! enforce. Its edits are recorded and applied by the host afterwards, but the filter itself, and later filters of
//! the same library, already see the message with the edits. A panic in a hook, a constructor, a `Drop` or a callback
//! becomes a fault of the filter with message and location; the gateway continues.

#[cfg(panic = "abort")]
compile_error!(
    "a filter library must be built with panic = \"unwind\": with \"abort\" a panic of a filter would end the gateway"
);

pub mod abi;
mod about;
mod blocking;
mod context;
mod crossing;
mod edit;
mod edit_log;
mod exchange;
mod export;
mod fault;
mod field;
mod filter;
mod guard;
mod head;
mod host;
mod instance;
mod library;
mod log;
mod metric;
mod outbound;
mod overlay;
mod paused;
mod phase;
mod place;
pub mod prelude;
mod reply;
mod state;
#[cfg(feature = "test")]
pub mod test;
mod verdict;
mod view;

pub use about::{About, Metadata};
pub use context::Context;
pub use edit::{Edit, EditError, OnlyThere};
pub use exchange::Exchange;
pub use export::{FilterEntry, FilterSet, open};
pub use fault::Fault;
pub use field::{FieldId, FieldName};
pub use filter::{End, Filter};
pub use head::{Field, Fields, Head};
pub use log::{Level, LogTarget};
pub use metric::{Counter, Gauge, Histogram, MetricError};
pub use outbound::{Answer, Outbound, OutboundCall, OutboundError};
pub use paused::{Paused, ResumeError};
pub use phase::{Interest, Phase, Version};
pub use place::{Place, Places};
pub use reply::Reply;
pub use verdict::{PauseToken, Verdict};
