//! References of routes to Services, and their resolution.

use std::collections::HashSet;

use eddy_model::LinkProtocol;
use eddy_spec::problem::ProblemReport;
use eddy_spec::value::ObjectName;

use super::backend_tls::BackendTls;
use super::grant::Grants;
use super::ref_fault::RefFault;
use super::route::GatewayRoute;
use super::route_part::BackendRef;
use crate::kubernetes::{Backend, Manifests, PortOrName, Unresolved};

/// Resolver of the references of routes.
#[derive(Debug)]
pub(super) struct References<'m, 'o, 't> {
    /// All objects.
    pub(super) manifests: &'m Manifests<'o, 't>,
    /// Permissions to refer to other namespaces.
    pub(super) grants: &'m Grants,
    /// TLS settings of Services.
    pub(super) tls: &'m BackendTls,
    /// Ports of Services that receive gRPC calls: those that GRPCRoutes name.
    pub(super) calls: HashSet<(&'m ObjectName, u16)>,
}

impl References<'_, '_, '_> {
    /// Returns the references of a route that cannot be resolved, wherever it is attached; each is reported.
    pub(super) fn faults(&self, route: &GatewayRoute, report: &mut ProblemReport) -> Vec<RefFault> {
        let mut faults: Vec<RefFault> = Vec::new();
        for backend in route.backends() {
            let Err(fault) = self.resolve(route, backend) else { continue };
            if !faults.contains(&fault) {
                report
                    .warning(backend.place, fault.message.clone())
                    .hint("its share of the requests fails with 500");
                faults.push(fault);
            }
        }
        faults
    }

    /// Resolves a backend reference.
    ///
    /// # Errors
    /// [`RefFault`] with the reason why it cannot be resolved.
    pub(super) fn resolve(&self, route: &GatewayRoute, backend: &BackendRef) -> Result<Backend, RefFault> {
        let service = &backend.service;
        let what = format!("the Service `{}/{}`", service.namespace, service.name);
        let fail = |reason: &'static str, message: String| Err(RefFault { reason, message });
        if let Some(kind) = &backend.other_kind {
            return fail("InvalidKind", format!("eddy can send requests to Services only, not to a {kind}"));
        }
        if !self.grants.allow(route.kind.name(), &route.name.namespace, "Service", service) {
            let (kind, namespace) = (route.kind.name(), &route.name.namespace);
            let message = format!("no ReferenceGrant allows a {kind} of `{namespace}` to refer to {what}");
            return fail("RefNotPermitted", message);
        }
        let mut found = match self.manifests.backends.find(service, &PortOrName::Number(backend.port)) {
            Ok(found) => found,
            Err(Unresolved::Service) => {
                return fail("BackendNotFound", format!("there is no {}", what.replacen("the ", "", 1)));
            }
            Err(Unresolved::Port) => {
                return fail("BackendNotFound", format!("{what} has no port {}", backend.port));
            }
        };
        if found.is_external_name {
            let message = format!(
                "{what} is an `ExternalName`, which is not supported here, as the Gateway API advises against it"
            );
            return fail("UnsupportedValue", message);
        }
        match self.tls.of(service, found.port_name.as_deref()) {
            Some(Ok(tls)) => found.cluster.tls = Some(tls.clone()),
            // Requests that need TLS must not be sent in cleartext.
            Some(Err(fault)) => return Err(fault.clone()),
            None => {}
        }
        match found.app_protocol.as_deref().map(|protocol| (protocol, AppProtocol::of(protocol))) {
            None | Some((_, AppProtocol::Plain)) => {}
            Some((_, AppProtocol::OverTls)) if found.cluster.tls.is_some() => {}
            Some((protocol, AppProtocol::OverTls)) => {
                let message = format!(
                    "{what} uses `{protocol}`, and no BackendTLSPolicy configures how to verify its certificate"
                );
                return fail("UnsupportedProtocol", message);
            }
            Some((protocol, AppProtocol::Other)) => {
                let message = format!("{what} uses `{protocol}`, which eddy does not support");
                return fail("UnsupportedProtocol", message);
            }
        }
        if self.calls.contains(&(service, backend.port)) {
            // There is no gRPC over HTTP/1.
            found.cluster.protocol = LinkProtocol::Http2;
        }
        Ok(found)
    }
}

/// Meaning of a Service's `appProtocol` for eddy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AppProtocol {
    /// HTTP, over TLS when a policy says so.
    Plain,
    /// HTTP over TLS only.
    OverTls,
    /// Protocol that eddy does not support.
    Other,
}

impl AppProtocol {
    /// Returns the meaning of a protocol name; IANA's names are case-insensitive (RFC 6335 §5.1).
    fn of(protocol: &str) -> Self {
        match &*protocol.to_ascii_lowercase() {
            "http" | "kubernetes.io/h2c" | "kubernetes.io/ws" | "ws" | "tcp" => Self::Plain,
            "https" | "kubernetes.io/wss" | "wss" => Self::OverTls,
            _ => Self::Other,
        }
    }
}
