//! Certificates in Secrets, for tests of what reads manifests.

use rcgen::{CertifiedKey, generate_simple_self_signed};

/// A Secret with a certificate for hosts, as a document of manifests.
pub(crate) fn secret(name: &str, hosts: &[&str]) -> String {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(hosts).unwrap();
    let indented = |text: String| text.lines().map(|line| format!("    {line}\n")).collect::<String>();
    format!(
        "---\napiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\ntype: kubernetes.io/tls\nstringData:\n  tls.crt: |\n{}  tls.key: |\n{}",
        indented(cert.pem()),
        indented(signing_key.serialize_pem())
    )
}
