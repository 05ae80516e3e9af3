//! The keys for manifests of Kubernetes that stand beside the configuration.

use eddy_route::RegexRank;

use crate::config::ListenAddress;
use crate::read::{NamedMap, Spanned};
use crate::value::{BoundedText, DomainName, EndpointAddressText, IpText, ObjectName, PortKey, ServiceName};

mapping! {
    /// What manifests of Kubernetes in other files of the configuration don't say: where to listen and where Services are.
    KubernetesSpec as "kubernetes" {
        /// The address to listen on at the ports that manifests name, where a Gateway has no `addresses` of its own.
        optional address: IpText, default "127.0.0.1", example "0.0.0.0";
        /// Other addresses for some ports of manifests, as port 80 needs privileges.
        optional listen: NamedMap<PortKey, ListenAddress>, otherwise "every port is taken as it is written", example "{80: 127.0.0.1:8080}";
        /// The same for one Gateway, by its namespace and name; it goes before `address`, `listen` and the Gateway's own.
        optional gateways: NamedMap<ObjectName, GatewayPlaceSpec>, otherwise "all are treated alike", example "{default/web: {listen: {80: 127.0.0.1:8081}}}";
        /// Endpoints of Services, by namespace, name and perhaps port. They go before EndpointSlices; the Service need
        /// not be there.
        optional endpoints: NamedMap<ServiceName, Vec<Spanned<EndpointAddressText>>>, otherwise "EndpointSlices tell them", example "{default/users: [127.0.0.1:9001], 'default/shop:8080': [127.0.0.1:9002]}";
        /// The domain of the cluster, whose name servers are asked for Services without EndpointSlices, as for
        /// `users.default.svc.cluster.local`. Only of use where these names can be resolved, as in the cluster itself.
        optional dns: DomainName, otherwise "such Services have no endpoints and requests to them are answered 503", example "cluster.local";
        /// Names of controllers whose GatewayClasses eddy serves beside its own, `eddy-gateway.github.io/eddy`, and those
        /// that are not in the files.
        optional controllers: Vec<Spanned<BoundedText<253>>>, default "[]", example "['example.com/gateway-controller']";
        /// Where rules with a regular expression for the path come in the order of the Gateway API, which leaves that open.
        optional regex_rank: RegexRank, default "before_prefix", example "last";
        /// Whether a request that no rule for the most specific matching hostname of a listener matches may be for one of a
        /// less specific hostname there.
        optional host_fallthrough: bool, default "false", example "true";
    }
}

mapping! {
    /// Where a Gateway listens.
    GatewayPlaceSpec as "a Gateway" {
        /// The address to listen on.
        optional address: IpText, otherwise "as for other Gateways", example "127.0.0.2";
        /// Other addresses for some of its ports.
        optional listen: NamedMap<PortKey, ListenAddress>, otherwise "as for other Gateways", example "{80: 127.0.0.1:8081}";
    }
}
