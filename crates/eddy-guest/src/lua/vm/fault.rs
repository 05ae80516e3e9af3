//! Why an entry into a virtual machine ended without its result.

use std::time::Duration;

use eddy_filter::FilterLimit;

use crate::failure::{GuestFailure, size_text};

/// Why an entry ended, or a machine could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::lua) enum VmFault {
    /// The entry used more CPU time than it may.
    #[error("it used more CPU time than `lua.cpu` allows ({0:?})")]
    Cpu(Duration),
    /// The machine's memory is used up.
    #[error("it needs more memory than `lua.memory` allows ({}, {} of it for one value)", size_text(*all), size_text(*one))]
    Memory {
        /// Bytes of the machine.
        all: u64,
        /// Most bytes of one value.
        one: u64,
    },
    /// The script raised an error, or is none.
    #[error("{0}")]
    Script(String),
}

impl From<VmFault> for GuestFailure {
    fn from(fault: VmFault) -> Self {
        let limit = match fault {
            VmFault::Cpu(_) => Some(FilterLimit::Cpu),
            VmFault::Memory { .. } => Some(FilterLimit::Memory),
            VmFault::Script(_) => None,
        };
        Self { limit, why: fault.to_string() }
    }
}
