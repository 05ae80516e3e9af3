//! TCP forwarding: bytes, half-close and resets, endpoint selection, and the client address.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::secure::{Authority, SecureClient};
use eddy_e2e::wait::next_look;
use eddy_e2e::wire::within;
use rustix::process::Signal;
use rustls::version::{TLS12, TLS13};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

/// An endpoint whose connections are handled by the test.
struct TcpEndpoint {
    listener: TcpListener,
}

impl TcpEndpoint {
    async fn start() -> Result<Self> {
        Ok(Self { listener: TcpListener::bind("127.0.0.1:0").await? })
    }

    fn address(&self) -> Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }

    async fn accept(&self) -> Result<TcpStream> {
        Ok(within("a connection at the endpoint", self.listener.accept()).await??.0)
    }

    /// Whether no connection arrives for a while.
    async fn gets_no_connection(&self) -> bool {
        tokio::time::timeout(Duration::from_millis(200), self.listener.accept()).await.is_err()
    }
}

async fn gateway(listener: &str, clusters: &[(&str, SocketAddr)]) -> Result<TestGateway> {
    let clusters: String =
        clusters.iter().map(|(name, address)| format!("  {name}: {{endpoints: ['{address}']}}\n")).collect();
    let config = format!(
        "workers: 1\nadmin: {{address: ADMIN}}\nlisteners:\n  - address: LISTEN\n    name: it\n{listener}clusters:\n{clusters}"
    );
    TestGateway::launch(&config, Launch::default()).await
}

async fn connect(address: SocketAddr) -> Result<TcpStream> {
    Ok(within("a connection", TcpStream::connect(address)).await??)
}

async fn read_exactly(stream: &mut TcpStream, count: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    within("bytes", stream.read_exact(&mut bytes))
        .await?
        .with_context(|| format!("{count} bytes were due"))?;
    Ok(bytes)
}

async fn read_to_end(stream: &mut TcpStream) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    within("the end", stream.read_to_end(&mut bytes)).await??;
    Ok(bytes)
}

fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|index| u8::try_from((index * 31 + index / 251 + seed) % 256).unwrap_or(0)).collect()
}

#[tokio::test]
async fn bytes_pass_in_both_directions_and_each_closes_independently() -> Result<()> {
    let endpoint = TcpEndpoint::start().await?;
    let gateway = gateway("    forward: {cluster: db}\n", &[("db", endpoint.address()?)]).await?;
    let mut client = connect(gateway.address()).await?;
    let mut server = endpoint.accept().await?;
    // The endpoint may send first.
    server.write_all(b"220 hello\r\n").await?;
    ensure!(read_exactly(&mut client, 11).await? == b"220 hello\r\n");
    client.write_all(b"EHLO\r\n").await?;
    ensure!(read_exactly(&mut server, 6).await? == b"EHLO\r\n");
    // One side shuts down its sending direction, the other continues.
    client.shutdown().await?;
    ensure!(read_to_end(&mut server).await?.is_empty());
    server.write_all(b"still here").await?;
    drop(server);
    ensure!(read_to_end(&mut client).await? == b"still here");
    // The end may be visible to a peer before it is counted.
    gateway.until_metric("eddy_body_bytes_in_total{listener=\"it\"}", 6.0).await?;
    gateway.until_metric("eddy_body_bytes_out_total{listener=\"it\"}", 21.0).await?;
    ensure!(gateway.metric("eddy_faults_total").await? == 0.0);
    Ok(())
}

/// Bulk data goes through pipes, where a part of it waits while the other side does not read.
#[tokio::test]
async fn bulk_data_arrives_as_sent_at_any_pace() -> Result<()> {
    let endpoint = TcpEndpoint::start().await?;
    let gateway = gateway("    forward: {cluster: db}\n", &[("db", endpoint.address()?)]).await?;
    for (upload, download) in [(9_000_000, 12_345_678), (1, 5_000_000), (300_000, 0)] {
        let client = connect(gateway.address()).await?;
        let server = endpoint.accept().await?;
        let ((mut client_in, client_out), (mut server_in, server_out)) =
            (client.into_split(), server.into_split());
        let send = |bytes: Vec<u8>, mut to: tokio::net::tcp::OwnedWriteHalf| {
            tokio::spawn(async move {
                for piece in bytes.chunks(70_001) {
                    to.write_all(piece).await?;
                }
                to.shutdown().await
            })
        };
        let up = send(pattern(upload, 1), client_out);
        let down = send(pattern(download, 2), server_out);
        let (mut uploaded, mut downloaded) = (Vec::new(), Vec::new());
        // One side reads late: unread data must wait and not get lost.
        within("the upload", server_in.read_to_end(&mut uploaded)).await??;
        within("the download", client_in.read_to_end(&mut downloaded)).await??;
        within("the sender", up).await???;
        within("the sender", down).await???;
        ensure!(uploaded == pattern(upload, 1), "{} bytes of {upload} came up", uploaded.len());
        ensure!(downloaded == pattern(download, 2), "{} bytes of {download} came down", downloaded.len());
    }
    Ok(())
}

#[tokio::test]
async fn a_reset_is_forwarded_as_a_reset() -> Result<()> {
    let endpoint = TcpEndpoint::start().await?;
    let gateway = gateway("    forward: {cluster: db}\n", &[("db", endpoint.address()?)]).await?;
    for is_client in [true, false] {
        let mut client = connect(gateway.address()).await?;
        let mut server = endpoint.accept().await?;
        client.write_all(b"x").await?;
        read_exactly(&mut server, 1).await?;
        let (one, mut other) = if is_client { (client, server) } else { (server, client) };
        one.set_zero_linger()?;
        drop(one);
        let mut byte = [0];
        let end = within("the break", other.read(&mut byte)).await?;
        let kind = end.map_err(|error| error.kind());
        ensure!(kind == Err(std::io::ErrorKind::ConnectionReset), "{kind:?}");
    }
    gateway.until_metric("eddy_faults_total{listener=\"it\"", 2.0).await?;
    Ok(())
}

#[tokio::test]
async fn idle_connections_end_and_unreachable_endpoints_fail() -> Result<()> {
    let endpoint = TcpEndpoint::start().await?;
    let gone = place::closed_address();
    let keys = "    forward: {cluster: db}\n    timeouts: {idle: 1s}\n";
    let config = format!(
        "workers: 1\nadmin: {{address: ADMIN}}\nlisteners:\n  - address: LISTEN\n{keys}  - address: {}\n    forward: {{cluster: gone}}\nclusters:\n  db: {{endpoints: ['{gone}', '{}']}}\n  gone: {{endpoints: ['{gone}']}}\n",
        "GONE",
        endpoint.address()?
    );
    let closed = place::any_port();
    let substitutes = vec![("GONE".to_owned(), closed.to_string())];
    let gateway = TestGateway::launch(&config, Launch { substitutes, ..Launch::default() }).await?;
    let closed = gateway.bound(closed).await?;
    // Whichever endpoint is tried first, the reachable one is found.
    for _ in 0..4 {
        let mut client = connect(gateway.address()).await?;
        let mut server = endpoint.accept().await?;
        client.write_all(b"hello").await?;
        ensure!(read_exactly(&mut server, 5).await? == b"hello");
        let mut byte = [0];
        let end = within("the end of a silent connection", client.read(&mut byte)).await?;
        ensure!(!matches!(end, Ok(1..)), "{end:?}");
    }
    // The end may arrive before the kernel reports that the connection is established.
    if let Ok(mut client) = connect(closed).await {
        let end = within("the end of a connection to nobody", client.read(&mut [0])).await?;
        ensure!(!matches!(end, Ok(1..)), "{end:?}");
    }
    within("all faults", async {
        while gateway.metric("eddy_faults_total{listener=\"").await? < 5.0 {
            next_look().await;
        }
        anyhow::Ok(())
    })
    .await??;
    Ok(())
}

/// The server name of a TLS client is read in passing, and TLS remains end to end between client and endpoint.
#[tokio::test]
async fn the_sni_selects_the_cluster() -> Result<()> {
    let (exact, below, rest) =
        (TcpEndpoint::start().await?, TcpEndpoint::start().await?, TcpEndpoint::start().await?);
    let ways = "    forward:
      - {cluster: rest}
      - {cluster: below, server_names: ['*.example.com']}
      - {cluster: exact, server_names: [db.example.com]}
    timeouts: {head: 2s}
";
    let clusters = [("exact", exact.address()?), ("below", below.address()?), ("rest", rest.address()?)];
    let gateway = gateway(ways, &clusters).await?;
    let authority = Authority::new("servers")?;
    let trust = authority.trust(None, &[&TLS13, &TLS12])?;
    for (name, endpoint) in [
        ("db.example.com", &exact),
        ("a.b.example.com", &below),
        ("example.com", &rest),
        ("other.test", &rest),
    ] {
        let issued = authority.issue(&[name])?;
        let serve = async {
            let stream = endpoint.accept().await?;
            let mut secure = issued.accept(stream).await?;
            let mut bytes = [0; 5];
            secure.read_exact(&mut bytes).await?;
            secure.write_all(&bytes).await?;
            secure.shutdown().await?;
            anyhow::Ok(())
        };
        let ask = async {
            let mut client = SecureClient::connect(gateway.address(), &trust, name).await?;
            client.send(b"hello").await?;
            let (bytes, _) = client.read_to_end().await?;
            ensure!(bytes == b"hello", "{name}: {bytes:?}");
            anyhow::Ok(())
        };
        let (served, asked) = tokio::join!(serve, ask);
        served.with_context(|| format!("serving {name}"))?;
        asked?;
    }
    // A connection without TLS goes to the rule without a server name, including the bytes already read.
    let mut client = connect(gateway.address()).await?;
    client.write_all(b"hello there").await?;
    let mut server = rest.accept().await?;
    ensure!(read_exactly(&mut server, 11).await? == b"hello there");
    // A silent client times out.
    let mut silent = connect(gateway.address()).await?;
    ensure!(matches!(within("the end", silent.read(&mut [0])).await?, Ok(0) | Err(_)));
    ensure!(rest.gets_no_connection().await);
    Ok(())
}

#[tokio::test]
async fn tls_can_be_terminated() -> Result<()> {
    let endpoint = TcpEndpoint::start().await?;
    let authority = Authority::new("servers")?;
    let folder = TempDir::new("certificates")?;
    authority.issue(&["db.example.com"])?.write(folder.path(), "db")?;
    let keys = format!(
        "    forward: {{cluster: db, server_names: [db.example.com]}}\n    tls: {{certificates: [{{chain: {0}/db.crt, key: {0}/db.key}}]}}\n",
        folder.path().display()
    );
    let gateway = gateway(&keys, &[("db", endpoint.address()?)]).await?;
    let trust = authority.trust(None, &[&TLS13])?;
    let mut client = SecureClient::connect(gateway.address(), &trust, "db.example.com").await?;
    let mut server = endpoint.accept().await?;
    let sent = pattern(700_000, 3);
    let (asked, got) = tokio::join!(client.send(&sent), read_exactly(&mut server, sent.len()));
    asked?;
    ensure!(got? == sent);
    server.write_all(b"bye").await?;
    drop(server);
    let (bytes, _) = client.read_to_end().await?;
    ensure!(bytes == b"bye");
    Ok(())
}

/// One access log entry per connection, whatever its outcome, and none when the listener disables them.
#[tokio::test]
async fn connections_are_logged_at_their_end() -> Result<()> {
    let endpoint = TcpEndpoint::start().await?;
    let gone = place::closed_address();
    let (silent, closed) = (place::any_port(), place::any_port());
    let config = format!(
        "workers: 1\naccess_log: {{file: stdout, format: json}}\nlisteners:\n  - {{address: LISTEN, name: it, forward: {{cluster: db, server_names: ['*.test']}}, timeouts: {{head: 2s}}}}\n  - {{address: SILENT, forward: {{cluster: db}}, access_log: false}}\n  - {{address: CLOSED, name: closed, forward: {{cluster: gone}}}}\nadmin: {{address: ADMIN}}\nclusters:\n  db: {{endpoints: ['{}']}}\n  gone: {{endpoints: ['{gone}']}}\n",
        endpoint.address()?
    );
    let substitutes = [("SILENT", silent), ("CLOSED", closed)];
    let substitutes = substitutes.map(|(word, address)| (word.to_owned(), address.to_string())).to_vec();
    let gateway = TestGateway::launch(&config, Launch { substitutes, ..Launch::default() }).await?;
    let (silent, closed) = (gateway.bound(silent).await?, gateway.bound(closed).await?);
    let authority = Authority::new("servers")?;
    let issued = authority.issue(&["db.test"])?;
    let serve = async {
        let mut secure = issued.accept(endpoint.accept().await?).await?;
        secure.read_exact(&mut [0; 5]).await?;
        secure.shutdown().await?;
        anyhow::Ok(())
    };
    let ask = async {
        let trust = authority.trust(None, &[&TLS13])?;
        let mut client = SecureClient::connect(gateway.address(), &trust, "db.test").await?;
        client.send(b"hello").await?;
        client.read_to_end().await?;
        anyhow::Ok(())
    };
    let (served, asked) = tokio::join!(serve, ask);
    served?;
    asked?;
    gateway.lines().until("\"transport\":\"tcp\"", 1).await?;
    // A client without a server name, and one whose endpoint is unreachable.
    let mut nameless = connect(gateway.address()).await?;
    nameless.write_all(b"hello").await?;
    ensure!(matches!(within("the end", nameless.read(&mut [0])).await?, Ok(0) | Err(_)));
    // The end may arrive before the kernel reports that the connection is established.
    if let Ok(mut lost) = connect(closed).await {
        ensure!(matches!(within("the end", lost.read(&mut [0])).await?, Ok(0) | Err(_)));
    }
    gateway.lines().until("\"transport\":\"tcp\"", 3).await?;
    let mut unseen = connect(silent).await?;
    drop(endpoint.accept().await?);
    ensure!(matches!(within("the end", unseen.read(&mut [0])).await?, Ok(0) | Err(_)));
    // Forwarded connections end when both sides have closed.
    drop(unseen);
    let lines = gateway.lines().clone();
    gateway.stop().await?;
    let text = lines.text();
    let records: Vec<serde_json::Value> = text
        .lines()
        .filter(|line| line.contains("\"transport\""))
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    ensure!(records.len() == 3, "{records:?}");
    let whole = &records[0];
    ensure!(whole["server_name"] == "db.test" && whole["listener"] == "it", "{whole}");
    ensure!(whole["cluster"] == "db" && whole["attempts"] == 1, "{whole}");
    ensure!(whole["endpoint"] == endpoint.address()?.to_string(), "{whole}");
    ensure!(whole["bytes_in"].as_u64() > Some(200) && whole["bytes_out"].as_u64() > Some(200), "{whole}");
    ensure!(records[1]["reason"] == "no_rule" && records[1]["endpoint"] == "-", "{}", records[1]);
    ensure!(records[2]["reason"] == "connect_failed" && records[2]["cluster"] == "gone", "{}", records[2]);
    ensure!(
        records[2]["listener"] == "closed" && records[2]["endpoint"] == gone.to_string(),
        "{}",
        records[2]
    );
    Ok(())
}

/// The client address in the PROXY protocol, received from a proxy in front and passed on to the endpoint.
#[tokio::test]
async fn the_proxy_protocol_passes_the_client_address_to_the_endpoint() -> Result<()> {
    let endpoint = TcpEndpoint::start().await?;
    for version in ["v1", "v2"] {
        let keys = format!(
            "    forward: {{cluster: db, proxy_protocol: {version}}}\n    proxy_protocol: {{from: [127.0.0.2/32]}}\n    timeouts: {{head: 2s}}\n"
        );
        let gateway = gateway(&keys, &[("db", endpoint.address()?)]).await?;
        let listen = gateway.address();
        let from = |address: Ipv4Addr| async move {
            let socket = TcpSocket::new_v4()?;
            socket.bind((address, 0).into())?;
            within("a connection", socket.connect(listen)).await?.context("connect")
        };
        let proxy = Ipv4Addr::new(127, 0, 0, 2);
        // Cut at any position, as packets may be.
        let line = b"PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\nhello";
        for cut in [1, 10, 15, 43, 44, 46] {
            let mut client = from(proxy).await?;
            client.set_nodelay(true)?;
            client.write_all(&line[..cut]).await?;
            client.flush().await?;
            tokio::task::yield_now().await;
            client.write_all(&line[cut..]).await?;
            let mut server = endpoint.accept().await?;
            expect_client(&mut server, version, "192.0.2.7:4711", gateway.address()).await?;
            ensure!(read_exactly(&mut server, 5).await? == b"hello");
        }
        // A client that is not a trusted proxy cannot set its address.
        let mut client = connect(gateway.address()).await?;
        client.write_all(line).await?;
        let mut server = endpoint.accept().await?;
        let own = client.local_addr()?;
        expect_client(&mut server, version, &own.to_string(), gateway.address()).await?;
        ensure!(read_exactly(&mut server, line.len()).await? == line);
        // A proxy whose PROXY header is invalid or missing is disconnected.
        for said in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"PROXY TCP4 nonsense\r\n", b""] {
            let mut client = from(proxy).await?;
            client.write_all(said).await?;
            let end = within("the end", client.read(&mut [0])).await?;
            ensure!(matches!(end, Ok(0) | Err(_)), "{end:?}");
        }
        ensure!(endpoint.gets_no_connection().await);
        gateway.until_metric("eddy_proxy_protocol_rejected_total", 3.0).await?;
    }
    Ok(())
}

async fn expect_client(server: &mut TcpStream, version: &str, client: &str, local: SocketAddr) -> Result<()> {
    let client: SocketAddr = client.parse()?;
    let mut expected = Vec::new();
    match (version, client, local) {
        ("v1", client, local) => write!(
            expected,
            "PROXY TCP4 {} {} {} {}\r\n",
            client.ip(),
            local.ip(),
            client.port(),
            local.port()
        )?,
        (_, SocketAddr::V4(client), SocketAddr::V4(local)) => {
            expected.extend_from_slice(b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c");
            expected.extend_from_slice(&client.ip().octets());
            expected.extend_from_slice(&local.ip().octets());
            expected.extend_from_slice(&client.port().to_be_bytes());
            expected.extend_from_slice(&local.port().to_be_bytes());
        }
        _ => anyhow::bail!("addresses of this test are of IPv4"),
    }
    let got = read_exactly(server, expected.len()).await?;
    ensure!(got == expected, "{:?}", String::from_utf8_lossy(&got));
    Ok(())
}

/// Requests, too, have the client address from the PROXY protocol.
#[tokio::test]
async fn http_requests_use_the_client_address_of_the_proxy_protocol() -> Result<()> {
    let endpoint = TcpEndpoint::start().await?;
    let config = format!(
        "workers: 1\nadmin: {{address: ADMIN}}\nlisteners:\n  - address: LISTEN\n    routes: site\n    proxy_protocol: {{}}\nroutes:\n  site:\n    - cluster: origin\nclusters:\n  origin: {{endpoints: ['{}']}}\n",
        endpoint.address()?
    );
    let gateway = TestGateway::launch(&config, Launch::default()).await?;
    let mut client = connect(gateway.address()).await?;
    client.write_all(b"PROXY TCP6 2001:db8::7 ::1 4711 443\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    let mut server = endpoint.accept().await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.extend(read_exactly(&mut server, 1).await?);
    }
    let head = String::from_utf8(head)?.to_lowercase();
    ensure!(head.contains("x-forwarded-for: 2001:db8::7\r\n"), "{head}");
    server.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await?;
    ensure!(read_exactly(&mut client, 12).await? == b"HTTP/1.1 204");
    Ok(())
}

#[tokio::test]
async fn a_half_closed_connection_does_not_extend_the_drain() -> Result<()> {
    let endpoint = TcpEndpoint::start().await?;
    let address = endpoint.address()?;
    let config = format!(
        "workers: 1\ndrain_timeout: 500ms\nadmin: {{address: ADMIN}}\n\
         listeners: [{{address: LISTEN, forward: {{cluster: db}}, timeouts: {{idle: 1h}}}}]\n\
         clusters: {{db: {{endpoints: ['{address}']}}}}\n"
    );
    let mut gateway = TestGateway::launch(&config, Launch::default()).await?;
    let mut client = connect(gateway.address()).await?;
    client.write_all(b"bye").await?;
    client.shutdown().await?;
    let mut far = endpoint.accept().await?;
    ensure!(read_to_end(&mut far).await? == b"bye");
    let since = Instant::now();
    gateway.signal(Signal::TERM)?;
    gateway.exited(Duration::from_secs(10)).await?;
    ensure!(since.elapsed() >= Duration::from_millis(400), "it was there: {:?}", since.elapsed());
    Ok(())
}
