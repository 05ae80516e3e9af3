//! ServiceEntries and DestinationRules as written: what names of destinations stand for.

use crate::dialect::kubernetes::{ApiText, Label};
use crate::read::{Any, NamedMap, Spanned};
use crate::value::Number;

/// Labels.
pub(in super::super) type Labels = NamedMap<Label, ApiText>;

object! {
    /// The spec of a ServiceEntry.
    EntrySpec as "the spec of a ServiceEntry" {
        /// Its names.
        required hosts "hosts": Vec<Spanned<ApiText>>;
        /// Its ports.
        optional ports "ports": Vec<Spanned<EntryPortSpec>>;
        /// How its endpoints are found.
        optional resolution "resolution": ApiText;
        /// Its endpoints.
        optional endpoints "endpoints": Vec<Spanned<EntryEndpointSpec>>;
        passed "addresses" "location" "exportTo" "subjectAltNames" "workloadSelector";
    }
}

object! {
    /// A port of a ServiceEntry.
    EntryPortSpec as "a port of a ServiceEntry" {
        /// Its number.
        required number "number": Number<1, 65_535>;
        /// The port of the endpoints.
        optional target "targetPort": Number<1, 65_535>;
        /// Its name.
        optional name "name": ApiText;
        /// What is spoken there.
        optional protocol "protocol": ApiText;
    }
}

object! {
    /// An endpoint of a ServiceEntry.
    EntryEndpointSpec as "an endpoint of a ServiceEntry" {
        /// An address or a name.
        required address "address": ApiText;
        /// Ports by the names of the entry's.
        optional ports "ports": NamedMap<Label, Number<1, 65_535>>;
        /// Its share.
        optional weight "weight": Number<0, 1_000>;
        /// What subsets know it by.
        optional labels "labels": Labels;
        passed "locality" "network" "serviceAccount";
    }
}

object! {
    /// The spec of a DestinationRule.
    DestinationRuleSpec as "the spec of a DestinationRule" {
        /// The name that it is for.
        required host "host": ApiText;
        /// How all its endpoints are used.
        optional policy "trafficPolicy": PolicySpec;
        /// Parts of its endpoints.
        optional subsets "subsets": Vec<Spanned<SubsetSpec>>;
        passed "exportTo" "workloadSelector";
    }
}

object! {
    /// A part of the endpoints.
    SubsetSpec as "a subset" {
        /// Its name.
        required name "name": ApiText;
        /// The labels that its endpoints have.
        optional labels "labels": Labels;
        /// How they are used.
        optional policy "trafficPolicy": PolicySpec;
    }
}

object! {
    /// How endpoints are used.
    PolicySpec as "a traffic policy" {
        /// Which of them is asked.
        optional balancer "loadBalancer": BalancerSpec;
        /// TLS towards them.
        optional tls "tls": ClientTlsSpec;
        /// Limits of links.
        optional pool "connectionPool": Any;
        /// When one is left out.
        optional ejection "outlierDetection": Any;
        refused "portLevelSettings" "eddy has one policy for all ports of a destination";
        refused "tunnel" "eddy makes no tunnels";
        refused "proxyProtocol" "eddy sends no header of the PROXY protocol";
        refused "retryBudget" "eddy has one of its own, a part of the requests that are under way";
    }
}

object! {
    /// Which endpoint is asked.
    BalancerSpec as "a load balancer" {
        /// One of the names of Istio.
        optional simple "simple": ApiText;
        /// A key of the request instead.
        optional hash "consistentHash": HashSpec;
        passed "warmup" "warmupDurationSecs" "localityLbSetting";
    }
}

object! {
    /// What of a request chooses among endpoints.
    HashSpec as "a consistent hash" {
        /// The first value of a field.
        optional header "httpHeaderName": ApiText;
        /// A cookie.
        optional cookie "httpCookie": HashCookieSpec;
        /// The client's address.
        optional address "useSourceIp": bool;
        /// A table in place of a ring.
        optional maglev "maglev": MaglevSpec;
        passed "ringHash" "minimumRingSize";
        refused "httpQueryParameterName" "eddy balances by a field, a cookie or the client's address";
    }
}

object! {
    /// A table by which keys are spread.
    MaglevSpec as "a table" {
        /// How many places it has.
        optional places "tableSize": Number<1, 5_000_011>;
    }
}

object! {
    /// A cookie that chooses among endpoints.
    HashCookieSpec as "a cookie" {
        /// Its name.
        required name "name": ApiText;
        /// How long one lasts that the proxy gives.
        optional ttl "ttl": ApiText;
        passed "path" "attributes";
    }
}

object! {
    /// TLS towards endpoints.
    ClientTlsSpec as "`tls` of a traffic policy" {
        /// What is done.
        required mode "mode": ApiText;
        /// The file of eddy's own chain.
        optional chain "clientCertificate": ApiText;
        /// The file of its key.
        optional key "privateKey": ApiText;
        /// The file of the authorities; `system` for those of the machine.
        optional authorities "caCertificates": ApiText;
        /// The Secret that has all three.
        optional secret "credentialName": ApiText;
        /// What certificates have to be for.
        optional names "subjectAltNames": Vec<Spanned<ApiText>>;
        /// What endpoints are asked for.
        optional server_name "sni": ApiText;
        /// Whether certificates are taken as they are.
        optional takes_all "insecureSkipVerify": bool;
        refused "caCrl" "eddy reads no lists of revoked certificates: they would be taken";
    }
}
