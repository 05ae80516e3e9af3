//! `proxy_ssl_...`: TLS to upstreams.

use eddy_check::source_position;
use eddy_ids::Shared;
use eddy_model::{ClusterTlsConfig, IdentityFiles, ServerCheck, TlsVersion, WrittenPath};
use eddy_spec::problem::{SourceSpan, shown};
use eddy_tls::is_server_name;

use super::reader::NginxReader;
use super::tree::NginxWord;

/// TLS settings of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct UpstreamTls {
    /// `proxy_ssl_name`; by default, the host as `proxy_pass` names it.
    name: Option<NginxWord>,
    sends_name: bool,
    verifies: bool,
    authorities: Option<NginxWord>,
    chain: Option<NginxWord>,
    key: Option<NginxWord>,
    pub(super) version_min: TlsVersion,
}

impl UpstreamTls {
    /// Applies a setting with one argument.
    pub(super) fn set(&mut self, name: &str, word: &NginxWord, reader: &mut NginxReader<'_, '_>) {
        let set = |target: &mut bool, flag: Option<bool>| *target = flag.unwrap_or(*target);
        match name {
            "proxy_ssl_server_name" => set(&mut self.sends_name, reader.flag(word)),
            "proxy_ssl_verify" => set(&mut self.verifies, reader.flag(word)),
            "proxy_ssl_name" if word.text == "$proxy_host" => self.name = None,
            "proxy_ssl_name" => self.name = reader.without_variables(word),
            "proxy_ssl_trusted_certificate" => self.authorities = reader.without_variables(word),
            "proxy_ssl_certificate" => self.chain = reader.without_variables(word),
            "proxy_ssl_certificate_key" => self.key = reader.without_variables(word),
            _ => {}
        }
    }

    /// Returns a key that distinguishes these settings from others.
    pub(super) fn key(&self) -> String {
        let text = |word: &Option<NginxWord>| word.as_ref().map(|word| word.text.clone());
        let names = [text(&self.name), text(&self.authorities), text(&self.chain), text(&self.key)];
        format!("{names:?} {} {} {:?}", self.sends_name, self.verifies, self.version_min)
    }
}

impl NginxReader<'_, '_> {
    /// Returns the minimum TLS version for upstreams or clients, as `to` says.
    pub(super) fn version_min(&mut self, words: &[NginxWord], to: &str) -> TlsVersion {
        let has = |version: &str| words.iter().any(|word| word.text == version);
        for word in words {
            match word.text.as_str() {
                "TLSv1.2" | "TLSv1.3" => {}
                "SSLv2" | "SSLv3" | "TLSv1" | "TLSv1.1" => {
                    let message = format!("eddy does not support {}, which is insecure", word.text);
                    self.report.warning(word.place, message).hint("leave it out");
                }
                _ => {
                    self.misfit::<()>(word, "a version such as `TLSv1.3`");
                }
            }
        }
        if let Some(word) = words.first().filter(|_| !has("TLSv1.3")) {
            let message = format!("eddy also offers TLSv1.3 to {to}");
            self.report.warning(word.place, message).hint("add `TLSv1.3`");
        }
        if has("TLSv1.2") || !has("TLSv1.3") { TlsVersion::Tls12 } else { TlsVersion::Tls13 }
    }

    /// Returns the TLS settings for an upstream that `proxy_pass` names at `place`.
    pub(super) fn cluster_tls(
        &mut self,
        tls: &UpstreamTls,
        host: &str,
        place: SourceSpan,
    ) -> ClusterTlsConfig {
        let mut cluster = ClusterTlsConfig::new(source_position(place, self.sources));
        cluster.server_name = self.upstream_name(tls, host);
        cluster.sends_name = tls.sends_name;
        cluster.version_min = tls.version_min;
        cluster.authorities = tls.authorities.as_ref().map(|word| self.written(word));
        cluster.identity = match (&tls.chain, &tls.key) {
            (Some(chain), Some(key)) => {
                Some(IdentityFiles { chain: self.written(chain), key: self.written(key) })
            }
            (Some(only), None) | (None, Some(only)) => {
                self.report.error(
                    only.place,
                    "`proxy_ssl_certificate` and `proxy_ssl_certificate_key` need each other",
                );
                None
            }
            (None, None) => None,
        };
        if !tls.verifies {
            cluster.check = ServerCheck::Nothing;
            self.report
                .warning(
                    place,
                    "upstream certificates are not verified: `proxy_ssl_verify` is off by default",
                )
                .hint("add `proxy_ssl_verify on; proxy_ssl_trusted_certificate authorities.pem;`");
        } else if tls.authorities.is_none() {
            self.report.error(place, "`proxy_ssl_verify` needs `proxy_ssl_trusted_certificate`").hint(
                "write the file of the certificate authorities, such as `/etc/ssl/certs/ca-certificates.crt`",
            );
        } else if cluster.server_name.is_none() {
            self.report
                .error(place, format!("`{}` is not a name that a certificate can contain", shown(host)))
                .hint("write the certificate's name with `proxy_ssl_name`");
        }
        cluster
    }

    /// Returns the server name sent to an upstream, or `None` when it is not a name, so that each endpoint is asked for
    /// its own.
    fn upstream_name(&self, tls: &UpstreamTls, host: &str) -> Option<Shared<str>> {
        let text = tls.name.as_ref().map_or(host, |word| word.text.as_str());
        let text = if text.starts_with("unix:") { "localhost" } else { text };
        let bare = match text.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => text,
        };
        let name = bare.trim_end_matches('.').to_ascii_lowercase();
        is_server_name(&name).then(|| name.into())
    }

    /// Returns a file that a directive names; a relative path is resolved against the directory of the first file.
    pub(super) fn written(&self, word: &NginxWord) -> WrittenPath {
        WrittenPath {
            path: self.folder.join(&word.text),
            text: None,
            place: source_position(word.place, self.sources),
        }
    }

    /// Returns a word if it has no variables: its value must be known before the first request.
    pub(super) fn without_variables(&mut self, word: &NginxWord) -> Option<NginxWord> {
        if word.text.contains('$') {
            let message = format!("`{}` is unknown before a request arrives", shown(&word.text));
            self.refuse(word.place, message, "write it without variables");
            return None;
        }
        Some(word.clone())
    }
}
