//! Lua VMs for untrusted scripts: bounded in time and memory, and sandboxed.

mod account;
mod alarm;
mod budget;
mod depth;
mod fault;
mod library;
mod limits;
mod machine;
mod pattern;

#[cfg(test)]
mod tests;

use account::Account;
pub(super) use fault::VmFault;
pub(super) use limits::{Allowed, PATTERN_STEPS, VmLimits};
pub(super) use machine::Vm;
