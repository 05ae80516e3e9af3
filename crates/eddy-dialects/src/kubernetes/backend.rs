//! Resolution of a Service and port to endpoints.

use std::collections::HashMap;

use eddy_ids::Shared;
use eddy_model::{ClusterConfig, EndpointConfig, LinkProtocol};
use eddy_spec::problem::{ProblemReport, SourceSpan};
use eddy_spec::spec::KubernetesSpec;
use eddy_spec::value::{EndpointAddressText, ObjectName, ServiceName};

use super::metadata::ObjectMetadata;
use super::object::Objects;
use super::service::{KubernetesService, ServicePort};
use super::slice::{Slice, SliceEndpoint, address_of};
use super::value::PortOrName;

/// Services and the endpoints behind them.
#[derive(Debug, Default)]
pub(crate) struct Backends {
    services: HashMap<ObjectName, KubernetesService>,
    slices: HashMap<ObjectName, Vec<Slice>>,
    /// Pods, used for their labels.
    pods: HashMap<ObjectName, ObjectMetadata>,
    /// Endpoints given in eddy's own configuration.
    given: HashMap<ServiceName, Vec<EndpointConfig>>,
    /// Domain of the cluster, if Services are resolved by DNS.
    domain: Option<Shared<str>>,
}

/// Resolved port of a Service.
#[derive(Clone, Debug)]
pub(crate) struct Backend {
    /// Cluster of the port; without endpoints when none are known.
    pub(crate) cluster: ClusterConfig,
    /// Application protocol, if the Service gives one.
    pub(crate) app_protocol: Option<Shared<str>>,
    /// Name of the port, if the Service gives one.
    pub(crate) port_name: Option<Shared<str>>,
    /// Source position of the Service, if it is written.
    pub(crate) place: Option<SourceSpan>,
    /// Whether the Service is an `ExternalName`.
    pub(crate) is_external_name: bool,
}

/// Reason why a port of a Service cannot be resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unresolved {
    /// The Service does not exist.
    Service,
    /// The Service has no such port.
    Port,
}

impl Backends {
    /// Reads Services, EndpointSlices and Pods; problems go to `report`.
    pub(crate) fn read(
        objects: &Objects<'_>,
        spec: Option<&KubernetesSpec>,
        report: &mut ProblemReport,
    ) -> Self {
        let mut backends = Self::default();
        for object in objects.of("", "Service") {
            let name = object.metadata.full_name();
            backends.services.insert(name, KubernetesService::read(object, report));
        }
        for object in objects.of("discovery.k8s.io", "EndpointSlice") {
            let slice = Slice::read(object, report);
            let Some(name) = Slice::service_of(object) else { continue };
            let name = ObjectName { namespace: object.metadata.namespace.clone(), name };
            backends.slices.entry(name).or_default().push(slice);
        }
        for object in objects.of("", "Pod") {
            backends.pods.insert(object.metadata.full_name(), object.metadata.clone());
        }
        let given =
            spec.and_then(|spec| spec.endpoints.as_ref()).into_iter().flat_map(|given| &given.value.0);
        for entry in given {
            let Some(endpoints) = &entry.value else { continue };
            let endpoints = endpoints.value.iter().map(|endpoint| {
                let EndpointAddressText(address) = &endpoint.value;
                EndpointConfig::new(address.clone())
            });
            backends.given.insert(entry.name.value.clone(), endpoints.collect());
        }
        backends.domain = spec.and_then(|spec| spec.dns.as_ref()).map(|dns| dns.value.0.clone());
        backends
    }

    /// Resolves a port of a Service to a cluster of its own name, with default settings.
    ///
    /// # Errors
    /// [`Unresolved`] when there is no such Service or port.
    pub(crate) fn find(&self, service: &ObjectName, port: &PortOrName) -> Result<Backend, Unresolved> {
        let known = self.services.get(service);
        let found = known.and_then(|known| known.ports.iter().find(|other| other.is(port)));
        let number = match (found, port) {
            (Some(found), _) => Some(found.number),
            (None, PortOrName::Number(number)) => Some(*number),
            (None, PortOrName::Name(_)) => None,
        };
        let given = self.configured_endpoints(service, number);
        let Some(known) = known else {
            let (Some(endpoints), Some(number)) = (given, number) else { return Err(Unresolved::Service) };
            let cluster = ClusterConfig::new(&name_of(service, number), endpoints.to_vec());
            return Ok(Backend {
                cluster,
                app_protocol: None,
                port_name: None,
                place: None,
                is_external_name: false,
            });
        };
        let is_external_name = known.external_name.is_some();
        if found.is_none() && !is_external_name {
            return Err(Unresolved::Port);
        }
        let Some(number) = number else { return Err(Unresolved::Port) };
        let endpoints = match (given, &known.external_name, found) {
            (Some(given), _, _) => given.to_vec(),
            (None, Some(name), _) => address_of(name, number).into_iter().map(EndpointConfig::new).collect(),
            (None, None, Some(found)) => self.endpoints(service, known, found, &|_| true),
            (None, None, None) => Vec::new(),
        };
        let mut cluster = ClusterConfig::new(&name_of(service, number), endpoints);
        let app_protocol = found.and_then(|found| found.app_protocol.clone());
        if app_protocol.as_deref() == Some("kubernetes.io/h2c") {
            cluster.protocol = LinkProtocol::Http2;
        }
        Ok(Backend {
            cluster,
            app_protocol,
            port_name: found.map(|found| found.name.clone()).filter(|name| !name.is_empty()),
            place: Some(known.place),
            is_external_name,
        })
    }

    /// Resolves the first port of a Service.
    ///
    /// # Errors
    /// [`Unresolved`] when there is no such Service, or it has no port.
    pub(crate) fn find_first(&self, service: &ObjectName) -> Result<Backend, Unresolved> {
        let known = self.services.get(service).ok_or(Unresolved::Service)?;
        let first = known.ports.first().ok_or(Unresolved::Port)?;
        self.find(service, &PortOrName::Number(first.number))
    }

    /// Returns the endpoints of a Service port whose Pods have all of these labels, or `None` when no labels of its
    /// Pods are known.
    pub(crate) fn find_labelled(
        &self,
        service: &ObjectName,
        port: &PortOrName,
        labels: &[(Shared<str>, Shared<str>)],
    ) -> Option<Vec<EndpointConfig>> {
        let known = self.services.get(service)?;
        let port = known.ports.iter().find(|other| other.is(port))?;
        let labels_of = |endpoint: &SliceEndpoint| {
            let pod = ObjectName { namespace: service.namespace.clone(), name: endpoint.pod.clone()? };
            self.pods.get(&pod).map(|pod| &pod.labels)
        };
        let mut endpoints = self.slices.get(service)?.iter().flat_map(|slice| &slice.endpoints);
        if endpoints.all(|endpoint| labels_of(endpoint).is_none()) {
            return None;
        }
        let has_all = |endpoint: &SliceEndpoint| {
            labels_of(endpoint).is_some_and(|own| labels.iter().all(|label| own.contains(label)))
        };
        Some(self.endpoints(service, known, port, &has_all))
    }

    /// Whether the Service exists, or eddy's own configuration gives its endpoints.
    pub(crate) fn knows(&self, service: &ObjectName) -> bool {
        self.services.contains_key(service) || self.given.keys().any(|given| given.object == *service)
    }

    /// Returns the port of a Service that has only one.
    pub(crate) fn only_port(&self, service: &ObjectName) -> Option<u16> {
        match self.services.get(service).map(|known| known.ports.as_slice()) {
            Some([only]) => Some(only.number),
            Some(_) | None => None,
        }
    }

    /// Returns the endpoints given in eddy's own configuration.
    fn configured_endpoints(&self, service: &ObjectName, port: Option<u16>) -> Option<&[EndpointConfig]> {
        let of = |port: Option<u16>| self.given.get(&ServiceName { object: service.clone(), port });
        port.and_then(|port| of(Some(port))).or_else(|| of(None)).map(Vec::as_slice)
    }

    /// Returns the endpoints in EndpointSlices that pass `is_meant`, or else the DNS name of the Service in the
    /// cluster.
    fn endpoints(
        &self,
        name: &ObjectName,
        service: &KubernetesService,
        port: &ServicePort,
        is_meant: &dyn Fn(&SliceEndpoint) -> bool,
    ) -> Vec<EndpointConfig> {
        let Some(slices) = self.slices.get(name) else {
            let Some(domain) = &self.domain else { return Vec::new() };
            let host = format!("{}.{}.svc.{domain}", name.name, name.namespace);
            // The DNS name of a headless Service resolves to its endpoints, that of any other to an address with the
            // Service's own port.
            let number = match port.target {
                PortOrName::Number(target) if service.is_headless => target,
                PortOrName::Number(_) | PortOrName::Name(_) => port.number,
            };
            return address_of(&host, number).into_iter().map(EndpointConfig::new).collect();
        };
        let mut ready: Vec<EndpointConfig> = Vec::new();
        let mut last_resort: Vec<EndpointConfig> = Vec::new();
        for slice in slices {
            let Some((_, number)) = slice.ports.iter().find(|(name, _)| *name == port.name) else { continue };
            for endpoint in slice.endpoints.iter().filter(|endpoint| is_meant(endpoint)) {
                let list = match (endpoint.is_ready, endpoint.is_last_resort) {
                    (true, _) => &mut ready,
                    (false, true) => &mut last_resort,
                    (false, false) => continue,
                };
                let address = address_of(&endpoint.host, *number).map(EndpointConfig::new);
                list.extend(address.filter(|address| !list.contains(address)));
            }
        }
        if ready.is_empty() { last_resort } else { ready }
    }
}

impl ServicePort {
    fn is(&self, port: &PortOrName) -> bool {
        match port {
            PortOrName::Number(number) => self.number == *number,
            PortOrName::Name(name) => self.name == *name,
        }
    }
}

/// Returns the name of the cluster of a port.
fn name_of(service: &ObjectName, port: u16) -> String {
    format!("{}/{}:{port}", service.namespace, service.name)
}
