//! TLS towards clients: certificate selection, client certificates, and what a reload and a crash leave unchanged.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::{OriginScript, ScriptStep, TapOrigin, response};
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::secure::{Authority, Issued, SecureClient, SecureEnd, accept_any_certificate};
use eddy_e2e::wire::WireClient;
use rustix::process::{Signal, kill_process};
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version::{TLS12, TLS13};

const GET: &str = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n";

const CONFIG: &str = "\
workers: 1
admin: {address: ADMIN}
access_log: {file: stdout, format: json}
filters:
  describe:
    lua:
      source: |
        function envoy_on_request(h)
          local s, info = h:connection():ssl(), h:streamInfo()
          local subject = s:parsedSubjectPeerCertificate()
          local facts = { s:tlsVersion(), s:ciphersuiteString(), info:requestedServerName(),
            tostring(s:peerCertificatePresented()), s:subjectPeerCertificate(), subject and subject:commonName() or '' }
          h:headers():replace('x-tls', table.concat(facts, ' ') .. '.')
          local fresh = s:expirationPeerCertificate() > s:validFromPeerCertificate()
          h:headers():replace('x-certificate', #s:sha256PeerCertificateDigest() .. tostring(fresh))
        end
listeners:
  - address: LISTEN
    name: open
    routes: site
    tls: {certificates: [{chain: a.crt, key: a.key}, {chain: b.crt, key: b.key}], handshake_timeout: 400ms}
  - address: STRICT
    name: strict
    routes: site
    tls:
      certificates: [{chain: b.crt, key: b.key}]
      strict_names: true
      version_min: tls1.3
      clients: {authorities: clients.pem}
  - address: ASKING
    name: asking
    routes: site
    filters: [describe]
    tls: {certificates: [{chain: a.crt, key: a.key}], clients: {authorities: clients.pem, optional: true}}
routes:
  site:
    - match: {path: {exact: /elsewhere}}
      redirect: {host: b.test}
    - cluster: origin
clusters:
  origin: {endpoints: [ORIGIN]}
";

/// A gateway with certificates, and the authorities that clients trust.
struct TlsSetup {
    gateway: TestGateway,
    origin: TapOrigin,
    servers: Authority,
    clients: Authority,
    a: Issued,
    b: Issued,
    strict: SocketAddr,
    asking: SocketAddr,
    /// Folder of the certificates.
    folder: TempDir,
}

impl TlsSetup {
    async fn start() -> Result<Self> {
        Self::before(TapOrigin::start().await?).await
    }

    async fn before(origin: TapOrigin) -> Result<Self> {
        let (servers, clients) = (Authority::new("servers")?, Authority::new("clients")?);
        let (a, b) = (servers.issue(&["a.test"])?, servers.issue(&["b.test", "*.b.test"])?);
        let (strict, asking) = (place::any_port(), place::any_port());
        let folder = TempDir::new("certificates")?;
        a.write(folder.path(), "a")?;
        b.write(folder.path(), "b")?;
        std::fs::write(folder.join("clients.pem"), clients.pem())?;
        let config = CONFIG
            .replace("a.crt", "DIR/a.crt")
            .replace("a.key", "DIR/a.key")
            .replace("b.crt", "DIR/b.crt")
            .replace("b.key", "DIR/b.key")
            .replace("clients.pem", "DIR/clients.pem")
            .replace("DIR", &folder.path().display().to_string());
        let substitutes = vec![
            ("STRICT".to_owned(), strict.to_string()),
            ("ASKING".to_owned(), asking.to_string()),
            ("ORIGIN".to_owned(), origin.address().to_string()),
        ];
        let gateway = TestGateway::launch(&config, Launch { substitutes, ..Launch::default() }).await?;
        let (strict, asking) = (gateway.bound(strict).await?, gateway.bound(asking).await?);
        Ok(Self { gateway, origin, servers, clients, a, b, strict, asking, folder })
    }

    fn trust(&self) -> Result<Arc<ClientConfig>> {
        self.servers.trust(None, &[&TLS13, &TLS12])
    }

    async fn open(&self) -> Result<SecureClient> {
        SecureClient::connect(self.gateway.address(), &self.trust()?, "a.test").await
    }
}

fn der(issued: &Issued) -> Result<CertificateDer<'static>> {
    Ok(CertificateDer::from_pem_slice(issued.chain.as_bytes())?)
}

#[tokio::test]
async fn the_server_name_selects_the_certificate() -> Result<()> {
    let place = TlsSetup::start().await?;
    for (versions, host, expected) in
        [([&TLS13], "a.test", &place.a), ([&TLS12], "b.test", &place.b), ([&TLS13], "x.b.test", &place.b)]
    {
        let config = place.servers.trust(None, &versions)?;
        let mut client = SecureClient::connect(place.gateway.address(), &config, host).await?;
        ensure!(client.server_certificate() == der(expected)?.as_ref(), "{host}");
        let answer = client.exchange(GET).await?;
        ensure!(answer.status == 200, "{host}: {answer:?}");
    }
    // An unknown server name gets the first certificate, which does not match it.
    let stranger = SecureClient::connect(place.gateway.address(), &place.trust()?, "c.test").await;
    let error = format!("{:#}", stranger.err().context("it is not for c.test")?);
    ensure!(error.contains("NotValidForName") || error.contains("not valid for name"), "{error}");
    place.gateway.until_metric("eddy_tls_handshakes_total{listener=\"open\",outcome=\"full\"}", 3.0).await?;
    place.gateway.until_metric("eddy_tls_handshakes_total{listener=\"open\",outcome=\"alert\"}", 1.0).await?;
    place.gateway.stop().await
}

#[tokio::test]
async fn rejected_clients_get_a_tls_alert() -> Result<()> {
    let place = TlsSetup::start().await?;
    let known = place.clients.issue_client("alice")?;
    let forged = Authority::new("clients")?.issue_client("alice")?;
    for (host, own, versions, outcome, count) in [
        ("c.test", Some(&known), [&TLS13], "incompatible", 1.0),
        ("b.test", Some(&known), [&TLS12], "incompatible", 2.0),
        ("b.test", None, [&TLS13], "certificate", 1.0),
        ("b.test", Some(&forged), [&TLS13], "certificate", 2.0),
    ] {
        let config = place.servers.trust(own, &versions)?;
        let refused = async {
            let mut client = SecureClient::connect(place.strict, &config, host).await?;
            // In TLS 1.3 a client only learns with the first response that its certificate was rejected.
            client.exchange(GET).await
        };
        ensure!(refused.await.is_err(), "{host}, {outcome}");
        // The client may hear of it before it is counted.
        let series = format!("eddy_tls_handshakes_total{{listener=\"strict\",outcome=\"{outcome}\"}}");
        place.gateway.until_metric(&series, count).await?;
    }
    ensure!(place.origin.log().requests().is_empty(), "nobody was let in");
    let config = place.servers.trust(Some(&known), &[&TLS13])?;
    let mut client = SecureClient::connect(place.strict, &config, "b.test").await?;
    ensure!(client.exchange(GET).await?.status == 200);
    place.gateway.stop().await
}

#[tokio::test]
async fn the_upstream_gets_the_client_certificate() -> Result<()> {
    let place = TlsSetup::start().await?;
    let known = place.clients.issue_client("alice")?;
    let forging = "GET / HTTP/1.1\r\nHost: a.test\r\nX-Forwarded-Client-Cert: Hash=1;Subject=\"CN=bob\"\r\nX-Forwarded-Proto: http\r\n\r\n";
    for (own, expected) in [(Some(&known), ";Subject=\"CN=alice\""), (None, "")] {
        let config = place.servers.trust(own, &[&TLS13])?;
        let mut client = SecureClient::connect(place.asking, &config, "a.test").await?;
        ensure!(client.exchange(forging).await?.status == 200);
        let request = place.origin.log().requests().pop().context("a request")?;
        let certificate = request.fields.text("x-forwarded-client-cert");
        ensure!(request.fields.count("x-forwarded-client-cert") == usize::from(own.is_some()), "{request:?}");
        ensure!(certificate.ends_with(expected) && !certificate.contains("bob"), "{certificate}");
        ensure!(request.fields.text("x-forwarded-proto") == "https", "{request:?}");
        // A script reads the same.
        let (facts, certificate) = (request.fields.text("x-tls"), request.fields.text("x-certificate"));
        let is_known = own.is_some();
        ensure!(
            facts.starts_with("TLSv1.3 TLS_") && facts.contains(&format!(" a.test {is_known}")),
            "{facts}"
        );
        ensure!(facts.ends_with(if is_known { " CN=alice alice." } else { " false  ." }), "{facts}");
        ensure!(certificate == if is_known { "64true" } else { "0false" }, "{certificate}");
    }
    let moved = place.open().await?.exchange("GET /elsewhere HTTP/1.1\r\nHost: a.test\r\n\r\n").await?;
    ensure!(moved.fields.text("location") == "https://b.test/elsewhere", "{moved:?}");
    place.gateway.lines().until("\"tls_subject\":\"CN=alice\"", 1).await?;
    place.gateway.lines().until("\"tls\":\"TLSv1.3\"", 3).await?;
    place.gateway.stop().await
}

#[tokio::test]
async fn a_renewed_certificate_is_presented_without_closing_connections() -> Result<()> {
    let place = TlsSetup::start().await?;
    let mut before = place.open().await?;
    ensure!(before.exchange(GET).await?.status == 200);
    let renewed = place.servers.issue(&["a.test"])?;
    renewed.write(place.folder.path(), "a")?;
    place.gateway.lines().until("configuration reloaded", 1).await?;
    let after = place.open().await?;
    ensure!(after.server_certificate() == der(&renewed)?.as_ref());
    ensure!(before.exchange(GET).await?.status == 200, "an open connection stays");
    // An invalid certificate changes nothing.
    Issued { chain: renewed.chain.clone(), key: place.b.key.clone() }.write(place.folder.path(), "a")?;
    place.gateway.lines().until("the key does not belong to the first certificate", 1).await?;
    ensure!(place.open().await?.server_certificate() == der(&renewed)?.as_ref());
    ensure!(before.exchange(GET).await?.status == 200);
    place.gateway.stop().await
}

#[tokio::test]
async fn a_crash_while_the_files_are_broken_keeps_the_certificates() -> Result<()> {
    let place = TlsSetup::start().await?;
    Issued { chain: String::new(), key: String::new() }.write(place.folder.path(), "a")?;
    place.gateway.lines().until("configuration rejected", 1).await?;
    let child = *place.gateway.children()?.first().context("a child")?;
    kill_process(child, Signal::KILL)?;
    place.gateway.lines().until("the last good one stays in force", 2).await?;
    let mut client = place.open().await?;
    ensure!(client.server_certificate() == der(&place.a)?.as_ref());
    ensure!(client.exchange(GET).await?.status == 200);
    Ok(())
}

#[tokio::test]
async fn sessions_are_resumed_where_the_same_clients_are_accepted() -> Result<()> {
    let place = TlsSetup::start().await?;
    for versions in [[&TLS13], [&TLS12]] {
        let config = place.servers.trust(None, &versions)?;
        for is_resumed in [false, true] {
            let mut client = SecureClient::connect(place.gateway.address(), &config, "a.test").await?;
            ensure!(client.is_resumed() == is_resumed);
            // The tickets arrive with the response.
            ensure!(client.exchange(GET).await?.status == 200);
        }
        // The other listener requires client certificates, which a ticket of this one does not prove.
        let elsewhere = SecureClient::connect(place.asking, &config, "a.test").await?;
        ensure!(!elsewhere.is_resumed());
    }
    // A reload keeps the ticket keys.
    let config = place.trust()?;
    let mut client = SecureClient::connect(place.gateway.address(), &config, "a.test").await?;
    client.exchange(GET).await?;
    place.servers.issue(&["b.test"])?.write(place.folder.path(), "b")?;
    place.gateway.lines().until("configuration reloaded", 1).await?;
    let resumed = SecureClient::connect(place.gateway.address(), &config, "a.test").await?;
    ensure!(resumed.is_resumed());
    place.gateway.stop().await
}

#[tokio::test]
async fn a_revoked_certificate_is_rejected() -> Result<()> {
    const CONFIG: &str = "\
workers: 1
admin: {address: ADMIN}
listeners:
  - address: LISTEN
    routes: site
    tls:
      certificates: [{chain: FOLDER/a.crt, key: FOLDER/a.key}]
      clients: {authorities: FOLDER/clients.pem, crl: FOLDER/clients.crl}
routes: {site: [{respond: {status: 204}}]}
";
    let (servers, clients) = (Authority::new("servers")?, Authority::new("clients")?);
    let folder = TempDir::new("revoked")?;
    servers.issue(&["a.test"])?.write(folder.path(), "a")?;
    std::fs::write(folder.join("clients.pem"), clients.pem())?;
    std::fs::write(folder.join("clients.crl"), clients.revoked(&[2])?)?;
    let substitutes = vec![("FOLDER".to_owned(), folder.path().display().to_string())];
    let gateway = TestGateway::launch(CONFIG, Launch { substitutes, ..Launch::default() }).await?;
    let serve = async |config: &Arc<ClientConfig>| -> Result<u16> {
        let mut client = SecureClient::connect(gateway.address(), config, "a.test").await?;
        Ok(client.exchange(GET).await?.status)
    };
    for version in [&TLS13, &TLS12] {
        let config = |number| servers.trust(Some(&clients.issue_numbered_client(number)?), &[version]);
        ensure!(serve(&config(1)?).await? == 204);
        ensure!(serve(&config(2)?).await.is_err(), "{version:?}");
    }
    // An earlier session does not bypass the revocation, either.
    let config = servers.trust(Some(&clients.issue_numbered_client(3)?), &[&TLS13])?;
    ensure!(serve(&config).await? == 204);
    let next = folder.join("next");
    std::fs::write(&next, clients.revoked(&[2, 3])?)?;
    std::fs::rename(&next, folder.join("clients.crl"))?;
    gateway.lines().until("configuration reloaded", 1).await?;
    ensure!(serve(&config).await.is_err());
    gateway.stop().await
}

#[tokio::test]
async fn a_client_without_a_handshake_is_closed() -> Result<()> {
    let place = TlsSetup::start().await?;
    // Silence, an incomplete handshake, and another protocol.
    for (bytes, outcome) in [
        (&b""[..], "timeout"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "timeout"),
        (b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", "protocol"),
        (b"\x16\x03\x01\xff\xff\x01\x00\xff", "protocol"),
    ] {
        let series = format!("eddy_tls_handshakes_total{{listener=\"open\",outcome=\"{outcome}\"}}");
        let before = place.gateway.metric(&series).await?;
        let mut client = WireClient::connect(place.gateway.address()).await?;
        client.send(bytes).await?;
        client.end().await?;
        place.gateway.until_metric(&series, before + 1.0).await?;
    }
    ensure!(place.origin.log().requests().is_empty());
    ensure!(place.open().await?.exchange(GET).await?.status == 200);
    place.gateway.stop().await
}

#[tokio::test]
async fn bodies_are_complete_in_both_directions_over_tls() -> Result<()> {
    let origin = TapOrigin::with(|asked| {
        OriginScript::steps([ScriptStep::Send(response(200, "", &asked.request.body))])
    })
    .await?;
    let place = TlsSetup::before(origin).await?;
    let body: Vec<u8> =
        (0..3_000_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for versions in [[&TLS13], [&TLS12]] {
        let config = place.servers.trust(None, &versions)?;
        let mut client = SecureClient::connect(place.gateway.address(), &config, "a.test").await?;
        for _ in 0..2 {
            let mut request =
                format!("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: {}\r\n\r\n", body.len())
                    .into_bytes();
            request.extend_from_slice(&body);
            let answer = client.exchange(request).await?;
            ensure!(answer.status == 200 && answer.body == body);
        }
    }
    place.gateway.stop().await
}

#[tokio::test]
async fn a_close_notify_is_sent_unless_the_response_was_truncated() -> Result<()> {
    let origin = TapOrigin::with(|asked| match &*asked.request.target {
        b"/cut" => OriginScript::steps([
            ScriptStep::Send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n".to_vec()),
            ScriptStep::Reset,
        ]),
        _ => OriginScript::steps([ScriptStep::Send(response(200, "", "whole"))]),
    })
    .await?;
    let place = TlsSetup::before(origin).await?;
    let mut client = place.open().await?;
    let close = "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n";
    ensure!(client.exchange(close).await?.text() == "whole");
    ensure!(client.end().await? == SecureEnd::CloseNotify);
    let mut client = place.open().await?;
    client.send("GET /cut HTTP/1.1\r\nHost: a.test\r\n\r\n").await?;
    ensure!(client.end().await? == SecureEnd::Cut);
    place.gateway.stop().await
}

/// An X.509 version 1 certificate can be configured; a cluster without verification accepts it.
#[tokio::test]
async fn a_certificate_of_version_1_is_presented_and_accepted() -> Result<()> {
    const CONFIG: &str = "\
workers: 1
admin: {address: ADMIN}
listeners:
  - {address: LISTEN, routes: secure}
  - {address: OLD, routes: site, tls: {certificates: [{chain: CERTS/old.crt, key: CERTS/old.key}], version_min: VERSION}}
routes:
  secure: [{cluster: old}]
  site: [{cluster: origin}]
clusters:
  origin: {endpoints: [ORIGIN]}
  old: {endpoints: [OLD], tls: {server_name: a.test, verify: none}}
";
    let (origin, folder) = (TapOrigin::start().await?, TempDir::new("certificates")?);
    let issued = Issued::version_1();
    issued.write(folder.path(), "old")?;
    for (version, versions) in [("tls1.2", [&TLS12]), ("tls1.3", [&TLS13])] {
        let old = place::fixed_address()?;
        let substitutes = vec![
            ("OLD".to_owned(), old.to_string()),
            ("CERTS".to_owned(), folder.path().display().to_string()),
            ("VERSION".to_owned(), version.to_owned()),
            ("ORIGIN".to_owned(), origin.address().to_string()),
        ];
        let gateway = TestGateway::launch(CONFIG, Launch { substitutes, ..Launch::default() }).await?;
        let mut client = SecureClient::connect(old, &accept_any_certificate(&versions)?, "a.test").await?;
        ensure!(client.server_certificate() == der(&issued)?.as_ref(), "{version}");
        ensure!(client.exchange(GET).await?.status == 200, "{version}");
        ensure!(gateway.exchange(GET).await?.status == 200, "{version}");
        gateway.lines().until("the first certificate has no host in a subjectAltName", 1).await?;
        gateway.stop().await?;
    }
    Ok(())
}
