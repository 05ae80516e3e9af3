//! Certificates in Secrets, for tests of manifests.

use rcgen::{CertifiedKey, generate_simple_self_signed};

/// Returns a Secret with a certificate for `hosts`, as a document of a manifest.
pub(crate) fn secret(name: &str, hosts: &[&str]) -> String {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(hosts).unwrap();
    secret_of(name, &cert.pem(), &signing_key.serialize_pem())
}

/// Returns a Secret with a chain and a key in PEM, as a document of a manifest.
#[allow(dead_code, reason = "not every test that includes this file uses all of it")]
pub(crate) fn secret_of(name: &str, chain: &str, key: &str) -> String {
    let indented = |text: &str| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
    format!(
        "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\ntype: kubernetes.io/tls\nstringData:\n  tls.crt: |\n{}  tls.key: |\n{}",
        indented(chain),
        indented(key)
    )
}
