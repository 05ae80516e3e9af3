//! Gateways, as written.

use eddy_spec::read::Spanned;
use eddy_spec::value::Number;

use super::Labels;
use crate::kubernetes::ApiText;

object! {
    /// Spec of a Gateway.
    GatewaySpec as "a Gateway spec" {
        /// Servers: one for each port.
        required servers "servers": Vec<Spanned<ServerSpec>>;
        /// Labels of the proxies that it is for.
        optional selector "selector": Labels;
    }
}

object! {
    /// Port of a Gateway.
    ServerSpec as "a Gateway server" {
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
    ServerPortSpec as "a Gateway port" {
        /// Port number.
        required number "number": Number<1, 65_535>;
        /// Protocol.
        required protocol "protocol": ApiText;
        passed "name" "targetPort";
    }
}

object! {
    /// TLS settings of a server.
    ServerTlsSpec as "the `tls` of a Gateway" {
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
        refused "subjectAltNames" "eddy accepts every client certificate that the certificate authority has issued";
        refused "verifyCertificateSpki" "eddy verifies client certificates only by their certificate authority";
        refused "verifyCertificateHash" "eddy verifies client certificates only by their certificate authority";
        refused "caCrl" "eddy does not read this revocation list: revoked certificates would be accepted";
        refused "tlsCertificates" "name Secrets with `credentialNames`";
        refused "caCertCredentialName" "put `ca.crt` into the Secret `NAME-cacert`, or into that of the certificate";
    }
}
