//! TLS of an `nginx.conf`: certificate selection in eddy and the real NGINX, and refused handshakes.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::peer::Nginx;
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::secure::{Authority, Issued, SecureClient};
use eddy_e2e::wire::within;
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Servers with certificates by server name: of the server, of `http`, or of the default server.
const SERVERS: &str = "\
    ssl_certificate DIR/common.crt;
    ssl_certificate_key DIR/common.key;
    ssl_session_tickets on;
    server {
        listen HERE ssl default_server;
        server_name first.test;
        ssl_certificate DIR/first.crt;
        ssl_certificate_key DIR/first.key;
        return 200 \"first $scheme $https\";
    }
    server {
        listen HERE ssl;
        server_name one.test .two.test;
        ssl_certificate DIR/second.crt;
        ssl_certificate_key DIR/second.key;
        return 200 second;
    }
    server { listen HERE; server_name *.wild.test; return 200 wild; }
    server {
        listen HERE;
        server_name own.wild.test one.test;
        ssl_certificate DIR/first.crt;
        ssl_certificate_key DIR/first.key;
        return 200 own;
    }
";

/// Requested server name, certificate shown, and responding server.
const SHOWN: [(&str, &str, &str); 9] = [
    ("first.test", "first", "first https on"),
    ("nobody.test", "first", "first https on"),
    ("one.test", "second", "second"),
    ("two.test", "second", "second"),
    ("a.two.test", "second", "second"),
    ("b.a.two.test", "second", "second"),
    ("a.wild.test", "common", "wild"),
    ("b.a.wild.test", "common", "wild"),
    ("own.wild.test", "first", "own"),
];

/// Certificates that each cover all names, so that only the selection by the server determines which one is shown.
struct Certificates {
    authority: Authority,
    clients: Authority,
    issued: Vec<(&'static str, Issued)>,
}

impl Certificates {
    fn new() -> Result<Self> {
        let authority = Authority::new("servers")?;
        let names = SHOWN.map(|(name, ..)| name);
        let issue = |name| Ok((name, authority.issue(&names)?));
        let issued = ["common", "first", "second"].into_iter().map(issue).collect::<Result<_>>()?;
        Ok(Self { issued, authority, clients: Authority::new("clients")? })
    }

    /// Writes all of them to a folder.
    fn folder(&self) -> Result<TempDir> {
        let folder = TempDir::new("certificates")?;
        self.issued.iter().try_for_each(|(name, issued)| issued.write(folder.path(), name))?;
        std::fs::write(folder.join("clients.pem"), self.clients.pem())?;
        Ok(folder)
    }

    fn trust(&self, own: Option<&Issued>) -> Result<Arc<ClientConfig>> {
        self.authority.trust(own, &[&TLS13, &TLS12])
    }

    /// Returns the certificate that a client with this server name is shown, and the responding server.
    async fn ask(&self, address: SocketAddr, name: &str) -> Result<(&'static str, String)> {
        let mut client = SecureClient::connect(address, &self.trust(None)?, name).await?;
        let shown = client.server_certificate().to_vec();
        let answer = client.exchange(format!("GET / HTTP/1.1\r\nHost: {name}\r\n\r\n")).await?;
        for (own, issued) in &self.issued {
            if CertificateDer::from_pem_slice(issued.chain.as_bytes())?.as_ref() == shown {
                return Ok((*own, answer.text()));
            }
        }
        anyhow::bail!("{name}: a certificate of somebody else's")
    }
}

/// Starts a gateway with these directives of `http`, in which `DIR` is replaced by the folder of the certificates.
async fn gateway(http: &str, folder: &TempDir) -> Result<TestGateway> {
    let http = http.replace("HERE", "LISTEN").replace("DIR", &folder.path().display().to_string());
    let config = format!("worker_processes 1;\nevents {{}}\nhttp {{\n{http}}}\n");
    TestGateway::launch(&config, Launch { file: Some("nginx.conf"), ..Launch::default() }).await
}

#[tokio::test]
async fn the_server_name_selects_the_certificate_as_in_nginx() -> Result<()> {
    let certificates = Certificates::new()?;
    let folder = certificates.folder()?;
    let gateway = gateway(SERVERS, &folder).await?;
    let there = place::fixed_address()?;
    let peer = Nginx::start(&SERVERS.replace("HERE", &there.to_string()), certificates.folder()?, there)?;
    for (name, certificate, text) in SHOWN {
        let expected = (certificate, text.to_owned());
        let ours = certificates.ask(gateway.address(), name).await?;
        ensure!(ours == expected, "{name}: {ours:?}");
        if peer.is_some() {
            let theirs = certificates.ask(there, name).await?;
            ensure!(theirs == expected, "{name}, NGINX: {theirs:?}");
        }
    }
    gateway.stop().await
}

#[tokio::test]
async fn unknown_server_names_are_rejected_where_configured() -> Result<()> {
    let certificates = Certificates::new()?;
    let folder = certificates.folder()?;
    let http = "\
        server { listen HERE ssl default_server; ssl_reject_handshake on; }
        server { listen HERE ssl; server_name one.test; ssl_certificate DIR/second.crt; ssl_certificate_key DIR/second.key; return 200 one; }
    ";
    let gateway = gateway(http, &folder).await?;
    let there = place::fixed_address()?;
    let peer = Nginx::start(&http.replace("HERE", &there.to_string()), certificates.folder()?, there)?;
    for address in [Some(gateway.address()), peer.is_some().then_some(there)].into_iter().flatten() {
        let served = certificates.ask(address, "one.test").await?;
        ensure!(served == ("second", "one".to_owned()), "{served:?}");
        let refused = certificates.ask(address, "two.test").await;
        let refused = format!("{:#}", refused.err().context("nobody has the name")?);
        // Each program sends a different alert.
        ensure!(refused.contains("UnrecognisedName") || refused.contains("AccessDenied"), "{refused}");
        let mut nameless = ClientConfig::clone(&*certificates.trust(None)?);
        nameless.enable_sni = false;
        let refused = SecureClient::connect(address, &Arc::new(nameless), "one.test").await;
        ensure!(refused.is_err(), "{address}: who asks for no name is served");
    }
    gateway.stop().await
}

/// Servers at four addresses: with TLS and in cleartext, each without and with HTTP/2.
const VERSIONS: &str = "\
    ssl_certificate DIR/common.crt;
    ssl_certificate_key DIR/common.key;
    server { listen HERE; return 200 plain; }
    server { listen CLEAR http2; return 200 clear; }
    server { listen SECURE ssl; return 200 secure; }
    server { listen NEW ssl http2; server_name one.test; return 200 new; }
    server { listen NEW ssl; server_name two.test; return 200 new; }
";

/// Whether a server responds to the HTTP/2 preface in cleartext.
async fn accepts_http2_preface(address: SocketAddr) -> Result<bool> {
    let mut stream = TcpStream::connect(address).await?;
    // Preface and an empty SETTINGS frame.
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await?;
    let mut head = [0; 4];
    let read = within("an answer", stream.read_exact(&mut head)).await?;
    // The fourth byte of a frame is its type; the server's first frame is SETTINGS.
    Ok(read.is_ok() && head[3] == 4)
}

#[tokio::test]
async fn http2_is_used_where_configured_as_in_nginx() -> Result<()> {
    let certificates = Certificates::new()?;
    let folder = certificates.folder()?;
    let mut trust = ClientConfig::clone(&*certificates.trust(None)?);
    trust.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let trust = Arc::new(trust);
    let free = || {
        Ok::<_, anyhow::Error>([place::fixed_address()?, place::fixed_address()?, place::fixed_address()?])
    };
    let fill = |text: &str, [clear, secure, new]: [SocketAddr; 3]| {
        let text = text.replace("CLEAR", &clear.to_string()).replace("SECURE", &secure.to_string());
        text.replace("NEW", &new.to_string())
    };
    let (ours, theirs, there) = (free()?, free()?, place::fixed_address()?);
    let gateway = gateway(&fill(VERSIONS, ours), &folder).await?;
    let text = fill(VERSIONS, theirs).replace("HERE", &there.to_string());
    let peer = Nginx::start(&text, certificates.folder()?, there)?;
    let mut asked = vec![(gateway.address(), ours)];
    asked.extend(peer.is_some().then_some((there, theirs)));
    for (plain, [clear, secure, new]) in asked {
        ensure!(!accepts_http2_preface(plain).await?, "{plain}: nobody has said that HTTP/2 is spoken");
        ensure!(accepts_http2_preface(clear).await?, "{clear}: `listen ... http2`");
        for (address, host, expected) in
            [(secure, "one.test", "http/1.1"), (new, "one.test", "h2"), (new, "two.test", "h2")]
        {
            let client = SecureClient::connect(address, &trust, host).await?;
            let agreed = String::from_utf8_lossy(client.protocol()).into_owned();
            ensure!(agreed == expected, "{address} {host}: {agreed}");
        }
    }
    // As NGINX does since 1.25.1: both versions in cleartext.
    let request = "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n";
    let mut old = TcpStream::connect(ours[0]).await?;
    old.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    within("an answer", old.read_to_string(&mut answer)).await??;
    ensure!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("clear"), "{answer}");
    gateway.stop().await
}

#[tokio::test]
async fn client_certificates_are_requested_where_configured() -> Result<()> {
    let certificates = Certificates::new()?;
    let folder = certificates.folder()?;
    let http = "\
        server {
            listen HERE ssl;
            ssl_certificate DIR/first.crt; ssl_certificate_key DIR/first.key;
            ssl_client_certificate DIR/clients.pem; ssl_verify_client on;
            ssl_protocols TLSv1.3;
            return 200 known;
        }
    ";
    let gateway = gateway(http, &folder).await?;
    let known = certificates.clients.issue_client("alice")?;
    let request = "GET / HTTP/1.1\r\nHost: one.test\r\n\r\n";
    for (own, is_served) in [(Some(&known), true), (None, false)] {
        let config = certificates.trust(own)?;
        let served = async {
            let mut client = SecureClient::connect(gateway.address(), &config, "one.test").await?;
            client.exchange(request).await
        };
        let served = served.await;
        let is_known = served.as_ref().is_ok_and(|answer| answer.status == 200 && answer.text() == "known");
        ensure!(is_known == is_served, "{served:?}");
    }
    let old = certificates.authority.trust(Some(&known), &[&TLS12])?;
    ensure!(SecureClient::connect(gateway.address(), &old, "one.test").await.is_err(), "1.3 alone is spoken");
    gateway.stop().await
}

#[tokio::test]
async fn connection_variables_are_those_of_nginx() -> Result<()> {
    let certificates = Certificates::new()?;
    let folder = certificates.folder()?;
    let http = "\
        server {
            listen HERE ssl http2;
            ssl_certificate DIR/first.crt; ssl_certificate_key DIR/first.key;
            ssl_client_certificate DIR/clients.pem; ssl_verify_client optional;
            ssl_protocols TLSv1.2 TLSv1.3;
            return 200 '$ssl_cipher $ssl_protocol $ssl_server_name <$ssl_alpn_protocol> $ssl_client_verify <$ssl_client_s_dn> <$ssl_early_data> <$http2> $realip_remote_addr';
        }
    ";
    let gateway = gateway(http, &folder).await?;
    let there = place::fixed_address()?;
    let peer = Nginx::start(&http.replace("HERE", &there.to_string()), certificates.folder()?, there)?;
    let known = certificates.clients.issue_client("alice")?;
    for address in [Some(gateway.address()), peer.is_some().then_some(there)].into_iter().flatten() {
        for (own, version, cipher, expected) in [
            (None, &TLS13, "TLS_", "TLSv1.3 one.test <http/1.1> NONE <> <> <> 127.0.0.1"),
            (Some(&known), &TLS13, "TLS_", "TLSv1.3 one.test <http/1.1> SUCCESS <CN=alice> <> <> 127.0.0.1"),
            (
                Some(&known),
                &TLS12,
                "ECDHE-",
                "TLSv1.2 one.test <http/1.1> SUCCESS <CN=alice> <> <> 127.0.0.1",
            ),
        ] {
            let mut config = ClientConfig::clone(&*certificates.authority.trust(own, &[version])?);
            config.alpn_protocols = vec![b"http/1.1".to_vec()];
            let mut client = SecureClient::connect(address, &Arc::new(config), "one.test").await?;
            let answer = client.exchange("GET / HTTP/1.1\r\nHost: one.test\r\n\r\n").await?.text();
            let (name, rest) = answer.split_once(' ').context("a cipher and the rest")?;
            ensure!(name.starts_with(cipher) && !name.contains("WITH"), "{address}: {answer}");
            ensure!(rest == expected, "{address}: {answer}");
        }
    }
    gateway.stop().await
}
