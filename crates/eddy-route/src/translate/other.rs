//! The dialects that rules can be imagined in: their order, and how they read requests.

use crate::rule::{Dialect, HostForm, RegexRank, TableMatchOptions};

/// A dialect that rules are imagined in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherDialect {
    /// eddy's own.
    Eddy,
    /// Envoy's: a virtual host for each host, its routes in the order of the files.
    Envoy,
    /// The Gateway API's: one route with all rules, without an age.
    GatewayApi,
    /// An Ingress as the API says.
    Ingress,
    /// Istio's: one `VirtualService` with all rules for each host.
    Istio,
    /// NGINX's: a server for each host, a location for each path.
    Nginx,
}

impl OtherDialect {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Eddy, Self::Envoy, Self::GatewayApi, Self::Ingress, Self::Istio, Self::Nginx];

    /// What it is called on the command line.
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

    /// The dialect of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// The order that tables are in which stand for it.
    pub(super) fn order(self) -> Dialect {
        match self {
            // The order of eddy's is theirs as well, with ranks where NGINX looks at other things first.
            Self::Eddy | Self::Ingress | Self::Nginx => Dialect::Eddy,
            Self::Envoy | Self::Istio => Dialect::Envoy,
            Self::GatewayApi => Dialect::GatewayApi(RegexRank::default()),
        }
    }

    /// How it reads requests; paths are taken as they reach the rules here.
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
