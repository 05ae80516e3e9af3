//! Gateways as written.

use super::Labels;
use crate::dialect::kubernetes::ApiText;
use crate::read::At;
use crate::value::Number;

object! {
    /// The spec of a Gateway.
    GatewaySpec as "the spec of a Gateway" {
        /// Its ports.
        required servers "servers": Vec<At<ServerSpec>>;
        /// The labels of the proxies that it is for.
        optional selector "selector": Labels;
    }
}

object! {
    /// A port of a Gateway.
    ServerSpec as "a server of a Gateway" {
        /// The port.
        required port "port": ServerPortSpec;
        /// The hosts, perhaps with a namespace in front.
        required hosts "hosts": Vec<At<ApiText>>;
        /// What is done with TLS.
        optional tls "tls": ServerTlsSpec;
        passed "name" "bind" "defaultEndpoint";
    }
}

object! {
    /// A port.
    ServerPortSpec as "a port of a Gateway" {
        /// Its number.
        required number "number": Number<1, 65_535>;
        /// What is spoken there.
        required protocol "protocol": ApiText;
        passed "name" "targetPort";
    }
}

object! {
    /// What is done with TLS.
    ServerTlsSpec as "`tls` of a Gateway" {
        /// Whether requests without TLS are redirected.
        optional https_redirect "httpsRedirect": bool;
        passed "mode" "serverCertificate" "privateKey" "caCertificates" "credentialName" "credentialNames" "subjectAltNames"
            "verifyCertificateSpki" "verifyCertificateHash" "minProtocolVersion" "maxProtocolVersion" "cipherSuites"
            "caCrl" "tlsCertificates" "caCertCredentialName";
    }
}
