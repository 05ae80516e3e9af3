//! Configuration keys for Kubernetes manifests that accompany the configuration.

use eddy_config::ListenAddress;
use eddy_route::RegexRank;

use crate::read::{NamedMap, Spanned};
use crate::value::{BoundedText, DomainName, EndpointAddressText, IpText, ObjectName, PortKey, ServiceName};

mapping! {
    /// Settings that Kubernetes manifests in other files of the configuration do not contain: addresses to listen on,
    /// and addresses of Services.
    KubernetesSpec as "kubernetes" {
        /// Address to listen on at the ports that manifests specify, for a Gateway without `addresses` of its own.
        optional address: IpText, default "127.0.0.1", example "0.0.0.0";
        /// Other addresses for some ports of manifests, for example because port 80 needs privileges.
        optional listen: NamedMap<PortKey, ListenAddress>, otherwise "ports are used as written", example "{80: 127.0.0.1:8080}";
        /// Addresses of a single Gateway, by its namespace and name. They take precedence over `address`, `listen` and
        /// the Gateway's own addresses.
        optional gateways: NamedMap<ObjectName, GatewayPlaceSpec>, otherwise "all Gateways are treated alike", example "{default/web: {listen: {80: 127.0.0.1:8081}}}";
        /// Endpoints of Services, by namespace, name and optionally port. They take precedence over EndpointSlices. The
        /// Service itself need not exist.
        optional endpoints: NamedMap<ServiceName, Vec<Spanned<EndpointAddressText>>>, otherwise "the endpoints of EndpointSlices", example "{default/users: [127.0.0.1:9001], 'default/shop:8080': [127.0.0.1:9002]}";
        /// DNS domain of the Kubernetes cluster. It is used to resolve Services without EndpointSlices, as in
        /// `users.default.svc.cluster.local`. Only useful where these names can be resolved, as within the cluster.
        optional dns: DomainName, otherwise "such Services have no endpoints and requests to them are answered 503", example "cluster.local";
        /// Controller names whose GatewayClasses eddy serves, in addition to its own, `eddy-gateway.github.io/eddy`,
        /// and to GatewayClasses that the files do not contain.
        optional controllers: Vec<Spanned<BoundedText<253>>>, default "[]", example "['example.com/gateway-controller']";
        /// Position of rules with a regular expression for the path in the precedence order of the Gateway API, which
        /// leaves it open.
        optional regex_rank: RegexRank, default "before_prefix", example "last";
        /// Whether a request that matches no rule of a listener's most specific matching hostname may match a rule of a
        /// less specific hostname.
        optional host_fallthrough: bool, default "false", example "true";
    }
}

mapping! {
    /// Addresses that a Gateway listens on.
    GatewayPlaceSpec as "a Gateway" {
        /// Address to listen on.
        optional address: IpText, otherwise "as for other Gateways", example "127.0.0.2";
        /// Other addresses for some of its ports.
        optional listen: NamedMap<PortKey, ListenAddress>, otherwise "as for other Gateways", example "{80: 127.0.0.1:8081}";
    }
}
