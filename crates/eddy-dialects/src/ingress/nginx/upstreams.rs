//! Upstreams: the Service ports that Ingresses name, and canaries among them.

use std::collections::BTreeMap;

use eddy_spec::problem::SourceSpan;
use eddy_spec::read::Spanned;

use super::settings::{Canary, IngressAnnotations};
use crate::ingress::model::{Backend, Ingress};
use crate::kubernetes::PortOrName;

/// Upstreams by name.
pub(super) type Upstreams = BTreeMap<String, IngressUpstream>;

/// Upstream for a port of a Service.
#[derive(Clone, Debug)]
pub(super) struct IngressUpstream {
    /// Endpoints, as NGINX writes them.
    pub(super) endpoints: Vec<String>,
    /// Which requests it receives in place of another upstream, if it is a canary; then no location points to it.
    pub(super) canary: Option<Canary>,
    /// Canaries of this upstream; only the first is used.
    pub(super) alternatives: Vec<String>,
    pub(super) is_least_loaded: bool,
    /// Hash key that selects an endpoint; takes precedence over other balancing.
    pub(super) hash: Option<Spanned<String>>,
    pub(super) place: SourceSpan,
}

/// Returns the endpoints of a Service port, as NGINX writes them.
pub(super) type Resolve<'r> = &'r mut dyn FnMut(&ServicePortQuery<'_>) -> Vec<String>;

/// Query for the endpoints of a Service port.
pub(crate) struct ServicePortQuery<'w> {
    pub(crate) namespace: &'w str,
    pub(crate) service: &'w Spanned<String>,
    /// Port of the Service; `None` for the first.
    pub(crate) port: Option<&'w PortOrName>,
}

/// Returns the upstream name of a Service port.
pub(super) fn name_of(namespace: &str, service: &str, port: &PortOrName) -> String {
    match port {
        PortOrName::Number(port) => format!("{namespace}-{service}-{port}"),
        PortOrName::Name(port) => format!("{namespace}-{service}-{port}"),
    }
}

/// Returns the upstream name of a backend, or `None` when it is not a Service.
pub(super) fn name_of_backend(namespace: &str, backend: &Backend) -> Option<String> {
    match backend {
        Backend::Service { name, port } => Some(name_of(namespace, &name.value, port)),
        Backend::Resource(_) => None,
    }
}

/// Collects the upstreams of all Ingresses; the first Ingress that names one defines its settings.
pub(super) fn gather(ingresses: &[(&Ingress, IngressAnnotations)], resolve: Resolve<'_>) -> Upstreams {
    let mut upstreams = Upstreams::new();
    for (ingress, settings) in ingresses {
        // A default backend overrides earlier settings for the same port.
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
