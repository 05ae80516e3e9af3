//! TLS settings of an address, from those of its servers.

use std::collections::{HashMap, HashSet};

use eddy_config::{CertificateFiles, ClientCertificatesConfig, ListenerTlsConfig};
use eddy_route::nginx::{Address, NameForm, ServerSpec};
use eddy_spec::problem::{SourceSpan, shown};

use super::reader::NginxReader;
use super::server::ServerRead;
use super::server_tls::{Clients, NginxServerTls};
use super::tree::NginxWord;

impl NginxReader<'_, '_> {
    /// Returns the file of a certificate or key.
    pub(super) fn certificate_file(&mut self, word: &NginxWord) -> Option<NginxWord> {
        // The rest of the word may be a key, which must not be shown.
        if let Some(kind) =
            ["data:", "engine:", "store:"].into_iter().find(|kind| word.text.starts_with(kind))
        {
            let message = format!("certificates and keys must be files, not `{kind}`");
            self.refuse(word.place, message, "write the path of a PEM file");
            return None;
        }
        self.without_variables(word)
    }

    /// Returns the TLS settings of an address; problems are reported.
    pub(super) fn listener_tls(
        &mut self,
        address: &Address,
        servers: &[ServerRead],
    ) -> Option<ListenerTlsConfig> {
        let find = |index: &u32| {
            let at = servers.binary_search_by_key(index, |server| server.index);
            at.ok().and_then(|at| servers.get(at))
        };
        let default = find(&address.default)?;
        let own = &default.scope.tls;
        if own.chains.is_empty() && !own.is_rejecting {
            self.report
                .error(default.place, format!("the default server at {} has no certificate", address.text))
                .hint("for example `ssl_certificate site.crt; ssl_certificate_key site.key;`");
            return None;
        }
        let mut taken: HashSet<String> = HashSet::new();
        // The default server's certificates come first, for its own names and for those of no server.
        let mut groups: Vec<(&ServerRead, Vec<String>)> = Vec::new();
        let mut group_of: HashMap<[Vec<&str>; 2], usize> = HashMap::new();
        if !own.is_rejecting {
            groups.push((default, vec!["*".to_owned()]));
            group_of.insert(own.certificate_paths(), 0);
        }
        for server in address.servers.iter().filter_map(find) {
            let tls = &server.scope.tls;
            let hosts = hosts_of(&self.spec.servers[server.index as usize]);
            let is_as_default = !own.is_rejecting
                && (tls.chains.is_empty() || tls.certificate_paths() == own.certificate_paths());
            if !is_as_default && let Some(name) = hosts.unsupported {
                let message = format!("the name `{}` cannot select a certificate", shown(&name));
                self.refuse(
                    server.place,
                    message,
                    "give the server names without regular expressions, or its own address",
                );
            }
            if !tls.has_same_client_check(own) {
                let message =
                    "in eddy, all servers of an address need the same client certificate settings".to_owned();
                let hint = "put `ssl_verify_client` and `ssl_client_certificate` into `http`, or give the server its own address";
                self.report.error(server.place, message).hint(hint);
            }
            let hosts: Vec<String> =
                hosts.names.into_iter().filter(|host| taken.insert(host.clone())).collect();
            if tls.is_rejecting {
                if server.index != default.index {
                    let message = "eddy supports `ssl_reject_handshake` only in the default server";
                    self.refuse(server.place, message, "remove it from this server");
                }
                continue;
            }
            let same = if is_as_default {
                groups.first_mut()
            } else {
                group_of.get(&tls.certificate_paths()).and_then(|at| groups.get_mut(*at))
            };
            match same {
                Some((_, known)) => known.extend(hosts),
                None => {
                    group_of.insert(tls.certificate_paths(), groups.len());
                    groups.push((server, hosts));
                }
            }
        }
        let mut certificates = Vec::new();
        for (server, hosts) in groups {
            certificates.extend(self.certificates(server, &hosts));
        }
        if certificates.is_empty() {
            if !self.report.has_errors() {
                let message = format!("no server at {} has a certificate", address.text);
                self.report.error(default.place, message).hint("TLS needs a certificate");
            }
            return None;
        }
        let clients = self.clients(own, default.place);
        Some(ListenerTlsConfig {
            is_strict: own.is_rejecting,
            version_min: own.version_min,
            clients,
            ..ListenerTlsConfig::new(certificates)
        })
    }

    /// Returns the certificates of a server, each shown for these hosts.
    fn certificates(&mut self, server: &ServerRead, hosts: &[String]) -> Vec<CertificateFiles> {
        let tls = &server.scope.tls;
        if tls.chains.len() != tls.keys.len() {
            let place = tls.chains.first().map_or(server.place, |word| word.place);
            self.report
                .error(
                    place,
                    format!("the server has {} certificates and {} keys", tls.chains.len(), tls.keys.len()),
                )
                .hint("write an `ssl_certificate_key` for each `ssl_certificate`, in the same order");
            return Vec::new();
        }
        if let Some(ocsp) = tls.ocsp.as_ref().filter(|_| tls.chains.len() > 1) {
            self.report
                .error(ocsp.place, "`ssl_stapling_file` can't be combined with several certificates")
                .hint("leave it out, or keep one certificate");
        }
        let pairs = tls.chains.iter().zip(tls.keys.iter());
        let files = pairs.map(|(chain, key)| CertificateFiles {
            chain: self.written(chain),
            key: self.written(key),
            ocsp: tls.ocsp.as_ref().map(|ocsp| self.written(ocsp)),
            hosts: Some(hosts.to_vec()),
        });
        files.collect()
    }

    fn clients(&mut self, tls: &NginxServerTls, place: SourceSpan) -> Option<ClientCertificatesConfig> {
        if tls.clients == Clients::NotRequested {
            return None;
        }
        let Some(authorities) = &tls.authorities else {
            self.report
                .error(place, "`ssl_verify_client` needs `ssl_client_certificate`")
                .hint("write the file of the certificate authorities for client certificates");
            return None;
        };
        let authorities = self.written(authorities);
        let revoked = tls.revoked.as_ref().map(|revoked| self.written(revoked));
        Some(ClientCertificatesConfig { authorities, is_optional: tls.clients == Clients::Optional, revoked })
    }
}

/// Hosts of a server.
#[derive(Default)]
struct Hosts {
    /// Names by which a certificate can be chosen; `*.` and a domain match any number of labels.
    names: Vec<String>,
    /// Name by which none can be chosen.
    unsupported: Option<String>,
}

fn hosts_of(server: &ServerSpec) -> Hosts {
    let mut hosts = Hosts::default();
    for name in &server.names {
        match &name.form {
            NameForm::Exact(host) if host.is_empty() => {}
            NameForm::Exact(host) => hosts.names.push(host.to_string()),
            NameForm::Leading(end) => hosts.names.push(format!("*.{}", end.trim_start_matches('.'))),
            NameForm::Domain(domain) => hosts.names.extend([domain.to_string(), format!("*.{domain}")]),
            NameForm::Trailing(_) | NameForm::Pattern(_) => hosts.unsupported = Some(name.text.to_string()),
        }
    }
    hosts
}
