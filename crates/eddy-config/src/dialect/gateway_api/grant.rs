//! ReferenceGrants: which objects may refer to those of another namespace.

use std::sync::Arc;

use super::GROUP;
use super::spec::ReferenceGrantSpec;
use crate::dialect::kubernetes::Manifests;
use crate::problem::ProblemReport;
use crate::value::ObjectName;

/// All that is granted.
#[derive(Debug, Default)]
pub(super) struct Grants {
    list: Vec<Grant>,
}

/// Objects of a kind and namespace may refer to those of another kind in another.
#[derive(Debug)]
struct Grant {
    kind: Arc<str>,
    from: Arc<str>,
    to_kind: Arc<str>,
    to: Arc<str>,
    /// The one object; all of the namespace without one.
    name: Option<Arc<str>>,
}

impl Grants {
    /// Reads the ReferenceGrants; what is wrong with them goes to `report`.
    pub(super) fn read(manifests: &Manifests<'_, '_>, report: &mut ProblemReport) -> Self {
        let mut grants = Self::default();
        for object in manifests.objects.of(GROUP, "ReferenceGrant") {
            let Some(spec) = object.needed_part::<ReferenceGrantSpec>("spec", report) else { continue };
            let from = spec.value.from.into_iter().flat_map(|from| from.value);
            let from: Vec<(Arc<str>, Arc<str>)> = from
                .filter_map(|from| {
                    let is_ours = &*from.value.group?.value.0 == GROUP;
                    let (kind, namespace) = (from.value.kind?.value.0, from.value.namespace?.value.0);
                    is_ours.then_some((kind, namespace))
                })
                .collect();
            for to in spec.value.to.into_iter().flat_map(|to| to.value) {
                // Services and Secrets are of the core of Kubernetes, which has no group.
                let is_core = to.value.group.is_some_and(|group| group.value.0.is_empty());
                let Some(to_kind) = to.value.kind.filter(|_| is_core) else { continue };
                let name = to.value.name.map(|name| name.value.0).filter(|name| !name.is_empty());
                for (kind, namespace) in &from {
                    grants.list.push(Grant {
                        kind: Arc::clone(kind),
                        from: Arc::clone(namespace),
                        to_kind: Arc::clone(&to_kind.value.0),
                        to: object.metadata.namespace.clone(),
                        name: name.clone(),
                    });
                }
            }
        }
        grants
    }

    /// Whether an object of this kind and namespace may refer to one of the core of Kubernetes.
    pub(super) fn allow(&self, kind: &str, from: &str, to_kind: &str, to: &ObjectName) -> bool {
        *from == *to.namespace
            || self.list.iter().any(|grant| {
                *grant.kind == *kind
                    && *grant.from == *from
                    && *grant.to_kind == *to_kind
                    && grant.to == to.namespace
                    && grant.name.as_ref().is_none_or(|name| *name == to.name)
            })
    }
}
