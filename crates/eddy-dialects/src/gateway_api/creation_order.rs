//! Precedence of objects by age.

use eddy_ids::Shared;

use crate::kubernetes::ObjectMetadata;

/// Precedence among otherwise equal objects: the older first, those without a creation time last; then by
/// `namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CreationOrder {
    created: i64,
    pub(super) name: Shared<str>,
}

impl CreationOrder {
    pub(super) fn of(metadata: &ObjectMetadata) -> Self {
        let created = metadata.created.unwrap_or(i64::MAX);
        Self { created, name: format!("{}/{}", metadata.namespace, metadata.name).into() }
    }

    /// Returns the creation time in seconds since 1970, if there is one.
    pub(super) fn created(&self) -> Option<i64> {
        (self.created != i64::MAX).then_some(self.created)
    }
}
