//! Converts TLS settings to eddy.yaml.

use std::time::Duration;

use eddy_config::{CertificateFiles, ListenerTlsConfig};
use eddy_model::{ClusterTlsConfig, ServerCheck, TlsVersion, WrittenPath};
use serde_json::{Value, json};

use super::yaml::{put, time};

/// Converts the TLS settings of a cluster.
pub(super) fn cluster_tls_value(tls: &ClusterTlsConfig) -> Value {
    let mut own = json!({});
    if let Some(name) = &tls.server_name {
        own["server_name"] = name.to_string().into();
    }
    put(&mut own, "send_name", tls.sends_name, true, Value::from);
    if let Some(authorities) = &tls.authorities {
        own["authorities"] = file(authorities);
    }
    if let Some(identity) = &tls.identity {
        own["certificate"] = json!({"chain": file(&identity.chain), "key": file(&identity.key)});
    }
    match tls.check {
        ServerCheck::Full => {}
        ServerCheck::Authority => own["verify"] = "authority".into(),
        ServerCheck::Nothing => own["verify"] = "none".into(),
    }
    put(&mut own, "version_min", version_word(tls.version_min), "tls1.2", Value::from);
    own
}

/// Returns why the TLS settings of a cluster cannot be expressed; `None` if they can.
pub(super) fn unsupported_cluster_tls(tls: &ClusterTlsConfig) -> Option<&'static str> {
    let is_inline = tls.files().any(|file| file.text.is_some());
    is_inline.then_some("`tls` is left out: its certificates are in manifests, and eddy.yaml needs files")
}

/// Converts the TLS settings of a listener.
pub(super) fn listener_tls_value(tls: &ListenerTlsConfig) -> Value {
    let certificates: Vec<Value> = tls.certificates.iter().map(certificate_value).collect();
    let mut own = json!({"certificates": certificates});
    put(&mut own, "strict_names", tls.is_strict, false, Value::from);
    put(&mut own, "version_min", version_word(tls.version_min), "tls1.2", Value::from);
    if let Some(clients) = &tls.clients {
        own["clients"] = json!({"authorities": file(&clients.authorities)});
        put(&mut own["clients"], "optional", clients.is_optional, false, Value::from);
        if let Some(revoked) = &clients.revoked {
            own["clients"]["crl"] = file(revoked);
        }
    }
    put(&mut own, "handshake_timeout", tls.handshake_timeout, HANDSHAKE_TIMEOUT, time);
    own
}

/// Returns why the TLS settings of a listener cannot be expressed exactly; `None` if they can.
pub(super) fn unsupported_listener_tls(tls: &ListenerTlsConfig) -> Option<&'static str> {
    if tls.files().any(|file| file.text.is_some()) {
        return Some("its certificates are in manifests, and eddy.yaml needs files");
    }
    let is_shown_otherwise = |certificate: &CertificateFiles| {
        let for_all = |hosts: &[String]| tls.certificates.len() == 1 && hosts.iter().any(|host| host == "*");
        certificate.hosts.as_deref().is_some_and(|hosts| !for_all(hosts))
    };
    let is_by_host = tls.certificates.iter().any(is_shown_otherwise);
    is_by_host.then_some("in eddy.yaml a certificate is selected by the hosts that it contains")
}

fn certificate_value(certificate: &CertificateFiles) -> Value {
    let mut own = json!({"chain": file(&certificate.chain), "key": file(&certificate.key)});
    if let Some(ocsp) = &certificate.ocsp {
        own["ocsp"] = file(ocsp);
    }
    own
}

fn file(file: &WrittenPath) -> Value {
    file.path.display().to_string().into()
}

fn version_word(version: TlsVersion) -> &'static str {
    match version {
        TlsVersion::Tls12 => "tls1.2",
        TlsVersion::Tls13 => "tls1.3",
    }
}

/// Default in eddy.yaml.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);
