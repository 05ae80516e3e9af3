//! Filters in Wasm, by the contract proxy-wasm.
//!
//! A [`WasmLibrary`] is a module. Each filter of the configuration is a plugin of it, each exchange a stream of that. A
//! machine belongs to a worker ([`Isolation::Worker`]) or to an exchange ([`Isolation::Stream`]); when it fails, the exchanges in it
//! fail by the filter's policy, and the next one finds another machine.
//!
//! `library.rs` is what eddy sees, `cell.rs` what one worker has, `machine.rs` a running instance. `embedding/` are the host
//! functions, `message_view/` what a module is shown of an exchange.

mod cell;
mod embedding;
mod library;
mod machine;
mod message_view;
mod open;
mod property;
mod services;
mod settings;
mod spare;
mod token;

pub use library::WasmLibrary;
pub(crate) use open::stop_all;
pub use settings::{Isolation, WasmSettings};
