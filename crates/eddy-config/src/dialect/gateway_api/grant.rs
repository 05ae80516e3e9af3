//! ReferenceGrants: which objects may refer to those of another namespace.

use std::sync::Arc;

use super::GROUP;
use super::spec::ReferenceGrantSpec;
use crate::dialect::kubernetes::Manifests;
use crate::problem::Report;
use crate::value::ObjectName;

/// All that is granted.
#[derive(Debug, Default)]
pub(super) struct Grants {
    list: Vec<Grant>,
}

/// Routes of a kind and namespace may refer to Services of another.
#[derive(Debug)]
struct Grant {
    kind: Arc<str>,
    from: Arc<str>,
    to: Arc<str>,
    /// The one Service; all of the namespace without one.
    name: Option<Arc<str>>,
}

impl Grants {
    /// Reads the ReferenceGrants; what is wrong with them goes to `report`.
    pub(super) fn read(manifests: &Manifests<'_, '_>, report: &mut Report) -> Self {
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
                let is_service = to.value.group.is_some_and(|group| group.value.0.is_empty())
                    && to.value.kind.is_some_and(|kind| &*kind.value.0 == "Service");
                let name = to.value.name.map(|name| name.value.0).filter(|name| !name.is_empty());
                for (kind, namespace) in from.iter().filter(|_| is_service) {
                    grants.list.push(Grant {
                        kind: Arc::clone(kind),
                        from: Arc::clone(namespace),
                        to: object.metadata.namespace.clone(),
                        name: name.clone(),
                    });
                }
            }
        }
        grants
    }

    /// Whether a route of this kind and namespace may refer to a Service.
    pub(super) fn allow(&self, kind: &str, from: &str, service: &ObjectName) -> bool {
        *from == *service.namespace
            || self.list.iter().any(|grant| {
                *grant.kind == *kind
                    && *grant.from == *from
                    && grant.to == service.namespace
                    && grant.name.as_ref().is_none_or(|name| *name == service.name)
            })
    }
}
