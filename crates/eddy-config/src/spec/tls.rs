//! The keys of TLS, towards clients and towards endpoints.

use crate::read::{OneOrMany, Spanned};
use crate::value::{CertifiedHost, FilePath, ServerCheckName, ServerName, Time, TlsVersionName};

mapping! {
    /// TLS towards clients.
    ///
    /// Certificates and keys are read when eddy starts and at each reload, and are watched like the configuration: a renewed
    /// certificate is shown within a second, and connections that are open stay.
    ListenerTlsSpec as "tls of a listener" {
        /// The certificates and their keys. A client gets the first one that is for the host it asks for, exact names
        /// before `*.`; one that asks for none gets one for every host (`hosts: ["*"]`), else the first of all.
        required certificates: Vec<Spanned<CertificateSpec>>, example "[{chain: site.crt, key: site.key}]";
        /// Turn clients away that ask for a host which no certificate is for, or for none, instead of showing them the first one.
        optional strict_names: bool, default "false", example "true";
        /// The least version of TLS.
        optional version_min: TlsVersionName, default "tls1.2", example "tls1.3";
        /// Ask clients for a certificate.
        optional clients: ClientCertificatesSpec, otherwise "clients are not asked for one", example "{authorities: clients.pem}";
        /// Longest time from a client's connection to the end of its handshake. Beyond it the connection is closed.
        optional handshake_timeout: Time<10, 600_000>, default "5s", example "10s";
    }
}

mapping! {
    /// A chain of certificates and its key: PEM files, or what is ordered from an authority.
    CertificateSpec as "a certificate" {
        /// The chain: the server's own certificate first, then those between it and the authority. A relative path is
        /// taken from where the configuration file lies.
        optional chain: FilePath, otherwise "it is ordered, by `acme`", example "site.crt";
        /// The private key of the first certificate, not encrypted.
        optional key: FilePath, otherwise "it is ordered, by `acme`", example "site.key";
        /// A host, or several, that one certificate is ordered for and renewed in time; the outermost `acme` says from whom.
        /// Until the first one has come, clients that ask for these hosts get what the listener has besides, or no
        /// handshake.
        optional acme: OneOrMany<CertifiedHost>, otherwise "it comes from files", example "[www.example.com, example.com]";
        /// What the authority says of the certificate's revocation, an OCSP response in DER: handed on to clients as it is.
        optional ocsp: FilePath, otherwise "clients get none", example "site.ocsp";
        group One of chain acme;
        group NoneOrOne of ocsp acme;
    }
}

mapping! {
    /// How clients show who they are.
    ClientCertificatesSpec as "clients" {
        /// The authorities whose certificates are taken: a PEM file.
        required authorities: FilePath, example "clients.pem";
        /// Serve clients without a certificate as well; one that is shown has to be valid all the same.
        optional optional: bool, default "false", example "true";
        /// The certificates that are taken no longer: a PEM file with the lists (CRLs) of all authorities that stand in a
        /// client's chain. Who comes of an authority without a list is turned away. A list that should have been replaced
        /// is gone by all the same, and warned of.
        optional crl: FilePath, otherwise "no certificate is taken back", example "clients.crl";
    }
}

mapping! {
    /// TLS towards endpoints.
    ///
    /// Files are read when eddy starts and at each reload, and are watched like the configuration. An endpoint that doesn't show
    /// what is asked of it counts as one that can't be connected to.
    ClusterTlsSpec as "tls of a cluster" {
        /// The name that endpoints are asked for and that their certificates have to be for: a host, or an address.
        optional server_name: ServerName, otherwise "what stands in each endpoint's address", example "users.internal";
        /// Tell endpoints the name (SNI), so that one that has several certificates can choose.
        optional send_name: bool, default "true", example "false";
        /// The authorities whose certificates are taken: a PEM file.
        optional authorities: FilePath, otherwise "those of the machine", example "internal.pem";
        /// The certificate that endpoints are shown when they ask for one, and its key.
        optional certificate: IdentitySpec, otherwise "endpoints are shown none", example "{chain: eddy.crt, key: eddy.key}";
        /// What an endpoint has to show: `full`, a certificate that an authority has issued for the name; `authority`, one for
        /// whatever name; `none`, any, which lets whoever stands in between read and change everything.
        optional verify: ServerCheckName, default "full", example "authority";
        /// The least version of TLS.
        optional version_min: TlsVersionName, default "tls1.2", example "tls1.3";
    }
}

mapping! {
    /// A chain of certificates and its key, as PEM files, that endpoints are shown.
    IdentitySpec as "a certificate for endpoints" {
        /// The chain: eddy's own certificate first, then those between it and the authority. A relative path is taken from
        /// where the configuration file lies.
        required chain: FilePath, example "eddy.crt";
        /// The private key of the first certificate, not encrypted.
        required key: FilePath, example "eddy.key";
    }
}
