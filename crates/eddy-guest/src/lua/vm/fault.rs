//! Failures of entries into a VM.

use std::time::Duration;

use eddy_filter::FilterLimit;

use crate::failure::{GuestFailure, size_text};

/// Failure of an entry, or of creating a VM.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::lua) enum VmFault {
    /// The entry used more CPU time than allowed.
    #[error("it used more CPU time than `lua.cpu` allows ({0:?})")]
    Cpu(Duration),
    /// The VM's memory is used up.
    #[error("it needs more memory than `lua.memory` allows ({}, {} of it for one value)", size_text(*all), size_text(*one))]
    Memory {
        /// Memory limit of the VM in bytes.
        all: u64,
        /// Maximum size of one value in bytes.
        one: u64,
    },
    /// The script raised an error, or is invalid.
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
        Self { limit, is_of_start: false, why: fault.to_string() }
    }
}
