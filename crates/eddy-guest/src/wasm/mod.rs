//! Wasm filters that use the proxy-wasm ABI.
//!
//! A [`WasmLibrary`] is a module. Each configured filter is a plugin of it, each exchange a stream of a plugin. A VM
//! belongs to a worker ([`Isolation::Worker`]) or to an exchange ([`Isolation::Stream`]). When it fails, its exchanges
//! fail according to the filter's failure policy, and the next exchange gets another VM.
//!
//! `library.rs` is the interface to eddy, `cell.rs` the state of one worker, `machine.rs` a VM. `embedding/` implements
//! the host functions, `crate::message_view` the view of an exchange.

mod cell;
mod embedding;
mod library;
mod machine;
mod module;
mod property;
mod settings;
mod standby_instances;
mod token;

pub use library::WasmLibrary;
pub(crate) use library::stop_all;
pub(crate) use property::of_exchange as exchange_property;
pub use settings::{Isolation, WasmSettings};
