//! Faults of references between objects.

use eddy_spec::StatusCondition;

/// Reference that cannot be resolved: a reason of the API and a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RefFault {
    /// Reason, as the API names it.
    pub(super) reason: &'static str,
    /// Explanation, for users.
    pub(super) message: String,
}

/// Returns the condition of an object whose references are resolved, except for one with this fault.
pub(super) fn resolved_refs(fault: Option<&RefFault>) -> StatusCondition {
    match fault {
        Some(fault) => StatusCondition::fails("ResolvedRefs", fault.reason, fault.message.clone()),
        None => StatusCondition::holds("ResolvedRefs"),
    }
}
