//! Which of two objects goes first.

use std::sync::Arc;

use crate::dialect::kubernetes::ObjectMetadata;

/// The group of the Gateway API.
pub(crate) const GROUP: &str = "gateway.networking.k8s.io";

/// What decides between objects that are alike otherwise: the older first, those without a time of creation last; then the
/// text `namespace/name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CreationOrder {
    created: i64,
    pub(super) name: Arc<str>,
}

impl CreationOrder {
    pub(super) fn of(metadata: &ObjectMetadata) -> Self {
        let created = metadata.created.unwrap_or(i64::MAX);
        Self { created, name: format!("{}/{}", metadata.namespace, metadata.name).into() }
    }

    /// The time of creation, seconds since 1970, where there is one.
    pub(super) fn created(&self) -> Option<i64> {
        (self.created != i64::MAX).then_some(self.created)
    }
}
