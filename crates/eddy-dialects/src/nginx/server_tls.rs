//! `ssl_...`: TLS towards clients.
//!
//! NGINX chooses the certificate by the server whose name the client asks for, whatever names the certificate contains.
//! When no server has the name, the default server of the address provides the certificate.

use eddy_ids::Shared;
use eddy_model::TlsVersion;

use super::reader::NginxReader;
use super::tree::NginxWord;

/// TLS settings of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct NginxServerTls {
    /// `ssl_certificate`; a block with one of its own inherits none.
    pub(super) chains: Shared<[NginxWord]>,
    /// `ssl_certificate_key`, in the order of the chains; a block with one of its own inherits none.
    pub(super) keys: Shared<[NginxWord]>,
    /// `ssl_stapling_file`.
    pub(super) ocsp: Option<NginxWord>,
    pub(super) version_min: TlsVersion,
    /// `ssl_client_certificate`.
    pub(super) authorities: Option<NginxWord>,
    /// `ssl_crl`.
    pub(super) revoked: Option<NginxWord>,
    /// `ssl_verify_client`: whether clients are asked for a certificate, and have to show one.
    pub(super) clients: Clients,
    /// `ssl_reject_handshake`: whether handshakes with clients that ask for a name of this server are rejected.
    pub(super) is_rejecting: bool,
}

/// Value of `ssl_verify_client`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Clients {
    /// Clients are not asked for a certificate.
    #[default]
    NotRequested,
    /// Clients need not show one.
    Optional,
    /// Clients have to show one.
    Required,
}

impl NginxServerTls {
    /// Applies a setting with one argument.
    pub(super) fn set(&mut self, name: &str, word: &NginxWord, reader: &mut NginxReader<'_, '_>) {
        match name {
            "ssl_stapling_file" => self.ocsp = reader.without_variables(word),
            "ssl_client_certificate" => self.authorities = reader.without_variables(word),
            "ssl_crl" => self.revoked = Some(word.clone()),
            "ssl_reject_handshake" => self.is_rejecting = reader.flag(word).unwrap_or_default(),
            "ssl_verify_client" => {
                self.clients = match word.text.as_str() {
                    "on" => Clients::Required,
                    "off" => Clients::NotRequested,
                    "optional" => Clients::Optional,
                    "optional_no_ca" => {
                        let message = "eddy does not accept unverified client certificates";
                        reader.refuse(word.place, message, "write `optional`");
                        Clients::NotRequested
                    }
                    _ => reader.misfit(word, "`on`, `off` or `optional`").unwrap_or_default(),
                }
            }
            _ => {}
        }
    }

    /// Returns the paths of the certificates and keys that clients are shown.
    pub(super) fn certificate_paths(&self) -> [Vec<&str>; 2] {
        [&self.chains, &self.keys].map(|words| words.iter().map(|word| &*word.text).collect())
    }

    /// Whether both settings ask clients for the same certificates.
    pub(super) fn has_same_client_check(&self, other: &Self) -> bool {
        let texts = |tls: &Self| {
            [&tls.authorities, &tls.revoked].map(|word| word.as_ref().map(|word| word.text.clone()))
        };
        self.clients == other.clients
            && (self.clients == Clients::NotRequested || texts(self) == texts(other))
    }
}
