//! Embeddable host for proxy-wasm modules.
//!
//! An [`Engine`] compiles a [`Module`]. Linked with the functions of a [`Host`], the module is an [`Image`], from which
//! any number of [`Vm`]s are created, each with its own memory. A VM has contexts: one for each plugin that it was
//! configured with and one for each stream of a plugin. The program calls the VM on events of a stream
//! ([`Vm::on_request_headers`] and the like); during such a call the module calls the program through its [`Host`].
//!
//! ```
//! use proxy_wasm_host::abi::{Action, HostResult, LogLevel, MapType, Status};
//! use proxy_wasm_host::{
//!     Engine, EngineSettings, Host, Image, WasmVmLimits, Module, Plugin, Rest, Sandbox, CallerScope, UnknownImports,
//! };
//!
//! /// One request, as the module sees it.
//! #[derive(Default)]
//! struct Exchange {
//!     fields: Vec<(Vec<u8>, Vec<u8>)>,
//! }
//!
//! impl Host for Exchange {
//!     fn log(&mut self, _: CallerScope, level: LogLevel, message: &[u8]) {
//!         println!("{level:?}: {}", String::from_utf8_lossy(message));
//!     }
//!
//!     fn map_visit(&mut self, _: CallerScope, map: MapType, visit: &mut dyn FnMut(&[u8], &[u8])) -> HostResult {
//!         if map != MapType::HttpRequestHeaders {
//!             return Err(Status::NotFound);
//!         }
//!         self.fields.iter().for_each(|(key, value)| visit(key, value));
//!         Ok(())
//!     }
//!
//!     fn map_add(&mut self, _: CallerScope, _: MapType, key: &[u8], value: &[u8]) -> HostResult {
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
//! let image = Image::link(&module, WasmVmLimits::default(), Sandbox::default())?;
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
//! # Guarantees
//!
//! * A module cannot harm the host or other modules: memory, tables, time, stack, contexts and printed output are
//!   limited ([`EngineSettings`], [`WasmVmLimits`]); it has no files, sockets or environment ([`Sandbox`]). A violation
//!   is a [`ModuleFault`], after which its VM can no longer be used and refuses every call.
//! * Pointers and lengths from a module are checked before use: a pointer beyond its memory is a status, not a fault.
//! * No callback is entered from within another. While the module's allocator runs during a host call, the module can
//!   only print.
//! * The host is called on behalf of a context that exists ([`CallerScope`]).
//! * Results of the host are copied once, into the module's memory; arguments from the module are borrowed in place.
//! * A context whose module asked to delay its end is deleted automatically once the module reports that it is done.
//!
//! # Differences between modules
//!
//! Modules for 0.1.0, 0.2.0, 0.2.1 and 0.2.100 (of Higress' SDKs) are supported, with the imports of older versions. For
//! 0.1.0 modules, a missing header has an empty value. The C++ SDK returns more actions than "continue" and "pause";
//! every action that stops in some way is treated as a pause. Missing callbacks cost nothing and mean "continue".

#![forbid(unsafe_code)]

mod calls;
mod fault;
mod host;
mod ids;
mod image;
mod limits;
mod module;
mod shared;
mod vm;

pub mod abi;

pub use fault::{ModuleFault, ModuleFaultKind, ModuleResult};
pub use host::{
    CallStatus, CallerScope, GrpcCall, GrpcStream, Host, HttpCall, LocalResponse, Output, PropertyPath, Rest,
    SharedValue,
};
pub use ids::{CallId, ContextId, MetricId, QueueId};
pub use image::Image;
pub use limits::WasmVmLimits;
pub use module::{Module, ModuleError, UnknownImports};
pub use shared::{QueueListener, SharedLimits, SharedServices, SharedView};
pub use vm::{Plugin, PluginStartError, StartError, Vm};
pub use wasm_sandbox::{
    Allocation, Engine, EngineError, EngineSettings, Sandbox, SystemClock, Ticker, WasiClock,
};
