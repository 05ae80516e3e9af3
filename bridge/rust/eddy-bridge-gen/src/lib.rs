//! Makes both sides of a bridge between Rust and Go from one declaration.
//!
//! A declaration is a file of Rust with traits under `#[eddy_bridge::go]` or `#[eddy_bridge::rust]`, and structs that
//! derive `eddy_bridge::Record`. Its Rust side is made in place by the attributes, with [`rust`]; its Go side is a file,
//! made by the command `eddy-bridge generate`, or by [`generate`] in a build script:
//!
//! ```no_run
//! // build.rs
//! eddy_bridge_gen::generate("src/prices.rs", "go/prices", None).unwrap_or_else(|error| panic!("{error}"));
//! println!("cargo::rerun-if-changed=src/prices.rs");
//! ```

#![forbid(unsafe_code)]
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "all that syn can read and that can't cross is refused alike"
)]

mod declaration;
mod generate;
mod go;
mod layout;
mod parse;
pub mod rust;
mod types;

pub use self::declaration::Callee;
pub use self::generate::{GenerateError, generate, go_text};
