//! A host of proxy-wasm modules for any Rust program.
//!
//! An [`Engine`] compiles a [`Module`]; linked with the functions of a [`Host`] it is an [`Image`], of which any number
//! of machines ([`Vm`]) are made, each with its own memory. A machine has contexts: one for each plugin that it was
//! configured with and one for each stream of those. The program calls the machine when something happens to a stream
//! ([`Vm::on_request_headers`] and the like); meanwhile the module calls the program through its [`Host`].
//!
//! ```
//! use proxy_wasm_host::abi::{Action, Answer, LogLevel, MapType, Status};
//! use proxy_wasm_host::{
//!     Engine, EngineSettings, Host, Image, Limits, Module, Plugin, Rest, Sandbox, Scope, UnknownImports,
//! };
//!
//! /// One request, as the module sees it.
//! #[derive(Default)]
//! struct Exchange {
//!     fields: Vec<(Vec<u8>, Vec<u8>)>,
//! }
//!
//! impl Host for Exchange {
//!     fn log(&mut self, _: Scope, level: LogLevel, message: &[u8]) {
//!         println!("{level:?}: {}", String::from_utf8_lossy(message));
//!     }
//!
//!     fn map_visit(&mut self, _: Scope, map: MapType, visit: &mut dyn FnMut(&[u8], &[u8])) -> Answer {
//!         if map != MapType::HttpRequestHeaders {
//!             return Err(Status::NotFound);
//!         }
//!         self.fields.iter().for_each(|(key, value)| visit(key, value));
//!         Ok(())
//!     }
//!
//!     fn map_add(&mut self, _: Scope, _: MapType, key: &[u8], value: &[u8]) -> Answer {
//!         self.fields.push((key.to_vec(), value.to_vec()));
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let code = wat::parse_str(include_str!("../examples/tag.wat"))?;
//! // Once for the program, and once for each module.
//! let engine = Engine::new(EngineSettings::default())?;
//! let _ticker = engine.ticker(std::time::Duration::from_millis(1))?;
//! let module = Module::compile(&engine, &code, UnknownImports::Refuse)?;
//! let image = Image::link(&module, Limits::default(), Sandbox::default())?;
//!
//! // Once for each thread, or for each exchange.
//! let mut vm = image.instantiate(Exchange::default())?;
//! let plugin = vm.start_plugin(&Plugin::default())?;
//!
//! // For each exchange.
//! vm.host_mut().fields = vec![(b":path".to_vec(), b"/".to_vec())];
//! let stream = vm.create_stream(plugin)?;
//! let action = vm.on_request_headers(stream, 1, Rest::End)?;
//! assert_eq!(action, Action::Continue);
//! assert_eq!(vm.host().fields[1], (b"x-tag".to_vec(), b"/".to_vec()));
//! vm.end(stream)?;
//! # Ok(())
//! # }
//! ```
//!
//! # What holds
//!
//! * A module can harm nobody but itself: memory, tables, time, stack, contexts, and what it prints are limited
//!   ([`EngineSettings`], [`Limits`]); it has no files, sockets or environment ([`Sandbox`]). What it does wrong is a
//!   [`Fault`], after which its machine is dead and says so.
//! * Numbers from a module are checked before anything is done: a pointer beyond its memory is a status, not a fault.
//! * No callback is entered from within another. A module that is asked for memory in the midst of a call of its own can
//!   only print meanwhile.
//! * The host is asked on behalf of a context that is alive ([`Scope`]).
//! * What the host gives is copied once, into the module's memory; what the module gives is lent where it lies.
//! * Contexts are finished by themselves when a module that had asked to wait says that it is done.
//!
//! # Where modules differ
//!
//! Modules for 0.1.0, 0.2.0 and 0.2.1 are taken, with the names that older ones import. Functions for 0.1.0 give an
//! empty value for a field that is missing. The kit for C++ answers with more words than "continue" and "pause"; those
//! that stop in some way are a pause. Callbacks that are missing cost nothing and mean "continue".

#![forbid(unsafe_code)]

mod calls;
mod fault;
mod host;
mod ids;
mod image;
mod module;
mod shared;
mod vm;

pub mod abi;

pub use fault::{ModuleFault, ModuleFaultKind};
pub use host::{
    CallStatus, CallerScope, GrpcCall, GrpcStream, Host, HttpCall, LocalResponse, Output, PropertyPath, Rest,
    SharedValue,
};
pub use ids::{CallId, ContextId, MetricId, QueueId};
pub use image::{Image, StartError, WasmVmLimits};
pub use module::{Module, ModuleError, UnknownImports};
pub use shared::{QueueListener, SharedLimits, SharedServices, SharedView};
pub use vm::{Plugin, PluginStartError, Vm};
pub use wasm_sandbox::{
    Allocation, Engine, EngineError, EngineSettings, Sandbox, SystemClock, Ticker, WasiClock,
};
