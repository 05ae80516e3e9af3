//! HTTP filters in shared libraries for Envoy's dynamic module ABI, without changes.
//!
//! A [`DynamicModule`] is a library. `load.rs` opens it and finds its hooks, `library.rs` creates filters, `enter.rs`
//! calls hooks in the phases of an exchange, and `events.rs` for everything else. `callbacks/` has the functions of the
//! host that a module calls: the program exports them, and the dynamic loader resolves them when it opens a module.
//! `stream.rs` has the state that they read and change.

mod abi;
mod arena;
mod call;
mod callbacks;
mod enter;
mod events;
mod hooks;
mod host;
mod instance;
mod library;
mod load;
mod metrics;
mod queue;
mod registry;
mod scheduler;
mod shared;
mod stream;
mod streamed_reply;

pub use library::DynamicModule;
pub use load::SymbolScope;
pub use registry::needs_new_process;
