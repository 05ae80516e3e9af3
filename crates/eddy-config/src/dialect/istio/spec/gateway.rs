//! Gateways, as written.

use super::Labels;
use crate::dialect::kubernetes::ApiText;
use crate::read::Spanned;
use crate::value::Number;

object! {
    /// Spec of a Gateway.
    GatewaySpec as "the spec of a Gateway" {
        /// Servers: one for each port.
        required servers "servers": Vec<Spanned<ServerSpec>>;
        /// Labels of the proxies that it is for.
        optional selector "selector": Labels;
    }
}

object! {
    /// Port of a Gateway.
    ServerSpec as "a server of a Gateway" {
        /// Port.
        required port "port": ServerPortSpec;
        /// Hosts, possibly with a namespace in front.
        required hosts "hosts": Vec<Spanned<ApiText>>;
        /// TLS settings.
        optional tls "tls": ServerTlsSpec;
        passed "name" "bind" "defaultEndpoint";
    }
}

object! {
    /// Port.
    ServerPortSpec as "a port of a Gateway" {
        /// Port number.
        required number "number": Number<1, 65_535>;
        /// Protocol.
        required protocol "protocol": ApiText;
        passed "name" "targetPort";
    }
}

object! {
    /// TLS settings of a server.
    ServerTlsSpec as "`tls` of a Gateway" {
        /// Whether requests without TLS are redirected.
        optional https_redirect "httpsRedirect": bool;
        /// Mode: whether TLS is terminated here, and whether clients show certificates.
        optional mode "mode": ApiText;
        /// Secret with certificate and key.
        optional secret "credentialName": ApiText;
        /// Secrets with several certificates.
        optional secrets "credentialNames": Vec<Spanned<ApiText>>;
        /// File of the certificate chain.
        optional chain "serverCertificate": ApiText;
        /// File of the private key.
        optional key "privateKey": ApiText;
        /// File of the authorities for client certificates.
        optional authorities "caCertificates": ApiText;
        /// Minimum TLS version.
        optional version_min "minProtocolVersion": ApiText;
        /// Maximum TLS version.
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
