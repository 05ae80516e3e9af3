//! HTTP/2 towards endpoints: every combination of versions and transports, real endpoints, and one that violates the
//! protocol.

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eddy_e2e::framed::{ENDS, HEAD, Http2WireClient, block, bomb, frame, kind, repeated, request};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::go;
use eddy_e2e::http2_origin::{FrameReply, Http2Origin, ReceivedFrame};
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapOrigin, response};
use eddy_e2e::others;
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::secure::Authority;
use eddy_e2e::secure_origin::SecureOrigin;
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wait::{next_look, until_steady};
use eddy_e2e::wire::{WireClient, get, within, within_for};
use test_peers::{CURL_HTTP2, H2LOAD, NGINX_HTTP2, all_present};
use tokio::process::Command;

/// Runs a program that must succeed, and returns its output.
async fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let output = within_for(Duration::from_secs(60), program, command.output()).await?;
    let output = output.with_context(|| format!("cannot run {program}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    ensure!(output.status.success(), "{program} {arguments:?}: {}\n{text}", output.status);
    Ok(text)
}

/// A gateway in two parts: the front under test, behind it a listener with HTTP/2, and behind that an origin.
struct Http2GatewayChain {
    gateway: TestGateway,
    /// Address of the front with TLS.
    secure: SocketAddr,
    folder: TempDir,
}

const CHAIN: &str = "\
workers: 1
limits: {queue_delay: 0s}
drain_timeout: 300ms
admin: {address: ADMIN}
access_log: {file: stdout, format: json}
listeners:
  - {address: LISTEN, name: plain, routes: front}
  - {address: SECURE, name: secure, routes: front, tls: OWN}
  - {address: BACK, name: back, routes: back, access_log: false}
  - {address: BEHIND, name: behind, routes: back, tls: OWN, access_log: false}
routes:
  front:
    - {match: {path: {prefix: /plain1}}, rewrite: {prefix: /}, cluster: plain1}
    - {match: {path: {prefix: /plain2}}, rewrite: {prefix: /}, cluster: plain2}
    - {match: {path: {prefix: /tls1}}, rewrite: {prefix: /}, cluster: tls1}
    - {match: {path: {prefix: /tls2}}, rewrite: {prefix: /}, cluster: tls2}
    - {match: {path: {prefix: /auto}}, rewrite: {prefix: /}, cluster: auto}
  back: [{cluster: origin}]
clusters:
  plain1: {endpoints: [BACK]}
  plain2: {endpoints: [BACK], protocol: http2}
  tls1: {endpoints: [BEHIND], tls: TRUST}
  tls2: {endpoints: [BEHIND], tls: TRUST, protocol: http2}
  auto: {endpoints: [BEHIND], tls: TRUST, protocol: auto}
  origin: {endpoints: [ORIGIN]}
";

/// Clusters of [`CHAIN`], with the protocol version spoken to each.
const WAYS: [(&str, &str); 5] = [
    ("plain1", "HTTP/1.1"),
    ("plain2", "HTTP/2"),
    ("tls1", "HTTP/1.1"),
    ("tls2", "HTTP/2"),
    ("auto", "HTTP/2"),
];

impl Http2GatewayChain {
    async fn before(origin: &TapOrigin) -> Result<Self> {
        let authority = Authority::new("servers")?;
        let folder = TempDir::new("certificates")?;
        authority.issue(&["a.test"])?.write(folder.path(), "a")?;
        std::fs::write(folder.join("ca.pem"), authority.pem())?;
        let path = folder.path().display().to_string();
        let config = CHAIN
            .replace("OWN", "{certificates: [{chain: FOLDER/a.crt, key: FOLDER/a.key}]}")
            .replace("TRUST", "{server_name: a.test, authorities: FOLDER/ca.pem}")
            .replace("FOLDER", &path);
        let secure = place::any_port();
        let words = [
            ("SECURE", secure),
            ("BACK", place::fixed_address()?),
            ("BEHIND", place::fixed_address()?),
            ("ORIGIN", origin.address()),
        ];
        let substitutes = words.map(|(word, address)| (word.to_owned(), address.to_string())).to_vec();
        let gateway = TestGateway::launch(&config, Launch { substitutes, ..Launch::default() }).await?;
        let secure = gateway.bound(secure).await?;
        Ok(Self { gateway, secure, folder })
    }

    /// Returns curl's arguments for the front by version and transport, each with the base URL.
    fn fronts(&self) -> Vec<(Vec<String>, String)> {
        let plain = format!("http://{}", self.gateway.address());
        let trust = self.folder.join("ca.pem").display().to_string();
        let connect = format!("a.test:443:{}", self.secure);
        let secure = |version: &str| {
            let words = [version, "--cacert", &trust, "--connect-to", &connect];
            (words.map(str::to_owned).to_vec(), "https://a.test".to_owned())
        };
        vec![
            (vec!["--http1.1".to_owned()], plain.clone()),
            (vec!["--http2-prior-knowledge".to_owned()], plain),
            secure("--http1.1"),
            secure("--http2"),
        ]
    }
}

#[tokio::test]
async fn bodies_are_complete_between_all_versions_and_directions() -> Result<()> {
    if !all_present(&[CURL_HTTP2])? {
        return Ok(());
    }
    let origin = TapOrigin::with(|asked| OriginScript::send(response(200, "", &asked.request.body))).await?;
    let chain = Http2GatewayChain::before(&origin).await?;
    let (from, to) = (chain.folder.join("from"), chain.folder.join("to"));
    let (data, to_text) = (format!("@{}", from.display()), to.display().to_string());
    for bytes in [0, 1, 16_384, 65_535, 65_536, 65_537, 3_000_000_usize] {
        let body: Vec<u8> = (0..bytes).map(|at| u8::try_from(at * at % 251).unwrap_or(0)).collect();
        std::fs::write(&from, &body)?;
        for (front, base) in chain.fronts() {
            let front: Vec<&str> = front.iter().map(String::as_str).collect();
            for (way, _) in WAYS {
                let url = format!("{base}/{way}/");
                let more =
                    ["-sS", "--max-time", "30", "-H", "Expect:", "--data-binary", &data, "-o", &to_text];
                output("curl", &[&front[..], &more, &[url.as_str()]].concat()).await?;
                ensure!(std::fs::read(&to)? == body, "{bytes} bytes, {front:?}, {url}");
            }
        }
    }
    for (way, version) in WAYS {
        let line = format!("\"cluster\":\"{way}\",\"endpoint_version\":\"{version}\"");
        chain.gateway.lines().until(&line, 28).await?;
    }
    let links = "eddy_cluster_http2_connections_total{cluster=\"plain2\"}";
    ensure!(chain.gateway.metric(links).await? == 1.0, "all share one link");
    let requests = "eddy_cluster_http2_requests_total{cluster=\"tls2\"}";
    ensure!(chain.gateway.metric(requests).await? == 28.0);
    chain.gateway.stop().await
}

#[tokio::test]
async fn many_concurrent_requests_each_get_a_response() -> Result<()> {
    if !all_present(&[H2LOAD])? {
        return Ok(());
    }
    let origin = TapOrigin::start().await?;
    let chain = Http2GatewayChain::before(&origin).await?;
    for (way, _) in WAYS {
        let url = format!("http://{}/{way}/", chain.gateway.address());
        for version in [vec!["-m", "100"], vec!["--h1"]] {
            let heard =
                output("h2load", &[&["-n", "2000", "-c", "4"], &version[..], &[&url]].concat()).await?;
            ensure!(heard.contains("2000 succeeded, 0 failed"), "{way} {version:?}: {heard}");
        }
    }
    // 400 concurrent requests use no more links than necessary.
    let links = "eddy_cluster_http2_connections_total{cluster=\"plain2\"}";
    let count = chain.gateway.metric(links).await?;
    ensure!((4.0..=12.0).contains(&count), "{count} links");
    chain.gateway.stop().await
}

#[tokio::test]
async fn trailers_and_interim_responses_pass_between_all_versions() -> Result<()> {
    let origin = TapOrigin::with(|_| {
        let head = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        OriginScript::send(format!("{head}3\r\nabc\r\n0\r\nGrpc-Status: 0\r\n\r\n"))
    })
    .await?;
    let chain = Http2GatewayChain::before(&origin).await?;
    for (asked, way) in ["plain1", "plain2", "tls2"].into_iter().enumerate() {
        let mut client = Http2WireClient::connect(chain.gateway.address(), &[]).await?;
        let path = format!("/{way}/");
        client.frame(kind::HEADERS, HEAD, 1, &request("POST", &path, &[("te", "trailers")])).await?;
        client.frame(kind::DATA, 0, 1, b"hello").await?;
        client.frame(kind::HEADERS, ENDS, 1, &block(&[("x-sum", "1")])).await?;
        let interim = client.until("the interim head", |frame| frame.kind == kind::HEADERS).await?;
        ensure!(!interim.ends() && !interim.has_status(200), "{interim:?}");
        let head = client.until("the head", |frame| frame.has_status(200)).await?;
        ensure!(!head.ends());
        let data = client.until("the body", |frame| frame.kind == kind::DATA).await?;
        ensure!(data.payload == b"abc" && !data.ends(), "{data:?}");
        let trailers = client.until("trailers", |frame| frame.kind == kind::HEADERS).await?;
        ensure!(trailers.ends());
        // The exchange is repeated with an HTTP/1 client.
        let mut client = chain.gateway.client().await?;
        let text = format!(
            "POST {path} HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: TE\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n"
        );
        let answer = client.exchange(text).await?;
        ensure!(answer.status == 200 && answer.text() == "abc", "{answer:?}");
        ensure!(answer.trailers.text("grpc-status") == "0", "{answer:?}");
        let requests = origin.log().until_requests(2 * asked + 2).await?;
        for asked in requests.iter().rev().take(2) {
            ensure!(asked.body == b"hello" && asked.trailers.text("x-sum") == "1", "{way} {asked:?}");
            ensure!(asked.fields.text("te") == "trailers", "{asked:?}");
            ensure!(["a", "a.test"].contains(&&*asked.fields.text("host")), "{asked:?}");
        }
    }
    chain.gateway.stop().await
}

#[tokio::test]
async fn a_reset_of_one_side_is_forwarded_to_the_other() -> Result<()> {
    let gate = Gate::default();
    let waits = gate.clone();
    let origin = TapOrigin::with(move |asked| match asked.request.target_text().as_str() {
        "/cut" => OriginScript::steps([
            ScriptStep::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".to_vec()),
            ScriptStep::Reset,
        ]),
        "/early" => OriginScript::at_head([ScriptStep::Send(response(200, "", "no"))]),
        _ => OriginScript::at_head([ScriptStep::AwaitGate(waits.clone())]),
    })
    .await?;
    let chain = Http2GatewayChain::before(&origin).await?;
    for way in ["plain2", "tls2"] {
        let mut client = Http2WireClient::connect(chain.gateway.address(), &[]).await?;
        client.frame(kind::HEADERS, ENDS, 1, &request("GET", &format!("/{way}/cut"), &[])).await?;
        let reset = client.until("a reset", |frame| frame.kind == kind::RST_STREAM).await?;
        ensure!((reset.stream, reset.number(0)) == (1, 2), "{reset:?}");
        // A stream that a client cancels is cancelled at the endpoint, and the link stays open.
        client.frame(kind::HEADERS, ENDS, 3, &request("GET", &format!("/{way}/wait"), &[])).await?;
        chain.gateway.until_metric("eddy_worker_exchanges", 2.0).await?;
        client.frame(kind::RST_STREAM, 0, 3, &[0, 0, 0, 8]).await?;
        chain.gateway.until_metric("eddy_worker_exchanges", 0.0).await?;
        // A response before the end of the request is forwarded.
        client.frame(kind::HEADERS, HEAD, 5, &request("POST", &format!("/{way}/early"), &[])).await?;
        client.until("the answer", |frame| frame.stream == 5 && frame.ends()).await?;
        let links = format!("eddy_cluster_http2_connections_total{{cluster=\"{way}\"}}");
        ensure!(chain.gateway.metric(&links).await? == 1.0, "{way}");
    }
    gate.open();
    chain.gateway.stop().await
}

/// Returns a response head with these fields.
fn answer(stream: u32, flags: u8, fields: &[(&str, &str)]) -> Vec<u8> {
    frame(kind::HEADERS, flags, stream, &block(fields))
}

fn ok(stream: u32) -> Vec<u8> {
    [answer(stream, HEAD, &[(":status", "200")]), frame(kind::DATA, 1, stream, b"served")].concat()
}

/// Starts a gateway in front of an HTTP/2 endpoint, with these additional keys of the cluster.
async fn gateway_before(origin: &Http2Origin, keys: &[&str]) -> Result<TestGateway> {
    let tap = TapOrigin::start().await?;
    let mut site = GatewayConfigBuilder::new()
        .without_default_rule()
        .top("access_log: {file: stdout, format: json}")
        .rule("{cluster: framed, retry: {attempts: 1}}")
        .with("FRAMED", origin.address());
    let keys = keys.join(", ");
    site = site.another_cluster(&format!("framed: {{endpoints: [FRAMED], protocol: http2, {keys}}}"));
    site.before(&tap).await
}

fn is_head(heard: &ReceivedFrame) -> bool {
    heard.frame.kind == kind::HEADERS
}

#[tokio::test]
async fn unprocessed_requests_are_retried_after_goaway() -> Result<()> {
    type Refusal = fn(u32) -> FrameReply;
    let refusals: [(Refusal, &str); 3] = [
        // GOAWAY with a last stream before this one.
        (|_| FrameReply::bytes(frame(kind::GOAWAY, 0, 0, &[0; 8])), "goaway"),
        (|_| FrameReply::last(frame(kind::GOAWAY, 0, 0, &[0; 8])), "goaway and the end"),
        (|stream| FrameReply::bytes(frame(kind::RST_STREAM, 0, stream, &[0, 0, 0, 7])), "refused"),
    ];
    for (refusal, name) in refusals {
        let refused = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&refused);
        let origin = Http2Origin::with(&[], move |heard| match is_head(heard) {
            true if count.fetch_add(1, Ordering::SeqCst) == 0 => refusal(heard.frame.stream),
            true => FrameReply::bytes(ok(heard.frame.stream)),
            false => FrameReply::nothing(),
        })
        .await?;
        let gateway = gateway_before(&origin, &[]).await?;
        // A POST, which may not be repeated in general, but may be here.
        let answer = gateway.exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").await?;
        ensure!(answer.status == 200 && answer.text() == "served", "{name}: {answer:?}");
        ensure!(refused.load(Ordering::SeqCst) == 2, "{name}");
        gateway.stop().await?;
    }
    Ok(())
}

/// A batch of access log entries has no client that would give up.
#[tokio::test]
async fn an_endpoint_that_sends_goaway_on_every_link_is_not_retried_endlessly() -> Result<()> {
    let framed = Http2Origin::with(&[], |heard| match is_head(heard) {
        true => FrameReply::last(frame(kind::GOAWAY, 0, 0, &[0; 8])),
        false => FrameReply::nothing(),
    })
    .await?;
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .top("access_log: {grpc: {cluster: framed, interval: 100ms}}")
        .another_cluster("framed: {endpoints: [FRAMED], protocol: http2}")
        .with("FRAMED", framed.address())
        .before(&origin)
        .await?;
    assert_eq!(gateway.exchange(get("/", "")).await?.status, 200);
    gateway.until_metric("eddy_access_log_batches_failed_total", 1.0).await?;
    let asked = framed.heard().iter().filter(|heard| is_head(heard)).count();
    // Once, and ten retries; another round may have begun after the pause.
    ensure!((11..=22).contains(&asked), "asked {asked} times");
    gateway.stop().await
}

#[tokio::test]
async fn an_endpoint_with_heads_out_of_proportion_loses_its_link() -> Result<()> {
    // The header of 3.9 KB comes with the first response of a link, and is referenced 16 times in each: 60 KB for a few
    // bytes.
    let status = [(":status", "200")];
    let origin = Http2Origin::with(&[], move |heard| match is_head(heard) {
        true if heard.frame.stream == 1 => {
            FrameReply::bytes(frame(kind::HEADERS, ENDS, 1, &bomb(&status, 14)))
        }
        true => FrameReply::bytes(frame(kind::HEADERS, ENDS, heard.frame.stream, &repeated(&status, 15))),
        false => FrameReply::nothing(),
    })
    .await?;
    let gateway = gateway_before(&origin, &[]).await?;
    let mut statuses = Vec::new();
    for _ in 0..12 {
        statuses.push(gateway.exchange(get("/", "")).await?.status);
    }
    let served = statuses.iter().filter(|status| **status == 200).count();
    ensure!(served >= 1 && statuses.iter().all(|status| matches!(status, 200 | 502)), "{statuses:?}");
    let broken = gateway.metric("eddy_cluster_http2_connections_failed_total{cluster=\"framed\"}").await?;
    ensure!(broken >= 2.0, "{broken} links of 12 requests {statuses:?}");
    gateway.stop().await
}

#[tokio::test]
async fn possibly_processed_requests_are_not_retried() -> Result<()> {
    type End = fn(u32) -> FrameReply;
    let ends: [(End, &str); 5] = [
        (|_| FrameReply::last(Vec::new()), "upstream_closed"),
        (|stream| FrameReply::bytes(frame(kind::RST_STREAM, 0, stream, &[0, 0, 0, 2])), "stream_reset"),
        (|stream| FrameReply::bytes(answer(stream, ENDS, &[(":status", "2xx")])), "response_frames"),
        (|stream| FrameReply::bytes(frame(kind::PUSH_PROMISE, 4, stream, &[0, 0, 0, 2])), "response_frames"),
        (
            |stream| {
                let head = answer(stream, HEAD, &[(":status", "200"), ("content-length", "9")]);
                FrameReply::last([head, frame(kind::DATA, 0, stream, b"abc")].concat())
            },
            "response_cut",
        ),
    ];
    for (end, reason) in ends {
        let origin = Http2Origin::with(&[], move |heard| match is_head(heard) {
            true => end(heard.frame.stream),
            false => FrameReply::nothing(),
        })
        .await?;
        let gateway = gateway_before(&origin, &["ejection: {failures: 0}"]).await?;
        let mut client = gateway.client().await?;
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n").await?;
        if reason != "response_cut" {
            ensure!(client.answer("POST").await?.response.status == 502, "{reason}");
        }
        gateway.lines().until(&format!("\"reason\":\"{reason}\""), 1).await?;
        let asked = origin.heard().iter().filter(|heard| is_head(heard)).count();
        ensure!(asked == 1, "{reason}: asked {asked} times");
        gateway.stop().await?;
    }
    Ok(())
}

#[tokio::test]
async fn an_endpoint_without_http2_is_reported() -> Result<()> {
    // An HTTP/1 endpoint in cleartext; over TLS one that refuses the ALPN protocol, and one without ALPN.
    let origin = TapOrigin::start().await?;
    let authority = Authority::new("servers")?;
    let own = authority.issue(&["a.test"])?;
    let other = SecureOrigin::speaking(origin.address(), &own, &[b"http/1.1"]).await?;
    let silent = SecureOrigin::speaking(origin.address(), &own, &[]).await?;
    let folder = TempDir::new("certificates")?;
    std::fs::write(folder.join("ca.pem"), authority.pem())?;
    let tls = format!("{{server_name: a.test, authorities: {}}}", folder.join("ca.pem").display());
    let gateway = GatewayConfigBuilder::new()
        .top("access_log: {file: stdout, format: json}")
        .rule("{match: {path: {prefix: /plain}}, cluster: plain}")
        .rule("{match: {path: {prefix: /other}}, cluster: other}")
        .rule("{match: {path: {prefix: /silent}}, cluster: silent}")
        .rule("{match: {path: {prefix: /auto}}, cluster: auto}")
        .another_cluster("plain: {endpoints: [ORIGIN], protocol: http2}")
        .another_cluster("other: {endpoints: [OTHER], protocol: http2, tls: TLS}")
        .another_cluster("silent: {endpoints: [SILENT], protocol: http2, tls: TLS}")
        .another_cluster("auto: {endpoints: [SILENT], protocol: auto, tls: TLS}")
        .with("OTHER", other.address())
        .with("SILENT", silent.address())
        .with("TLS", tls)
        .before(&origin)
        .await?;
    for (path, reason) in
        [("/plain", "upstream_protocol"), ("/other", "tls_alert"), ("/silent", "tls_incompatible")]
    {
        ensure!(gateway.exchange(get(path, "")).await?.status == 502, "{path}");
        gateway.lines().until(&format!("\"reason\":\"{reason}\""), 1).await?;
    }
    gateway.lines().until("an endpoint does not speak HTTP/2", 1).await?;
    ensure!(origin.log().requests().is_empty(), "nobody was asked anything");
    // With `protocol: auto`, the endpoint's own version is used.
    for _ in 0..3 {
        ensure!(gateway.exchange(get("/auto", "")).await?.status == 200);
    }
    gateway.lines().until("\"cluster\":\"auto\",\"endpoint_version\":\"HTTP/1.1\"", 3).await?;
    gateway.stop().await
}

#[tokio::test]
async fn concurrent_streams_respect_the_limit_of_the_endpoint() -> Result<()> {
    let gate = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&gate);
    // Two concurrent streams per connection; responses come once there are six requests in total.
    let origin = Http2Origin::with(&[0, 3, 0, 0, 0, 2], move |heard| {
        if !is_head(heard) {
            return FrameReply::nothing();
        }
        count.fetch_add(1, Ordering::SeqCst);
        FrameReply::nothing()
    })
    .await?;
    let gateway = gateway_before(&origin, &["connections_per_endpoint: 3"]).await?;
    let mut clients = Vec::new();
    for _ in 0..6 {
        let mut client = gateway.client().await?;
        client.send(get("/", "")).await?;
        clients.push(client);
    }
    let heard = origin
        .until("six requests", |heard| heard.iter().filter(|heard| is_head(heard)).count() == 6)
        .await?;
    for connection in 0..3 {
        let own = heard.iter().filter(|heard| is_head(heard) && heard.connection == connection).count();
        ensure!(own == 2, "{own} on connection {connection}");
    }
    // There is no capacity for a seventh.
    ensure!(gateway.exchange(get("/", "")).await?.status == 503);
    gateway.lines().until("\"reason\":\"connections_exhausted\"", 1).await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_slow_client_blocks_only_its_own_stream() -> Result<()> {
    let origin = TapOrigin::with(|asked| match asked.request.target_text().as_str() {
        "/large" => OriginScript::send(response(200, "", vec![7; 40_000_000])),
        _ => OriginScript::send(response(200, "", "small")),
    })
    .await?;
    let chain = Http2GatewayChain::before(&origin).await?;
    let before = memory(&chain.gateway)?;
    let mut slow = Vec::new();
    for _ in 0..20 {
        let mut client = chain.gateway.client().await?;
        client.send(get("/plain2/large", "")).await?;
        slow.push(client);
    }
    origin.log().until_requests(20).await?;
    until_steady("memory that grows no more", async || memory(&chain.gateway)).await?;
    // Other requests on the same link are served meanwhile.
    for _ in 0..20 {
        let answer = chain.gateway.exchange(get("/plain2/small", "")).await?;
        ensure!(answer.text() == "small");
    }
    let links = "eddy_cluster_http2_connections_total{cluster=\"plain2\"}";
    ensure!(chain.gateway.metric(links).await? == 1.0);
    // A window and a buffer for each response in the front, and the same in the back. On a busy machine the windows of the
    // connection can have grown by twice the largest window of a stream.
    let held = memory(&chain.gateway)?.saturating_sub(before);
    ensure!(held < (20 + 2 * 16) * 1024 * 1024, "{held} bytes are held for clients that read nothing");
    drop(slow);
    chain.gateway.until_metric("eddy_worker_exchanges", 0.0).await?;
    chain.gateway.stop().await
}

/// Waits until the address accepts connections.
async fn until_listening(address: SocketAddr) -> Result<()> {
    within("somebody who listens", async {
        while WireClient::connect(address).await.is_err() {
            next_look().await;
        }
    })
    .await
}

/// Returns the memory of the gateway's child process, bytes.
fn memory(gateway: &TestGateway) -> Result<u64> {
    let child = gateway.children()?.first().copied().context("a child")?;
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.as_raw_nonzero()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
    Ok(line.split_whitespace().next().context("a number")?.parse::<u64>()? * 1024)
}

#[tokio::test]
async fn idle_links_send_goaway_and_worn_out_ones_are_replaced() -> Result<()> {
    let origin = Http2Origin::with(&[], |heard| match is_head(heard) {
        true => FrameReply::bytes(ok(heard.frame.stream)),
        false => FrameReply::nothing(),
    })
    .await?;
    let gateway = gateway_before(&origin, &["pool: {requests: 2, idle_timeout: 100ms}"]).await?;
    for _ in 0..3 {
        ensure!(gateway.exchange(get("/", "")).await?.status == 200);
    }
    let goodbyes =
        |heard: &[ReceivedFrame]| heard.iter().filter(|heard| heard.frame.kind == kind::GOAWAY).count();
    let heard = origin.until("two goodbyes", |heard| goodbyes(heard) == 2).await?;
    let connections: Vec<usize> =
        heard.iter().filter(|heard| is_head(heard)).map(|heard| heard.connection).collect();
    ensure!(connections == [0, 0, 1], "{connections:?}");
    gateway.until_metric("eddy_cluster_connections{cluster=\"framed\"}", 0.0).await?;
    gateway.stop().await
}

#[tokio::test]
async fn repeated_goaways_of_an_endpoint_lose_nothing() -> Result<()> {
    if !all_present(&[H2LOAD])? {
        return Ok(());
    }
    // eddy itself as the back, which closes each connection after a number of requests, with an announcement.
    let origin = TapOrigin::start().await?;
    let back =
        GatewayConfigBuilder::new().listener("limits: {requests_per_connection: 50}").before(&origin).await?;
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .rule("{cluster: back}")
        .another_cluster("back: {endpoints: [BACK], protocol: http2}")
        .with("BACK", back.address())
        .before(&origin)
        .await?;
    let url = format!("http://{}/", gateway.address());
    let heard = output("h2load", &["-n", "5000", "-c", "4", "-m", "20", &url]).await?;
    ensure!(heard.contains("5000 succeeded, 0 failed") && heard.contains("5000 2xx"), "{heard}");
    let links = gateway.metric("eddy_cluster_http2_connections_total{cluster=\"back\"}").await?;
    ensure!(links >= 20.0, "{links} links");
    gateway.stop().await?;
    back.stop().await
}

#[tokio::test]
async fn nginx_is_used_over_http2_while_it_closes_connections() -> Result<()> {
    if !all_present(&[NGINX_HTTP2, H2LOAD])? {
        return Ok(());
    }
    let folder = TempDir::new("nginx")?;
    let listen = place::fixed_address()?;
    let path = folder.path().display().to_string();
    std::fs::write(folder.join("large"), vec![b'x'; 1_000_000])?;
    let config = format!(
        "daemon off; master_process off; error_log stderr; pid {path}/pid; events {{}}\n\
         http {{ access_log off; client_body_temp_path {path}/a; proxy_temp_path {path}/b; fastcgi_temp_path {path}/c;\n\
         uwsgi_temp_path {path}/d; scgi_temp_path {path}/e;\n\
         server {{ listen {listen} http2; keepalive_requests 300; root {path};\n\
         location / {{ return 200 \"$server_protocol $host $request_uri\"; }} location = /large {{ }} }} }}\n"
    );
    std::fs::write(folder.join("nginx.conf"), config)?;
    let mut command = Command::new(test_peers::program("nginx").context("NGINX has ended")?);
    command.args(["-p", &path, "-c", &format!("{path}/nginx.conf")]).stdin(Stdio::null()).kill_on_drop(true);
    let _nginx = command.spawn().context("cannot run nginx")?;
    until_listening(listen).await?;
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .rule("{cluster: nginx}")
        .another_cluster("nginx: {endpoints: [NGINX], protocol: http2}")
        .with("NGINX", listen)
        .before(&origin)
        .await?;
    let answer = gateway.exchange(get("/a?b", "")).await?;
    ensure!(answer.text() == "HTTP/2.0 a.test /a?b", "{answer:?}");
    ensure!(gateway.exchange(get("/large", "")).await?.body.len() == 1_000_000);
    let url = format!("http://{}/", gateway.address());
    let heard = output("h2load", &["-n", "3000", "-c", "4", "-m", "10", &url]).await?;
    ensure!(heard.contains("3000 succeeded, 0 failed") && heard.contains("3000 2xx"), "{heard}");
    gateway.stop().await
}

#[tokio::test]
async fn a_go_server_is_used_over_http2() -> Result<()> {
    let folder = TempDir::new("h2c")?;
    let program = go::build("tests/e2e/data/h2c", ".", go::Into::Program, &folder.join("h2c"))?;
    let Some(program) = program else { return Ok(()) };
    let mut command = Command::new(program);
    command.arg(place::any_port().to_string()).stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut server = command.spawn()?;
    let (listen, _) = others::listening(&mut server).await?;
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .rule("{cluster: go}")
        .another_cluster("go: {endpoints: [GO], protocol: http2}")
        .with("GO", listen)
        .before(&origin)
        .await?;
    let mut client = gateway.client().await?;
    for bytes in [0, 1, 5_000, 100_000, 20_000_000_usize] {
        let body: Vec<u8> = (0..bytes).map(|at| u8::try_from(at * at % 251).unwrap_or(0)).collect();
        let head = "POST /x HTTP/1.1\r\nHost: a.test\r\nTE: trailers\r\nConnection: TE\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n";
        let chunk = if bytes == 0 { String::new() } else { format!("{bytes:x}\r\n") };
        let end: &[u8] = if bytes == 0 { b"" } else { b"\r\n" };
        let tail = b"0\r\nX-Sum: 42\r\n\r\n";
        client.send([head.as_bytes(), chunk.as_bytes(), &body, end, tail].concat()).await?;
        let answer = client.answer("POST").await?.response;
        ensure!(answer.status == 200 && answer.body == body, "{bytes}: {} bytes", answer.body.len());
        ensure!(answer.fields.text("x-proto") == "HTTP/2.0 a.test trailers", "{:?}", answer.fields);
        // Go sends the length of a small body; HTTP/1 allows no trailers after such a body.
        let has_length = !answer.fields.text("content-length").is_empty();
        ensure!(has_length || answer.trailers.text("x-sum") == "42", "{bytes}: {:?}", answer.trailers);
        ensure!(has_length == (bytes < 5_000), "{bytes}: {:?}", answer.fields);
    }
    let links = "eddy_cluster_http2_connections_total{cluster=\"go\"}";
    ensure!(gateway.metric(links).await? == 1.0, "no link was lost");
    gateway.stop().await
}

#[tokio::test]
async fn health_checks_use_http2_too() -> Result<()> {
    let well = Arc::new(AtomicUsize::new(1));
    let is_well = Arc::clone(&well);
    let origin = Http2Origin::with(&[], move |heard| {
        let status = if is_well.load(Ordering::SeqCst) == 1 { "200" } else { "500" };
        match is_head(heard) {
            true => FrameReply::bytes(answer(heard.frame.stream, ENDS, &[(":status", status)])),
            false => FrameReply::nothing(),
        }
    })
    .await?;
    let health = "health: {http: {path: /well}, interval: 100ms, timeout: 100ms, unhealthy: 1, healthy: 1, panic_percent: 0}";
    let gateway = gateway_before(&origin, &[health]).await?;
    let unhealthy = "eddy_cluster_endpoints_unhealthy{cluster=\"framed\"}";
    origin.until("a question", |heard| heard.iter().any(is_head)).await?;
    well.store(0, Ordering::SeqCst);
    gateway.until_metric(unhealthy, 1.0).await?;
    well.store(1, Ordering::SeqCst);
    gateway.until_metric(unhealthy, 0.0).await?;
    gateway.stop().await
}

/// `100-continue` in the Huffman code of HPACK (RFC 7541 Appendix B).
const CONTINUE_CODED: &[u8] = &[0x08, 0x00, 0xb1, 0x0f, 0x52, 0x4d, 0x55, 0xa5];

#[tokio::test]
async fn expect_100_continue_is_forwarded_over_http2() -> Result<()> {
    let fields = &[("expect", "100-continue"), ("content-length", "5")];
    for (path, answered) in [("/yes", "100"), ("/no", "401")] {
        let origin = Http2Origin::with(&[], move |heard| {
            let stream = heard.frame.stream;
            match heard.frame.kind {
                kind::HEADERS => {
                    let flags = if answered == "100" { HEAD } else { ENDS };
                    FrameReply::bytes(answer(stream, flags, &[(":status", answered)]))
                }
                kind::DATA if heard.frame.ends() => FrameReply::bytes(ok(stream)),
                _ => FrameReply::nothing(),
            }
        })
        .await?;
        let gateway = gateway_before(&origin, &[]).await?;
        let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
        client.frame(kind::HEADERS, HEAD, 1, &request("POST", path, fields)).await?;
        let first = client.until("an answer", |frame| frame.kind == kind::HEADERS).await?;
        if answered == "100" {
            ensure!(!first.ends(), "{first:?}");
            client.frame(kind::DATA, 1, 1, b"hello").await?;
            // The next head is the final response: there is no second `100`.
            client.until("the final answer", |frame| frame.has_status(200)).await?;
        } else {
            client.until("the end of the stream", |frame| frame.stream == 1 && frame.number(0) == 0).await?;
        }
        let heard = origin.until("the head", |heard| heard.iter().any(is_head)).await?;
        let head = heard.iter().find(|heard| is_head(heard)).context("a head")?;
        let is_passed = head.frame.payload.windows(CONTINUE_CODED.len()).any(|bytes| bytes == CONTINUE_CODED);
        ensure!(is_passed, "{path}: {:02x?}", head.frame.payload);
        let has_body = heard.iter().any(|heard| heard.frame.kind == kind::DATA);
        ensure!(answered == "100" || !has_body, "{path}: {heard:?}");
        let mut old = gateway.client().await?;
        old.send(format!(
            "POST {path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
        ))
        .await?;
        if answered == "100" {
            ensure!(old.bytes().await?.starts_with(b"HTTP/1.1 100 "), "{path}");
            old.send("hello").await?;
        }
        let heard = old.answer("POST").await?;
        let status = if answered == "100" { 200 } else { 401 };
        ensure!(
            heard.response.status == status && heard.interim.len() == usize::from(status == 200),
            "{heard:?}"
        );
        gateway.stop().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_grpc_stream_may_be_silent_where_a_body_may_not() -> Result<()> {
    let origin = Http2Origin::with(&[], |heard| match heard.frame.ends() {
        true => {
            FrameReply::bytes(answer(heard.frame.stream, ENDS, &[(":status", "200"), ("grpc-status", "0")]))
        }
        false => FrameReply::nothing(),
    })
    .await?;
    let tap = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .without_default_rule()
        .listener("timeouts: {body_grace: 100ms}")
        .rule("{cluster: framed}")
        .with("FRAMED", origin.address())
        .another_cluster("framed: {endpoints: [FRAMED], protocol: http2}")
        .before(&tap)
        .await?;
    let begin = |content_type: &str| {
        format!(
            "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: {content_type}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{{\r\n"
        )
    };
    let mut call = gateway.client().await?;
    call.send(begin("application/grpc")).await?;
    let mut body = gateway.client().await?;
    body.send(begin("application/json")).await?;
    let response = body.read_get_response().await?;
    ensure!(response.status == 408, "{response:?}");
    ensure!(call.is_quiet_for(Duration::from_millis(500)).await, "the call was ended");
    call.send("0\r\n\r\n").await?;
    let response = call.read_get_response().await?;
    ensure!(response.status == 200, "{response:?}");
    gateway.stop().await
}
