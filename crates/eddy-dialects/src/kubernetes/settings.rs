//! Listen addresses and routing settings for manifests.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use eddy_config::ListenAddress;
use eddy_route::RegexRank;
use eddy_spec::read::{NamedMap, Spanned};
use eddy_spec::spec::KubernetesSpec;
use eddy_spec::value::{IpText, ObjectName, PortKey};

/// Listen addresses and routing settings.
#[derive(Debug)]
pub(crate) struct KubernetesSettings {
    all: Listening,
    /// Listen addresses of single Gateways.
    gateways: HashMap<ObjectName, Listening>,
    controllers: Vec<String>,
    /// Rank of rules with a regular expression for the path.
    pub(crate) regex_rank: RegexRank,
    /// Whether rules for less specific hostnames of a listener are tried when none for the most specific one matches.
    pub(crate) has_host_fallthrough: bool,
}

/// Listen address, with exceptions for some ports.
#[derive(Debug, Default)]
struct Listening {
    address: Option<IpAddr>,
    ports: HashMap<u16, ListenAddress>,
}

impl KubernetesSettings {
    /// Returns the settings in eddy's own configuration, or the defaults.
    pub(crate) fn of(spec: Option<&KubernetesSpec>) -> Self {
        let all =
            spec.map_or_else(Listening::default, |spec| Listening::of(spec.address, spec.listen.as_ref()));
        let gateways =
            spec.and_then(|spec| spec.gateways.as_ref()).into_iter().flat_map(|named| &named.value.0);
        let gateways = gateways.filter_map(|entry| {
            let spec = &entry.value.as_ref()?.value;
            Some((entry.name.value.clone(), Listening::of(spec.address, spec.listen.as_ref())))
        });
        let controllers =
            spec.and_then(|spec| spec.controllers.as_ref()).into_iter().flat_map(|list| &list.value);
        Self {
            all,
            gateways: gateways.collect(),
            controllers: controllers.map(|controller| controller.value.0.clone()).collect(),
            regex_rank: spec.and_then(|spec| spec.regex_rank).map(|rank| rank.value).unwrap_or_default(),
            has_host_fallthrough: spec.and_then(|spec| spec.host_fallthrough).is_some_and(|flag| flag.value),
        }
    }

    /// Whether eddy serves the GatewayClasses of a controller.
    pub(crate) fn is_controller(&self, name: &str) -> bool {
        name == CONTROLLER || self.controllers.iter().any(|other| other == name)
    }

    /// Returns the listen addresses for a port of manifests: those of the Gateway, if it has its own, else the general
    /// one.
    pub(crate) fn addresses(
        &self,
        gateway: Option<&ObjectName>,
        own: &[IpAddr],
        port: u16,
    ) -> Vec<ListenAddress> {
        let its = gateway.and_then(|gateway| self.gateways.get(gateway));
        for listening in its.into_iter().chain([&self.all]) {
            if let Some(address) = listening.ports.get(&port) {
                return vec![address.clone()];
            }
        }
        let at = |address: IpAddr| ListenAddress::Tcp(SocketAddr::new(address, port));
        if let Some(address) = its.and_then(|its| its.address) {
            return vec![at(address)];
        }
        if !own.is_empty() {
            return own.iter().copied().map(at).collect();
        }
        vec![at(self.all.address.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)))]
    }
}

impl Listening {
    fn of(
        address: Option<Spanned<IpText>>,
        ports: Option<&Spanned<NamedMap<PortKey, ListenAddress>>>,
    ) -> Self {
        let ports = ports.into_iter().flat_map(|ports| &ports.value.0);
        let ports = ports.filter_map(|entry| Some((entry.name.value.0, entry.value.as_ref()?.value.clone())));
        Self { address: address.map(|address| address.value.0), ports: ports.collect() }
    }
}

/// Controller name of eddy's own GatewayClasses.
pub(crate) const CONTROLLER: &str = "eddy-gateway.github.io/eddy";
