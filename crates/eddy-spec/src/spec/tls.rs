//! Configuration keys of TLS, towards clients and towards endpoints.

use eddy_model::{ServerCheck, TlsVersion};

use crate::read::{OneOrMany, Spanned};
use crate::value::{CertifiedHost, FilePath, ServerName, Time};

mapping! {
    /// TLS towards clients.
    ///
    /// Certificates and keys are read at start and at each reload, and are watched like the configuration: a renewed
    /// certificate is presented within a second, and open connections stay.
    ListenerTlsSpec as "tls of a listener" {
        /// Certificates and their keys. A client gets the first one that matches the server name (SNI) it asks for,
        /// exact names before `*.`. A client that sends no server name gets a certificate for every host (`hosts:
        /// ["*"]`), else the first of the list.
        required certificates: Vec<Spanned<CertificateSpec>>, example "[{chain: site.crt, key: site.key}]";
        /// Whether clients are rejected whose server name matches no certificate, or that send none, instead of getting
        /// the first certificate.
        optional strict_names: bool, default "false", example "true";
        /// Minimum TLS version.
        optional version_min: TlsVersion, default "tls1.2", example "tls1.3";
        /// Client certificates (mTLS).
        optional clients: ClientCertificatesSpec, otherwise "no client certificate is requested", example "{authorities: clients.pem}";
        /// Maximum time from the start of a connection to the end of the TLS handshake. Slower connections are closed.
        optional handshake_timeout: Time<10, 600_000>, default "5s", example "10s";
    }
}

mapping! {
    /// A certificate chain and its key: PEM files, or ordered from an ACME authority.
    CertificateSpec as "a certificate" {
        /// PEM file with the certificate chain: the server's own certificate first, then the intermediate certificates.
        /// Relative paths are resolved against the directory of the configuration file.
        optional chain: FilePath, otherwise "ordered from the ACME authority, with `acme`", example "site.crt";
        /// PEM file with the private key of the first certificate, not encrypted.
        optional key: FilePath, otherwise "ordered from the ACME authority, with `acme`", example "site.key";
        /// Host, or several hosts, for which one certificate is ordered and renewed; the top-level `acme` names the
        /// authority. Until the first certificate has arrived, clients that ask for these hosts get another certificate
        /// of the listener, or the handshake fails.
        optional acme: OneOrMany<CertifiedHost>, otherwise "the certificate is read from files", example "[www.example.com, example.com]";
        /// OCSP response in DER for the certificate, which is sent to clients as it is.
        optional ocsp: FilePath, otherwise "no OCSP response is sent", example "site.ocsp";
        group One of chain acme;
        group NoneOrOne of ocsp acme;
    }
}

mapping! {
    /// Client certificates (mTLS).
    ClientCertificatesSpec as "clients" {
        /// PEM file with the certificate authorities that client certificates must come from.
        required authorities: FilePath, example "clients.pem";
        /// Whether clients without a certificate are served as well. A certificate that is presented must be valid all
        /// the same.
        optional optional: bool, default "false", example "true";
        /// PEM file with the certificate revocation lists (CRLs) of all authorities in a client's chain. A client whose
        /// authority has no list is rejected. An expired list still applies, with a warning.
        optional crl: FilePath, otherwise "revocation is not checked", example "clients.crl";
    }
}

mapping! {
    /// TLS towards endpoints.
    ///
    /// Files are read at start and at each reload, and are watched like the configuration. An endpoint that fails
    /// verification counts as one that cannot be connected to.
    ClusterTlsSpec as "tls of a cluster" {
        /// Server name that is sent to endpoints (SNI) and that their certificates must match: a host or an IP address.
        optional server_name: ServerName, otherwise "the host of each endpoint's address", example "users.internal";
        /// Whether the server name is sent (SNI), so that an endpoint with several certificates can select one.
        optional send_name: bool, default "true", example "false";
        /// PEM file with the certificate authorities that endpoint certificates must come from.
        optional authorities: FilePath, otherwise "the CA certificates of the system", example "internal.pem";
        /// Client certificate and key that are presented to endpoints that ask for one.
        optional certificate: IdentitySpec, otherwise "no client certificate is presented", example "{chain: eddy.crt, key: eddy.key}";
        /// Verification of endpoint certificates: `full`, a certificate that an authority has issued for the server
        /// name; `authority`, one for any name; `none`, any certificate, which allows an attacker between eddy and the
        /// endpoint to read and change everything.
        optional verify: ServerCheck, default "full", example "authority";
        /// Minimum TLS version.
        optional version_min: TlsVersion, default "tls1.2", example "tls1.3";
    }
}

mapping! {
    /// PEM files of a certificate chain and its key that are presented to endpoints.
    IdentitySpec as "a client certificate" {
        /// PEM file with the certificate chain: eddy's own certificate first, then the intermediate certificates.
        /// Relative paths are resolved against the directory of the configuration file.
        required chain: FilePath, example "eddy.crt";
        /// PEM file with the private key of the first certificate, not encrypted.
        required key: FilePath, example "eddy.key";
    }
}
