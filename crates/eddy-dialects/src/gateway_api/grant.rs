//! ReferenceGrants: permissions to refer to objects of another namespace.

use eddy_ids::Shared;
use eddy_spec::problem::ProblemReport;
use eddy_spec::value::ObjectName;

use super::spec::ReferenceGrantSpec;
use crate::kubernetes::{GATEWAY_API, Manifests};

/// All grants.
#[derive(Debug, Default)]
pub(super) struct Grants {
    list: Vec<Grant>,
}

/// Permission for objects of a kind and namespace to refer to objects of another kind and namespace.
#[derive(Debug)]
struct Grant {
    kind: Shared<str>,
    from: Shared<str>,
    to_kind: Shared<str>,
    to: Shared<str>,
    /// Single object that may be referred to; `None` for all in the namespace.
    name: Option<Shared<str>>,
}

impl Grants {
    /// Reads the ReferenceGrants; problems go to `report`.
    pub(super) fn read(manifests: &Manifests<'_, '_>, report: &mut ProblemReport) -> Self {
        let mut grants = Self::default();
        for object in manifests.objects.of(GATEWAY_API, "ReferenceGrant") {
            let Some(spec) = object.needed_part::<ReferenceGrantSpec>("spec", report) else { continue };
            let from = spec.value.from.into_iter().flat_map(|from| from.value);
            let from: Vec<(Shared<str>, Shared<str>)> = from
                .filter_map(|from| {
                    let is_ours = &*from.value.group?.value.0 == GATEWAY_API;
                    let (kind, namespace) = (from.value.kind?.value.0, from.value.namespace?.value.0);
                    is_ours.then_some((kind, namespace))
                })
                .collect();
            for to in spec.value.to.into_iter().flat_map(|to| to.value) {
                // Services and Secrets belong to the core API, whose group is empty.
                let is_core = to.value.group.is_some_and(|group| group.value.0.is_empty());
                let Some(to_kind) = to.value.kind.filter(|_| is_core) else { continue };
                let name = to.value.name.map(|name| name.value.0).filter(|name| !name.is_empty());
                for (kind, namespace) in &from {
                    grants.list.push(Grant {
                        kind: Shared::clone(kind),
                        from: Shared::clone(namespace),
                        to_kind: Shared::clone(&to_kind.value.0),
                        to: object.metadata.namespace.clone(),
                        name: name.clone(),
                    });
                }
            }
        }
        grants
    }

    /// Whether an object of this kind and namespace may refer to an object of the core API.
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
