//! ServiceEntries and DestinationRules as written; they define what the names of destinations refer to.

use eddy_spec::read::{Any, NamedMap, Spanned};
use eddy_spec::value::Number;

use crate::kubernetes::{ApiText, Label};

/// Labels of an object.
pub(in super::super) type Labels = NamedMap<Label, ApiText>;

object! {
    /// Spec of a ServiceEntry.
    EntrySpec as "a ServiceEntry spec" {
        /// Host names.
        required hosts "hosts": Vec<Spanned<ApiText>>;
        /// Ports.
        optional ports "ports": Vec<Spanned<EntryPortSpec>>;
        /// Discovery of the endpoints.
        optional resolution "resolution": ApiText;
        /// Endpoints.
        optional endpoints "endpoints": Vec<Spanned<EntryEndpointSpec>>;
        passed "addresses" "location" "exportTo" "subjectAltNames" "workloadSelector";
    }
}

object! {
    /// Port of a ServiceEntry.
    EntryPortSpec as "a ServiceEntry port" {
        /// Port number.
        required number "number": Number<1, 65_535>;
        /// Port of the endpoints.
        optional target "targetPort": Number<1, 65_535>;
        /// Name of the port.
        optional name "name": ApiText;
        /// Protocol.
        optional protocol "protocol": ApiText;
    }
}

object! {
    /// Endpoint of a ServiceEntry.
    EntryEndpointSpec as "a ServiceEntry endpoint" {
        /// IP address or DNS name.
        required address "address": ApiText;
        /// Ports of the endpoint, by the names of the entry's ports.
        optional ports "ports": NamedMap<Label, Number<1, 65_535>>;
        /// Weight.
        optional weight "weight": Number<0, 1_000>;
        /// Labels that subsets select by.
        optional labels "labels": Labels;
        passed "locality" "network" "serviceAccount";
    }
}

object! {
    /// Spec of a DestinationRule.
    DestinationRuleSpec as "a DestinationRule spec" {
        /// Host that it applies to.
        required host "host": ApiText;
        /// Traffic policy of all endpoints.
        optional policy "trafficPolicy": PolicySpec;
        /// Subsets of the endpoints.
        optional subsets "subsets": Vec<Spanned<SubsetSpec>>;
        passed "exportTo" "workloadSelector";
    }
}

object! {
    /// Subset of the endpoints.
    SubsetSpec as "a subset" {
        /// Name.
        required name "name": ApiText;
        /// Labels that its endpoints have.
        optional labels "labels": Labels;
        /// Traffic policy of the subset.
        optional policy "trafficPolicy": PolicySpec;
    }
}

object! {
    /// Traffic policy.
    PolicySpec as "a traffic policy" {
        /// Load balancing.
        optional balancer "loadBalancer": BalancerSpec;
        /// TLS to the endpoints.
        optional tls "tls": ClientTlsSpec;
        /// Connection limits.
        optional pool "connectionPool": Any;
        /// Ejection of endpoints.
        optional ejection "outlierDetection": Any;
        refused "portLevelSettings" "eddy applies one policy to all ports of a destination";
        refused "tunnel" "eddy does not support tunnels in manifests";
        refused "proxyProtocol" "eddy does not send a PROXY protocol header here";
        refused "retryBudget" "eddy has its own retry budget, a share of the active requests";
    }
}

object! {
    /// Load balancing.
    BalancerSpec as "a load balancer" {
        /// Name of one of Istio's algorithms.
        optional simple "simple": ApiText;
        /// Hash key of the request, instead.
        optional hash "consistentHash": HashSpec;
        passed "warmup" "warmupDurationSecs" "localityLbSetting";
    }
}

object! {
    /// Hash key: the part of a request that selects an endpoint.
    HashSpec as "a consistent hash" {
        /// First value of a header.
        optional header "httpHeaderName": ApiText;
        /// Cookie.
        optional cookie "httpCookie": HashCookieSpec;
        /// Client address.
        optional address "useSourceIp": bool;
        /// Maglev table instead of a ring.
        optional maglev "maglev": MaglevSpec;
        passed "ringHash" "minimumRingSize";
        refused "httpQueryParameterName" "eddy balances by a header, a cookie or the client address";
    }
}

object! {
    /// Maglev table, over which keys are distributed.
    MaglevSpec as "a Maglev table" {
        /// Number of places in the table.
        optional places "tableSize": Number<1, 5_000_011>;
    }
}

object! {
    /// Cookie that selects an endpoint.
    HashCookieSpec as "a cookie" {
        /// Name.
        required name "name": ApiText;
        /// Lifetime of a cookie that the proxy sets.
        optional ttl "ttl": ApiText;
        passed "path" "attributes";
    }
}

object! {
    /// TLS to the endpoints.
    ClientTlsSpec as "the `tls` of a traffic policy" {
        /// TLS mode.
        required mode "mode": ApiText;
        /// File of eddy's own certificate chain.
        optional chain "clientCertificate": ApiText;
        /// File of its private key.
        optional key "privateKey": ApiText;
        /// File of the authorities; `system` for those of the system.
        optional authorities "caCertificates": ApiText;
        /// Secret that holds all three.
        optional secret "credentialName": ApiText;
        /// Names that certificates must be for.
        optional names "subjectAltNames": Vec<Spanned<ApiText>>;
        /// Server name sent to endpoints.
        optional server_name "sni": ApiText;
        /// Whether certificates are accepted without verification.
        optional takes_all "insecureSkipVerify": bool;
        refused "caCrl" "eddy does not read this revocation list: revoked certificates would be accepted";
    }
}
