//! Why an entry into a virtual machine ended without its result.

/// Why an entry ended, or a machine could not be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::lua) enum VmFault {
    /// The entry used more CPU time than it may.
    #[error("it used more CPU time than it may")]
    Cpu,
    /// The machine's memory is used up.
    #[error("it used more memory than it may")]
    Memory,
    /// The script raised an error, or is none.
    #[error("{0}")]
    Script(String),
}
