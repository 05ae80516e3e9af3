//! Configuration keys of certificates ordered through ACME.

use eddy_config::AcmeChallenge;

use crate::value::{ConfigName, DirectoryUrl, EmailAddress, FilePath};

mapping! {
    /// A certificate authority that issues certificates through ACME (RFC 8555).
    ///
    /// eddy orders certificates for the hosts that the certificates of listeners list under `acme`, stores them on
    /// disk, and renews them when two thirds of their lifetime are over or when the authority asks for it. Every
    /// listener that serves HTTP, with or without TLS, answers the authority's challenges before its own rules and
    /// filters run.
    AcmeSpec as "acme" {
        /// Directory that stores the account and the certificates. It is created if it does not exist and must be
        /// readable only by eddy. Relative paths are resolved against the directory of the configuration file. Several
        /// processes may share it; one of them orders.
        required store: FilePath, example "/var/lib/eddy/acme";
        /// Whether you have read and accept the authority's terms of service. Nothing is ordered otherwise.
        required terms_accepted: bool, example "true";
        /// URL of the authority's ACME directory.
        optional directory: DirectoryUrl, default "https://acme-v02.api.letsencrypt.org/directory", example "https://acme-staging-v02.api.letsencrypt.org/directory";
        /// Contact address that is sent to the authority.
        optional email: EmailAddress, otherwise "no contact address is sent", example "ops@example.com";
        /// Challenge by which the authority verifies that a host is served here.
        optional challenge: AcmeChallenge, default "tls-alpn-01", example "http-01";
        /// Certificate profile, one of those that the authority offers.
        optional profile: ConfigName, otherwise "the authority chooses", example "shortlived";
        /// PEM file with the CA certificates that verify the authority's own server certificate.
        optional authorities: FilePath, otherwise "the CA certificates of the system", example "internal.pem";
    }
}
