//! A fake host for filter tests: loads filters, sends exchanges through chains of them and returns the results.
//!
//! It calls filters in the same way as the gateway, through the functions that a library exports, and applies their
//! verdicts and edits. It has no sockets, no routes and no clock: an exchange runs on the thread of the test, and a
//! pause is waited for with a deadline.
//!
//! ```
//! use eddy_sdk::prelude::*;
//! use eddy_sdk::test::{Chain, Library, Request, Response};
//!
//! struct Mark;
//!
//! impl Filter for Mark {
//!     type Config = Option<String>;
//!     type State = ();
//!     const INTEREST: Interest = Interest::of(&[Phase::RequestHead]);
//!
//!     fn new(_: Option<String>, _: &Context) -> Result<Self, String> {
//!         Ok(Self)
//!     }
//!
//!     fn request_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
//!         x.set("x-mark", "seen")?;
//!         Ok(Verdict::Continue)
//!     }
//! }
//!
//! eddy_sdk::filters! { "mark" => Mark }
//!
//! # fn main() {
//! let library = Library::of::<Filters>();
//! let mark = library.filter("mark", "null").unwrap();
//! let outcome = Chain::new().then(&mark).send(Request::get("/"), |_| Response::new(200));
//! assert_eq!(outcome.sent().get_field("x-mark"), Some("seen"));
//! # }
//! ```

mod apply;
mod chain;
mod crossing;
mod fake;
mod library;
mod message;
mod outcome;

pub use chain::Chain;
pub use crossing::{Crossed, Entered, ExchangeFacts, Note, TestLibraryCall, Written};
pub use fake::{SentRequest, Turns, answer, counted, logged, sent};
pub use library::{Configured, Library, RuleConfig};
pub use message::{Request, Response, TestFields};
pub use outcome::ChainOutcome;
