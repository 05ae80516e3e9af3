//! Findings of testssl.sh, when it is installed, for a listener with default settings.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::place::TempDir;
use eddy_e2e::secure::Authority;
use eddy_e2e::wire::within_for;
use serde_json::Value;
use tokio::process::Command;

const CONFIG: &str = "\
workers: 1
admin: {address: ADMIN}
listeners:
  - address: LISTEN
    routes: site
    tls: {certificates: [{chain: FOLDER/a.crt, key: FOLDER/a.key}]}
routes:
  site: [{respond: {status: 200, body: served}}]
";

/// Accepted findings, each with the reason.
const EXPECTED: [(&str, &str); 8] = [
    ("cipher_order", "every suite is strong, and the client knows whether it has hardware for AES"),
    ("OCSP_stapling", "the key `ocsp`; the authority of this test has nothing to say"),
    ("HSTS", "what a host promises for the time to come is for its owner to say"),
    ("security_headers", "fields for browsers are the application's"),
    ("DNS_CAArecord", "a record in DNS"),
    (
        "sessionresumption_ticket",
        "it leaves with the handshake, and misses now and then the ticket that follows",
    ),
    ("engine_problem", "the OpenSSL of this machine has no engine for GOST; eddy has no such suites"),
    ("cert_", "what a certificate says, and for how long it holds, is its authority's choice"),
];

#[tokio::test]
async fn testssl_finds_only_documented_exceptions() -> Result<()> {
    if !test_peers::all_present(&[test_peers::TESTSSL])? {
        return Ok(());
    }
    let folder = TempDir::new("testssl")?;
    let authority = Authority::new("servers")?;
    authority.issue(&["localhost"])?.write(folder.path(), "a")?;
    std::fs::write(folder.join("ca.pem"), authority.pem())?;
    let substitutes = vec![("FOLDER".to_owned(), folder.path().display().to_string())];
    let gateway = TestGateway::launch(CONFIG, Launch { substitutes, ..Launch::default() }).await?;
    let address = gateway.address();
    let mut testssl = Command::new(test_peers::testssl().context("testssl.sh is gone")?);
    // All checks except client simulations and a list of all suites, which find nothing and take half of the time.
    testssl.args(["--quiet", "--color", "0", "--warnings", "off", "-p", "-s", "-f", "-P", "-S", "-h", "-U"]);
    testssl.arg("--add-ca").arg(folder.join("ca.pem")).arg("--jsonfile").arg(folder.join("found.json"));
    testssl.args(["--ip", &address.ip().to_string(), &format!("localhost:{}", address.port())]);
    testssl.stdin(Stdio::null()).kill_on_drop(true);
    let output = within_for(TIME_MAX, "testssl.sh", testssl.output()).await??;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let found =
        std::fs::read(folder.join("found.json")).with_context(|| format!("it found nothing: {text}"))?;
    let found: Vec<Value> =
        serde_json::from_slice(&found).with_context(|| format!("what it found: {text}"))?;
    let is_good = |id: &str| {
        let severity = found.iter().find(|one| one["id"] == id).and_then(|one| one["severity"].as_str());
        matches!(severity, Some("OK"))
    };
    // The important checks have run.
    for id in ["SSLv3", "TLS1_2", "TLS1_3", "cipherlist_NULL", "heartbleed", "secure_renego"] {
        ensure!(is_good(id), "{id}: {text}");
    }
    let is_explained = |one: &&Value| {
        let severity = one["severity"].as_str().unwrap_or_default();
        let id = one["id"].as_str().unwrap_or_default();
        matches!(severity, "OK" | "INFO" | "DEBUG") || EXPECTED.iter().any(|(known, _)| id.starts_with(known))
    };
    let unexplained: Vec<&Value> = found.iter().filter(|one| !is_explained(one)).collect();
    ensure!(unexplained.is_empty(), "{unexplained:?}");
    gateway.stop().await
}

/// Time limit; a run takes half a minute on an idle machine.
const TIME_MAX: Duration = Duration::from_secs(400);
