//! Virtual machines for scripts of others: bounded in time and memory, without a way out.

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
pub(super) use limits::{Allowed, VmLimits};
pub(super) use machine::Vm;
