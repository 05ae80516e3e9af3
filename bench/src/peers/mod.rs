//! The targets: where their programs are, how they are configured, started, reloaded and stopped.

mod find;
mod identity;
mod instance;
mod kind;
mod libraries;
mod ports;
mod process;
mod setup;
mod template;

pub use find::{Peers, Target, version};
pub use identity::{Identity, NAME};
pub use instance::{Instance, Site};
pub use kind::Kind;
pub use libraries::Libraries;
pub use ports::Ports;
pub use process::{Process, await_death_of_parent, stop_all};
pub use setup::{Listener, Setup};
