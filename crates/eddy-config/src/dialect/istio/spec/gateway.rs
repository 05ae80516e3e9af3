//! Gateways as written.

use super::Labels;
use crate::dialect::kubernetes::ApiText;
use crate::read::Spanned;
use crate::value::Number;

object! {
    /// The spec of a Gateway.
    GatewaySpec as "the spec of a Gateway" {
        /// Its ports.
        required servers "servers": Vec<Spanned<ServerSpec>>;
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
        required hosts "hosts": Vec<Spanned<ApiText>>;
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
        /// Whether it ends here, and whether clients show certificates.
        optional mode "mode": ApiText;
        /// The Secret of the certificate and key.
        optional secret "credentialName": ApiText;
        /// The Secrets of several.
        optional secrets "credentialNames": Vec<Spanned<ApiText>>;
        /// The file of the chain.
        optional chain "serverCertificate": ApiText;
        /// The file of the key.
        optional key "privateKey": ApiText;
        /// The file of the authorities of clients.
        optional authorities "caCertificates": ApiText;
        /// The least version.
        optional version_min "minProtocolVersion": ApiText;
        /// The highest version.
        optional version_max "maxProtocolVersion": ApiText;
        passed "cipherSuites";
        refused "subjectAltNames" "every certificate that an authority has issued for clients is taken";
        refused "verifyCertificateSpki" "certificates of clients are checked by their authority";
        refused "verifyCertificateHash" "certificates of clients are checked by their authority";
        refused "caCrl" "eddy reads no lists of revoked certificates: they would be taken";
        refused "tlsCertificates" "name Secrets with `credentialNames`";
        refused "caCertCredentialName" "put `ca.crt` into the Secret `NAME-cacert`, or into that of the certificate";
    }
}
