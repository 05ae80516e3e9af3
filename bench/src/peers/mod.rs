//! The targets: location of their programs, configuration, start, reload and stop.

mod find;
mod identity;
mod instance;
mod kind;
mod libraries;
mod ports;
mod process;
mod setup;
mod template;

pub use find::{BenchTarget, Peers, version};
pub use identity::{NAME, TlsIdentity};
pub use instance::{BenchEnvironment, TargetInstance};
pub use kind::GatewayKind;
pub use libraries::Libraries;
pub use ports::Ports;
pub use process::{ProcessTree, set_parent_death_signal, stop_all};
pub use setup::{BenchListener, Setup};
