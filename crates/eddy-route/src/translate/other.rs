//! Target dialects of translations: their order, and their interpretation of requests.

use crate::rule::{Dialect, HostForm, RegexRank, TableMatchOptions};

/// Target dialect of a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherDialect {
    /// eddy.
    Eddy,
    /// Envoy: a virtual host for each host, its routes in the order of the files.
    Envoy,
    /// Gateway API: one route with all rules, without creation times.
    GatewayApi,
    /// Ingress, as specified by the Kubernetes API.
    Ingress,
    /// Istio: one `VirtualService` with all rules for each host.
    Istio,
    /// NGINX: a server for each host, a location for each path.
    Nginx,
}

impl OtherDialect {
    /// All dialects.
    pub const ALL: [Self; 6] =
        [Self::Eddy, Self::Envoy, Self::GatewayApi, Self::Ingress, Self::Istio, Self::Nginx];

    /// Returns the name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Eddy => "eddy",
            Self::Envoy => "envoy",
            Self::GatewayApi => "gateway-api",
            Self::Ingress => "ingress",
            Self::Istio => "istio",
            Self::Nginx => "nginx",
        }
    }

    /// Returns the dialect with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// Returns the dialect whose order represents this one in a table.
    pub(super) fn order(self) -> Dialect {
        match self {
            // Ingress and NGINX use eddy's order, with ranks where NGINX has other criteria first.
            Self::Eddy | Self::Ingress | Self::Nginx => Dialect::Eddy,
            Self::Envoy | Self::Istio => Dialect::Envoy,
            Self::GatewayApi => Dialect::GatewayApi(RegexRank::default()),
        }
    }

    /// Returns the match options of the dialect; paths are taken as they reach the rules here.
    pub(super) fn reading(self) -> TableMatchOptions {
        match self {
            Self::Eddy | Self::Ingress => TableMatchOptions::default(),
            Self::GatewayApi => TableMatchOptions::of(Dialect::GatewayApi(RegexRank::default())),
            Self::Envoy => TableMatchOptions::of(Dialect::Envoy),
            // Its hosts have no port.
            Self::Istio => {
                TableMatchOptions { host: HostForm::default(), ..TableMatchOptions::of(Dialect::Envoy) }
            }
            Self::Nginx => TableMatchOptions { is_closed: true, ..TableMatchOptions::default() },
        }
    }
}
