//! Entry point for Ingresses: adds them to a configuration.

use eddy_check::{ConfigDialect, Draft};
use eddy_config::{CertificateFiles, ListenerTlsConfig};
use eddy_model::{EndpointAddress, EndpointConfig};
use eddy_spec::problem::ProblemReport;
use eddy_spec::value::ObjectName;

use super::class::{Classes, Flavour};
use super::model::{Addresses, Backend, Ingress};
use super::nginx::{ServicePortQuery, lower};
use super::plain::{add_plain, note_unresolved};
use super::read::read_ingress;
use super::tls::certificates;
use crate::kubernetes::{Backends, Manifests, Unresolved};
use crate::nginx::{NginxOutput, read_generated};

/// Ingresses, also those with the annotations of ingress-nginx.
pub(crate) struct Ingresses;

impl ConfigDialect<Manifests<'_, '_>> for Ingresses {
    fn lower(&self, manifests: &Manifests<'_, '_>, draft: &mut Draft<'_>, report: &mut ProblemReport) {
        let Manifests { objects, backends, secrets, settings } = manifests;
        let classes = Classes::read(objects, report);
        let (mut plain, mut nginx) = (Vec::new(), Vec::new());
        for object in objects.of("networking.k8s.io", "Ingress") {
            let (ingress, class) = read_ingress(object, report);
            note_unserved(&ingress, report);
            match classes.controller_flavour(&ingress, class.as_ref()) {
                Flavour::Plain => plain.push(ingress),
                Flavour::Nginx => nginx.push(ingress),
            }
        }
        let addresses = |certificates: Vec<CertificateFiles>| {
            let has_tls = !certificates.is_empty();
            Addresses {
                plain: settings.addresses(None, &[], PORT),
                secure: if has_tls { settings.addresses(None, &[], TLS_PORT) } else { Vec::new() },
                certificates,
            }
        };
        if !plain.is_empty() {
            // Of two rules for the same host, path and type, that of the older Ingress wins.
            plain.sort_by(|a, b| (a.created, &a.namespace, &a.name).cmp(&(b.created, &b.namespace, &b.name)));
            let addresses = addresses(certificates(&plain, secrets, draft.sources, report));
            add_plain(&plain, &addresses, manifests, draft, report);
        }
        if !nginx.is_empty() {
            let addresses = addresses(certificates(&nginx, secrets, draft.sources, report));
            add_nginx(&nginx, &addresses, backends, draft, report);
        }
    }
}

/// Reports the parts of an Ingress that eddy does not support in any flavour.
fn note_unserved(ingress: &Ingress, report: &mut ProblemReport) {
    let paths = ingress.rules.iter().filter_map(|rule| rule.paths.as_ref()).flatten();
    for backend in paths.map(|path| &path.backend).chain(&ingress.default_backend) {
        if let Backend::Resource(place) = backend {
            report
                .objection(*place, "a `resource` backend is not supported: eddy serves only Services")
                .hint("write a `service`, or give `--lenient` to respond with 503 there");
        }
    }
}

fn add_nginx(
    ingresses: &[Ingress],
    addresses: &Addresses,
    backends: &Backends,
    draft: &mut Draft<'_>,
    report: &mut ProblemReport,
) {
    let mut unresolved = Vec::new();
    let mut resolve = |wanted: &ServicePortQuery<'_>| match endpoints(wanted, backends) {
        Ok(endpoints) => endpoints,
        Err(why) => {
            unresolved.push((wanted.service.clone(), why));
            Vec::new()
        }
    };
    let secure = &addresses.secure;
    let listens: Vec<String> = addresses.plain.iter().chain(secure).map(ToString::to_string).collect();
    let (directives, targets) = lower(ingresses, &listens, &addresses.certificates, &mut resolve, report);
    for (service, why) in unresolved {
        note_unresolved(&service, why, report);
    }
    if report.has_errors() {
        return;
    }
    let place = ingresses.first().map(|ingress| ingress.place).unwrap_or_default();
    let (clusters, sites) = (&mut draft.clusters, draft.sites.len());
    let output = NginxOutput { clusters, sites, table: None, place };
    if let Some(mut made) = read_generated(&directives, targets, output, draft.sources, report) {
        for listener in made.listeners.iter_mut().filter(|listener| secure.contains(&listener.address)) {
            listener.tls = Some(ListenerTlsConfig::new(addresses.certificates.clone()));
        }
        draft.put_sites(made.sites, made.listeners, place, report);
    }
}

/// Returns the endpoints of a port, as NGINX writes them.
fn endpoints(wanted: &ServicePortQuery<'_>, backends: &Backends) -> Result<Vec<String>, Unresolved> {
    let name = ObjectName { namespace: wanted.namespace.into(), name: wanted.service.value.as_str().into() };
    let backend = match wanted.port {
        Some(port) => backends.find(&name, port)?,
        None => backends.find_first(&name)?,
    };
    let written = |endpoint: &EndpointConfig| match &endpoint.address {
        EndpointAddress::Socket(address) => address.to_string(),
        EndpointAddress::Name { host, port } => format!("{host}:{port}"),
        EndpointAddress::Unix(path) => format!("unix:{}", path.display()),
    };
    Ok(backend.cluster.endpoints.iter().map(written).collect())
}

/// Port of Ingresses without TLS.
const PORT: u16 = 80;
/// Port of Ingresses with TLS.
const TLS_PORT: u16 = 443;
