//! ServiceEntries: hosts and their endpoints.

use std::collections::HashMap;

use eddy_model::{ClusterConfig, EndpointConfig, LinkProtocol};
use eddy_spec::problem::{ProblemReport, shown};
use eddy_spec::read::{FromScalar, Spanned};
use eddy_spec::value::EndpointAddressText;

use super::label::{LabelPair, has_labels, pairs};
use super::spec::{EntryEndpointSpec, EntryPortSpec, EntrySpec};
use crate::kubernetes::{ISTIO_NETWORKING, Object, Objects};

/// Endpoints of ServiceEntries, by host.
#[derive(Debug, Default)]
pub(super) struct ServiceEntries(HashMap<String, Vec<EntryPort>>);

/// Port of a ServiceEntry.
#[derive(Debug)]
struct EntryPort {
    number: u16,
    /// Name of its cluster.
    name: String,
    protocol: LinkProtocol,
    endpoints: Vec<(EndpointConfig, Vec<LabelPair>)>,
}

impl ServiceEntries {
    /// Whether there is a ServiceEntry for a host.
    pub(super) fn has(&self, host: &str) -> bool {
        self.0.contains_key(host)
    }

    /// Returns the port of a host that has only one.
    pub(super) fn only_port(&self, host: &str) -> Option<u16> {
        match self.0.get(host).map(Vec::as_slice) {
            Some([only]) => Some(only.number),
            Some(_) | None => None,
        }
    }

    /// Returns a cluster of the endpoints of a host and port that have these labels.
    pub(super) fn find(&self, host: &str, port: u16, labels: &[LabelPair]) -> Option<ClusterConfig> {
        let port = self.0.get(host)?.iter().find(|known| known.number == port)?;
        let own = port.endpoints.iter().filter(|(_, own)| has_labels(own, labels));
        let endpoints = own.map(|(endpoint, _)| endpoint.clone()).collect();
        Some(ClusterConfig { protocol: port.protocol, ..ClusterConfig::new(&port.name, endpoints) })
    }
}

/// Reads all ServiceEntries; of two for the same host and port, the first counts.
pub(super) fn read_entries(objects: &Objects<'_>, report: &mut ProblemReport) -> ServiceEntries {
    let mut entries = ServiceEntries::default();
    for object in objects.of(ISTIO_NETWORKING, "ServiceEntry") {
        read_entry(object, &mut entries, report);
    }
    entries
}

fn read_entry(object: &Object<'_>, entries: &mut ServiceEntries, report: &mut ProblemReport) {
    let Some(spec) = object.needed_part::<EntrySpec>("spec", report) else { return };
    let EntrySpec { hosts, ports, resolution, endpoints } = spec.value;
    let resolution = resolution.map_or_else(|| (object.place, "NONE".into()), |at| (at.place, at.value.0));
    if !matches!(&*resolution.1, "STATIC" | "DNS" | "DNS_ROUND_ROBIN") {
        report
            .objection(resolution.0, format!("the resolution `{}` is not supported", shown(&resolution.1)))
            .hint("write `STATIC` with `endpoints`, or `DNS`");
        return;
    }
    let endpoints: Vec<_> = endpoints.into_iter().flat_map(|endpoints| endpoints.value).collect();
    let ports: Vec<_> = ports.into_iter().flat_map(|ports| ports.value).collect();
    for host in hosts.into_iter().flat_map(|hosts| hosts.value) {
        let name = host.value.0.to_ascii_lowercase();
        let known = entries.0.entry(name.clone()).or_default();
        for Spanned { value: port, .. } in &ports {
            let Some(number) = port.number.as_ref().map(|number| number.value.to_u16()) else { continue };
            let own = endpoints.iter().filter_map(|endpoint| endpoint_of(endpoint, port, number, report));
            let mut list: Vec<_> = own.collect();
            // Without endpoints, the host name itself is resolved.
            if endpoints.is_empty() && !name.starts_with('*') {
                list.extend(parse_endpoint(&name, number, 1).map(|endpoint| (endpoint, Vec::new())));
            }
            if known.iter().all(|other| other.number != number) {
                let name = format!("{}/{name}:{number}", object.metadata.namespace);
                let said = port.protocol.as_ref().map_or("", |protocol| &protocol.value.0);
                known.push(EntryPort { number, name, protocol: protocol_of(said), endpoints: list });
            }
        }
    }
}

/// Returns the upstream protocol for the name of a protocol, or of a port that begins with one.
pub(super) fn protocol_of(name: &str) -> LinkProtocol {
    let protocol = name.split('-').next().unwrap_or_default().to_ascii_lowercase();
    match &*protocol {
        "http2" | "grpc" | "kubernetes.io/h2c" => LinkProtocol::Http2,
        _ => LinkProtocol::Http1,
    }
}

fn endpoint_of(
    endpoint: &Spanned<EntryEndpointSpec>,
    port: &EntryPortSpec,
    number: u16,
    report: &mut ProblemReport,
) -> Option<(EndpointConfig, Vec<LabelPair>)> {
    let spec = &endpoint.value;
    let address = spec.address.as_ref()?;
    let name: &str = port.name.as_ref().map_or("", |name| &name.value.0);
    let mut named = spec.ports.iter().flat_map(|ports| &ports.value.0);
    let own = named.find(|entry| *entry.name.value.0 == *name).and_then(|entry| entry.value.as_ref());
    let target = own.or(port.target.as_ref()).map_or(number, |port| port.value.to_u16());
    let weight = spec.weight.as_ref().map_or(1, |weight| weight.value.to_u32().max(1));
    let Some(parsed) = parse_endpoint(&address.value.0, target, weight) else {
        report
            .error(address.place, format!("`{}` is neither an address nor a name", shown(&address.value.0)));
        return None;
    };
    Some((parsed, pairs(spec.labels.as_ref())))
}

fn parse_endpoint(host: &str, port: u16, weight: u32) -> Option<EndpointConfig> {
    let text = match host.strip_prefix("unix://") {
        Some(path) => format!("unix:{path}"),
        None if host.contains(':') => format!("[{host}]:{port}"),
        None => format!("{host}:{port}"),
    };
    let EndpointAddressText(address) = EndpointAddressText::parse(&text).ok()?;
    Some(EndpointConfig { weight, ..EndpointConfig::new(address) })
}
