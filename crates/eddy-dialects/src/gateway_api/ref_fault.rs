//! Faults of references between objects.

/// Reference that cannot be resolved: a reason of the API and a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RefFault {
    /// Reason, as the API names it.
    pub(super) reason: &'static str,
    /// Explanation, for users.
    pub(super) message: String,
}
