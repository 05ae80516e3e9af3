//! The keys of certificates that are ordered.

use crate::value::{ChallengeName, ConfigName, DirectoryUrl, EmailAddress, FilePath};

mapping! {
    /// An authority that certificates are ordered from (ACME, RFC 8555).
    ///
    /// Certificates are ordered for the hosts that certificates of listeners name with `acme`, kept on disk and renewed when
    /// two thirds of their time are over, or when the authority says. Every cleartext and TLS listener that serves HTTP
    /// answers the authority's challenges before its own rules and filters do.
    AcmeSpec as "acme" {
        /// Where the account and certificates are kept: a folder, made where it is missing, that nobody but eddy may read. A
        /// relative path is taken from where the configuration file lies. Several processes may share it; one of them orders.
        required store: FilePath, example "/var/lib/eddy/acme";
        /// Whether you have read the authority's terms of service and accept them; nothing is ordered otherwise.
        required terms_accepted: bool, example "true";
        /// Where the authority says how it is to be asked.
        optional directory: DirectoryUrl, default "https://acme-v02.api.letsencrypt.org/directory", example "https://acme-staging-v02.api.letsencrypt.org/directory";
        /// Whom the authority may write to.
        optional email: EmailAddress, otherwise "it is told no address", example "ops@example.com";
        /// How hosts are proven to be served here.
        optional challenge: ChallengeName, default "tls-alpn-01", example "http-01";
        /// The kind of certificate, of those that the authority offers.
        optional profile: ConfigName, otherwise "the authority chooses", example "shortlived";
        /// Who vouches for the authority's own certificate: a PEM file.
        optional authorities: FilePath, otherwise "the authorities of the machine", example "internal.pem";
    }
}
