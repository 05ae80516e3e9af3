//! The ports of Services that Ingresses name, and which of them are canaries of others.

use std::collections::BTreeMap;

use super::settings::{Canary, IngressAnnotations};
use crate::dialect::ingress::model::{Backend, Ingress};
use crate::dialect::kubernetes::PortOrName;
use crate::problem::SourceSpan;
use crate::read::Spanned;

/// The upstreams by name.
pub(super) type Upstreams = BTreeMap<String, IngressUpstream>;

/// A port of a Service.
#[derive(Clone, Debug)]
pub(super) struct IngressUpstream {
    /// Its endpoints as NGINX writes them.
    pub(super) endpoints: Vec<String>,
    /// Which requests it gets of those of another, if it is a canary; no location leads to it then.
    pub(super) canary: Option<Canary>,
    /// The canaries of this one; only the first counts.
    pub(super) alternatives: Vec<String>,
    pub(super) is_least_loaded: bool,
    /// What endpoints are chosen by, before all else.
    pub(super) hash: Option<Spanned<String>>,
    pub(super) place: SourceSpan,
}

/// Asks for the endpoints of a Service's port, as NGINX writes them.
pub(super) type Resolve<'r> = &'r mut dyn FnMut(&ServicePortQuery<'_>) -> Vec<String>;

/// What is asked of the Services.
pub(crate) struct ServicePortQuery<'w> {
    pub(crate) namespace: &'w str,
    pub(crate) service: &'w Spanned<String>,
    /// Its port; none for the first.
    pub(crate) port: Option<&'w PortOrName>,
}

/// The name of a Service's port among the upstreams.
pub(super) fn name_of(namespace: &str, service: &str, port: &PortOrName) -> String {
    match port {
        PortOrName::Number(port) => format!("{namespace}-{service}-{port}"),
        PortOrName::Name(port) => format!("{namespace}-{service}-{port}"),
    }
}

/// The name of a backend among the upstreams; none where it is no Service.
pub(super) fn name_of_backend(namespace: &str, backend: &Backend) -> Option<String> {
    match backend {
        Backend::Service { name, port } => Some(name_of(namespace, &name.value, port)),
        Backend::Resource(_) => None,
    }
}

/// The upstreams of all Ingresses; the first Ingress that names one says what holds for it.
pub(super) fn gather(ingresses: &[(&Ingress, IngressAnnotations)], resolve: Resolve<'_>) -> Upstreams {
    let mut upstreams = Upstreams::new();
    for (ingress, settings) in ingresses {
        // A default backend takes the place of what was said of the same port before.
        let own = ingress.default_backend.iter().map(|backend| (backend, true));
        let paths = ingress.rules.iter().filter_map(|rule| rule.paths.as_ref()).flatten();
        for (backend, replaces) in own.chain(paths.map(|path| (&path.backend, false))) {
            let Backend::Service { name: service, port } = backend else { continue };
            let name = name_of(&ingress.namespace, &service.value, port);
            if upstreams.contains_key(&name) && !replaces {
                continue;
            }
            let wanted = ServicePortQuery { namespace: &ingress.namespace, service, port: Some(port) };
            let endpoints = resolve(&wanted);
            let upstream = IngressUpstream {
                endpoints,
                canary: settings.canary.clone(),
                alternatives: Vec::new(),
                is_least_loaded: settings.is_least_loaded,
                hash: settings.hash.clone(),
                place: service.place,
            };
            upstreams.insert(name, upstream);
        }
    }
    upstreams
}
