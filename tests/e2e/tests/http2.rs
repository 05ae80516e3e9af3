//! HTTP/2 from clients: real clients, and one that violates the protocol.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eddy_e2e::framed::{
    ENDS, HEAD, Http2WireClient, RawHttp2Frame, block, bomb, frame, kind, repeated, request,
};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapEvent, TapOrigin, response};
use eddy_e2e::others;
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::secure::Authority;
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wait::until_steady;
use eddy_e2e::wire::within_for;
use rustix::process::Signal;
use test_peers::{CURL_HTTP2, H2LOAD, all_present, present_or_partial};
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

async fn curl(arguments: &[&str]) -> Result<String> {
    output("curl", &[&["-sS", "--max-time", "30"], arguments].concat()).await
}

#[tokio::test]
async fn clients_use_http2_over_tls_and_in_cleartext() -> Result<()> {
    if !all_present(&[CURL_HTTP2])? {
        return Ok(());
    }
    let origin = TapOrigin::start().await?;
    let authority = Authority::new("servers")?;
    let folder = TempDir::new("certificates")?;
    authority.issue(&["a.test"])?.write(folder.path(), "a")?;
    std::fs::write(folder.join("ca.pem"), authority.pem())?;
    let (plain, old) = (place::any_port(), place::any_port());
    let tls = "{certificates: [{chain: FOLDER/a.crt, key: FOLDER/a.key}]}";
    let config = "\
workers: 1
admin: {address: ADMIN}
access_log: {file: stdout, format: json}
listeners:
  - {address: LISTEN, name: secure, routes: site, tls: TLS, via: eddy, request_id: x-id}
  - {address: PLAIN, name: plain, routes: site}
  - {address: OLD, name: old, routes: site, tls: TLS, http2: {tls: false}}
routes:
  site:
    - match: {path: {exact: /fixed}}
      respond: {status: 200, body: fixed}
    - match: {path: {exact: /moved}}
      redirect: {host: b.test}
    - cluster: origin
clusters: {origin: {endpoints: [ORIGIN]}}
";
    let config = config.replace("TLS", tls).replace("FOLDER", &folder.path().display().to_string());
    let words =
        [("PLAIN", plain.to_string()), ("OLD", old.to_string()), ("ORIGIN", origin.address().to_string())];
    let substitutes = words.map(|(word, text)| (word.to_owned(), text)).to_vec();
    let gateway = TestGateway::launch(&config, Launch { substitutes, ..Launch::default() }).await?;
    let (plain, old) = (gateway.bound(plain).await?, gateway.bound(old).await?);
    let authorities = folder.join("ca.pem").display().to_string();
    let secure =
        ["--http2", "--cacert", &authorities, "--connect-to", &format!("a.test:443:{}", gateway.address())]
            .map(str::to_owned);
    let secure: Vec<&str> = secure.iter().map(String::as_str).collect();
    let version = ["-w", " %{http_version} %{http_code}"];
    for (path, more, expected) in [
        ("/fixed", vec![], "fixed 2 200"),
        ("/fixed", vec!["-I", "-o", "/dev/null"], " 2 200"),
        ("/moved", vec!["-o", "/dev/null"], " 2 302"),
        ("/x?y", vec!["-d", "body"], "POST /x?ybody 2 200"),
        ("/x", vec!["-H", "Expect: 100-continue", "-d", "body"], "POST /xbody 2 200"),
        ("/x", vec!["-H", "Cookie: a=1; b=2", "-H", "x-big: 1"], "GET /x 2 200"),
    ] {
        let url = format!("https://a.test{path}");
        let heard = curl(&[secure.as_slice(), &version, &more, &[url.as_str()]].concat()).await?;
        ensure!(heard.replace('\n', "") == expected, "{path} {more:?}: {heard:?}, not {expected:?}");
        let url = format!("http://{plain}{path}");
        let heard =
            curl(&[&["--http2-prior-knowledge"], version.as_slice(), &more, &[url.as_str()]].concat())
                .await?;
        ensure!(heard.replace('\n', "") == expected, "{path} {more:?}: {heard:?}, not {expected:?}");
    }
    let asked = origin.log().requests();
    let first = asked.first().context("a request")?;
    for (name, value) in [
        ("host", "a.test"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "a.test"),
        ("via", "2.0 eddy"),
    ] {
        ensure!(first.fields.text(name) == value, "{name}: {}", first.fields.text(name));
    }
    ensure!(first.fields.text("content-length") == "4" && first.fields.text("x-id").len() == 32);
    // An upgrade to h2c is ignored: the response uses HTTP/1.1, also with HTTP/2 turned off.
    let heard =
        curl(&["--http2", "-w", "%{http_version}", "-o", "/dev/null", &format!("http://{plain}/")]).await?;
    ensure!(heard == "1.1", "{heard}");
    let connect = format!("a.test:443:{old}");
    let secure = ["--http2", "--cacert", &authorities, "--connect-to", &connect, "-w", "%{http_version}"];
    let heard = curl(&[&secure[..], &["-o", "/dev/null", "https://a.test/"]].concat()).await?;
    ensure!(heard == "1.1", "{heard}");
    gateway.lines().until("\"version\":\"HTTP/2\"", 12).await?;
    gateway.until_metric("eddy_http2_requests_total{listener=\"plain\"}", 6.0).await?;
    gateway.stop().await
}

#[tokio::test]
async fn concurrent_bodies_are_complete_in_both_directions() -> Result<()> {
    if !all_present(&[CURL_HTTP2, H2LOAD])? {
        return Ok(());
    }
    let origin = TapOrigin::with(|asked| OriginScript::send(response(200, "", &asked.request.body))).await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let folder = TempDir::new("bodies")?;
    let url = format!("http://{}/", gateway.address());
    for bytes in [0, 1, 16_383, 16_384, 16_385, 65_535, 65_536, 1_000_000, 5_000_000_usize] {
        let body: Vec<u8> = (0..bytes).map(|at| u8::try_from(at * at % 251).unwrap_or(0)).collect();
        let (from, to) = (folder.join("from"), folder.join("to"));
        std::fs::write(&from, &body)?;
        let data = format!("@{}", from.display());
        let to_text = to.display().to_string();
        for more in [["-H", "A: b"], ["-H", "Content-Length:"]] {
            let arguments = ["--http2-prior-knowledge", "--data-binary", &data, "-o", &to_text, &url];
            curl(&[&more[..], &arguments].concat()).await?;
            ensure!(std::fs::read(&to)? == body, "{bytes} bytes, {more:?}");
        }
    }
    let heard = output("h2load", &["-n", "3000", "-c", "3", "-m", "100", &url]).await?;
    ensure!(heard.contains("3000 succeeded, 0 failed"), "{heard}");
    gateway.stop().await
}

#[tokio::test]
async fn trailers_and_interim_responses_pass() -> Result<()> {
    let origin = TapOrigin::with(|_| {
        let head = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        OriginScript::send(format!("{head}3\r\nabc\r\n0\r\nGrpc-Status: 0\r\n\r\n"))
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
    client.frame(kind::HEADERS, HEAD, 1, &request("POST", "/", &[("te", "trailers")])).await?;
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
    let asked = origin.log().requests();
    let first = asked.first().context("a request")?;
    ensure!(first.body == b"hello" && first.trailers.text("x-sum") == "1", "{first:?}");
    gateway.stop().await
}

#[tokio::test]
async fn a_request_is_read_for_a_while_after_an_early_response() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let site =
        GatewayConfigBuilder::new().rule("{match: {path: /fixed}, respond: {status: 200, body: fixed}}");
    let gateway = site.before(&origin).await?;
    let is_reset = |frame: &RawHttp2Frame| frame.kind == kind::RST_STREAM;
    let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
    // A request that ends within the grace period is not reset: the next RST_STREAM is for the request that does not
    // end.
    client.frame(kind::HEADERS, HEAD, 1, &request("POST", "/fixed", &[])).await?;
    client.until("the answer's end", |frame| frame.stream == 1 && frame.payload == b"fixed").await?;
    client.frame(kind::DATA, 0, 1, &[7; 10_000]).await?;
    client.frame(kind::DATA, 1, 1, &[7; 10_000]).await?;
    client.frame(kind::HEADERS, HEAD, 3, &request("POST", "/fixed", &[])).await?;
    client.until("the answer's end", |frame| frame.stream == 3 && frame.payload == b"fixed").await?;
    let since = Instant::now();
    let reset = client.until("a reset", is_reset).await?;
    ensure!(reset.stream == 3 && reset.number(0) == 0, "NO_ERROR: {reset:?}");
    ensure!(since.elapsed() >= Duration::from_millis(500), "after {:?}", since.elapsed());
    // A client that ignores the response is reset before it has sent much.
    client.frame(kind::HEADERS, HEAD, 5, &request("POST", "/fixed", &[])).await?;
    client.until("the answer's end", |frame| frame.stream == 5 && frame.payload == b"fixed").await?;
    let mut sent = 0;
    while sent < 4_000_000 {
        // It respects its flow-control windows, which are extended while the gateway reads.
        client.frame(kind::DATA, 0, 5, &[7; 16_000]).await?;
        sent += 16_000;
        let next = client
            .until("room or a reset", |frame| matches!(frame.kind, kind::WINDOW_UPDATE | kind::RST_STREAM))
            .await?;
        if is_reset(&next) {
            break;
        }
    }
    ensure!(sent < 1_000_000, "{sent} bytes were read");
    gateway.until_metric("eddy_worker_exchanges", 0.0).await?;
    if !present_or_partial(&[CURL_HTTP2])? {
        return gateway.stop().await;
    }
    // A real client gets the response. A body above its window would stall curl 7.88 in any case.
    let folder = TempDir::new("early")?;
    let from = folder.join("from");
    std::fs::write(&from, vec![7; 60_000])?;
    let data = format!("@{}", from.display());
    let url = format!("http://{}/fixed", gateway.address());
    for more in [["-H", "Expect:"], ["-H", "Content-Length:"]] {
        let arguments = ["--http2-prior-knowledge", "--data-binary", &data, &url];
        let heard = curl(&[&more[..], &arguments].concat()).await?;
        ensure!(heard == "fixed", "{more:?}: {heard}");
    }
    gateway.stop().await
}

#[tokio::test]
async fn resets_of_either_side_are_forwarded_and_release_the_stream() -> Result<()> {
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
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
    client.frame(kind::HEADERS, ENDS, 1, &request("GET", "/cut", &[])).await?;
    let reset = client.until("a reset", |frame| frame.kind == kind::RST_STREAM).await?;
    ensure!((reset.stream, reset.number(0)) == (1, 2), "{reset:?}");
    // A cancelled request is cancelled at the endpoint as well; the connection stays open.
    client.frame(kind::HEADERS, ENDS, 3, &request("GET", "/wait", &[])).await?;
    origin.log().until_requests(2).await.ok();
    origin
        .log()
        .until("the head of the request", |events| {
            events.iter().filter(|event| matches!(event, TapEvent::Connected { .. })).count() >= 2
        })
        .await?;
    client.frame(kind::RST_STREAM, 0, 3, &[0, 0, 0, 8]).await?;
    gateway
        .until_metric(
            "eddy_faults_total{listener=\"LISTEN\",reason=\"client_gone\"}"
                .replace("LISTEN", &gateway.label())
                .as_str(),
            1.0,
        )
        .await?;
    gateway.until_metric("eddy_worker_exchanges", 0.0).await?;
    // A response before the end of the request ends the request, without an error.
    client.frame(kind::HEADERS, HEAD, 5, &request("POST", "/early", &[])).await?;
    client.until("the answer", |frame| frame.stream == 5 && frame.ends()).await?;
    let reset = client.until("a reset", |frame| frame.kind == kind::RST_STREAM).await?;
    ensure!((reset.stream, reset.number(0)) == (5, 0), "{reset:?}");
    client.frame(kind::DATA, 0, 5, b"was on its way").await?;
    client.frame(kind::PING, 0, 0, b"are you?").await?;
    client.until("the answer to a ping", |frame| frame.kind == kind::PING && frame.flags == 1).await?;
    gate.open();
    gateway.stop().await
}

#[tokio::test]
async fn floods_are_ended_by_name_and_affect_no_other_connection() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let get = |stream: u32| frame(kind::HEADERS, ENDS, stream, &request("GET", "/", &[]));
    let rapid = |at: u32| [get(at * 2 + 1), frame(kind::RST_STREAM, 0, at * 2 + 1, &[0, 0, 0, 8])].concat();
    let made = |at: u32| [get(at * 2 + 1), frame(kind::WINDOW_UPDATE, 0, at * 2 + 1, &[0; 4])].concat();
    type Flood<'f> = (&'f str, Vec<u8>, &'f dyn Fn(u32) -> Vec<u8>);
    let large: Vec<(&str, &str)> = std::iter::repeat_n(("a", "b"), 200).collect();
    let refused = |at: u32| frame(kind::HEADERS, ENDS, at * 2 + 1, &request("GET", "/", &large));
    let head = [(":method", "GET"), (":scheme", "http"), (":path", "/bomb"), (":authority", "a.test")];
    let bombs = |at: u32| frame(kind::HEADERS, ENDS, at * 2 + 3, &repeated(&head, 15));
    let floods: [Flood<'_>; 11] = [
        ("pings", Vec::new(), &|_| frame(kind::PING, 0, 0, &[0; 8])),
        ("settings", Vec::new(), &|_| frame(kind::SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0])),
        ("priorities", Vec::new(), &|_| frame(kind::PRIORITY, 0, 1, &[0; 5])),
        ("window_updates", Vec::new(), &|_| frame(kind::WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])),
        ("others", Vec::new(), &|_| frame(0xbb, 0, 0, b"grease")),
        ("empty_data", frame(kind::HEADERS, HEAD, 1, &request("POST", "/", &[])), &|_| {
            frame(kind::DATA, 0, 1, &[])
        }),
        ("continuations", frame(kind::HEADERS, 0, 1, &request("GET", "/", &[])), &|_| {
            frame(kind::CONTINUATION, 0, 1, &[])
        }),
        ("resets", Vec::new(), &rapid),
        ("resets", Vec::new(), &made),
        ("heads", Vec::new(), &refused),
        ("heads", frame(kind::HEADERS, ENDS, 1, &bomb(&head, 0)), &bombs),
    ];
    for (name, before, piece) in floods {
        let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
        let flood: Vec<u8> = before.into_iter().chain((0..3_000).flat_map(piece)).collect();
        // The gateway may close in the middle.
        client.send(&flood).await.ok();
        let told = client.until("the end", |frame| frame.kind == kind::GOAWAY).await;
        let told = told.with_context(|| name.to_owned())?;
        ensure!(told.number(4) == 0xb, "{name}: {told:?}");
    }
    let text = gateway.admin("/metrics").await?.text();
    let reasons =
        ["pings", "settings", "priorities", "window_updates", "others", "empty_data", "continuations"];
    for (reason, count) in reasons.into_iter().map(|reason| (reason, 1)).chain([("resets", 2), ("heads", 2)])
    {
        let lines = text.lines().filter(|line| line.starts_with("eddy_http2_connections_failed_total"));
        let found = lines.filter(|line| line.ends_with(&format!("reason=\"{reason}\"}} {count}"))).count();
        ensure!(found == 1, "{reason}: {text}");
    }
    ensure!(origin.log().requests().len() <= 2 * 200, "{}", origin.log().requests().len());
    let bombs = origin.log().requests().iter().filter(|asked| asked.target == b"/bomb").count();
    ensure!(bombs <= 1 + 3, "{bombs} requests with heads of 60 KB for 20 bytes each");
    let mut witness = Http2WireClient::connect(gateway.address(), &[]).await?;
    witness.send(&get(1)).await?;
    witness.until("an answer", |frame| frame.has_status(200)).await?;
    gateway.until_metric("eddy_worker_exchanges", 0.0).await?;
    gateway.stop().await
}

#[tokio::test]
async fn the_conformance_tests_pass_in_cleartext_and_over_tls() -> Result<()> {
    let folder = TempDir::new("h2spec")?;
    let Some(h2spec) = others::h2spec(folder.path())? else { return Ok(()) };
    let h2spec = h2spec.display().to_string();
    let authority = Authority::new("servers")?;
    authority.issue(&["a.test"])?.write(folder.path(), "a")?;
    let secure = place::any_port();
    let config = "\
workers: 1
admin: {address: ADMIN}
listeners:
  - {address: LISTEN, demo: true}
  - {address: SECURE, demo: true, tls: {certificates: [{chain: FOLDER/a.crt, key: FOLDER/a.key}]}}
";
    let config = config.replace("FOLDER", &folder.path().display().to_string());
    let substitutes = vec![("SECURE".to_owned(), secure.to_string())];
    let gateway = TestGateway::launch(&config, Launch { substitutes, ..Launch::default() }).await?;
    let secure = gateway.bound(secure).await?;
    let mut failed = Vec::new();
    for (address, more) in [(gateway.address(), vec![]), (secure, vec!["-t", "-k"])] {
        let (host, port) = (address.ip().to_string(), address.port().to_string());
        // The response comes at the end of the request, so that the stream is open for all frames of a case.
        let arguments = ["-h", &host, "-p", &port, "-P", "/echo", "--strict", "-o", "5"];
        let mut command = Command::new(&h2spec);
        command.args(arguments).args(more).stdin(Stdio::null()).kill_on_drop(true);
        let heard = within_for(Duration::from_secs(120), "h2spec", command.output()).await??;
        let heard = String::from_utf8_lossy(&heard.stdout).into_owned();
        ensure!(heard.contains("146 tests") && heard.contains(" 0 skipped"), "{heard}");
        let failures = heard.split("Failures:").nth(1).unwrap_or_default().lines();
        failed.extend(failures.filter(|line| line.contains('\u{d7}')).map(|line| line.trim().to_owned()));
    }
    // In cleartext, an invalid HTTP/2 preface is treated as HTTP/1 and answered 400 before the connection is closed.
    ensure!(failed == ["\u{d7} 2: Sends invalid connection preface"], "{failed:?}");
    gateway.stop().await
}

/// Returns the memory of the gateway's child process, bytes.
fn memory(gateway: &TestGateway) -> Result<u64> {
    let child = gateway.children()?.first().copied().context("a child")?;
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.as_raw_nonzero()))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
    Ok(line.split_whitespace().next().context("a number")?.parse::<u64>()? * 1024)
}

#[tokio::test]
async fn a_client_that_reads_nothing_uses_little_memory() -> Result<()> {
    let origin = TapOrigin::with(|_| OriginScript::send(response(200, "", vec![7; 4_000_000]))).await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let before = memory(&gateway)?;
    let mut clients = Vec::new();
    // Windows of size zero, and maximum windows without reading from the socket.
    for window in [[0, 0, 0, 0], [0x7f, 0xff, 0xff, 0xff]] {
        let mut client =
            Http2WireClient::connect(gateway.address(), &[&[0, 4], &window[..]].concat()).await?;
        client.frame(kind::WINDOW_UPDATE, 0, 0, &[0x7f, 0, 0, 0]).await?;
        for stream in (1..200).step_by(2) {
            client.frame(kind::HEADERS, ENDS, stream, &request("GET", "/", &[])).await?;
        }
        clients.push(client);
    }
    // One or two responses may fit into the socket buffers, the others wait.
    origin.log().until_requests(200).await?;
    let after = until_steady("memory that grows no more", async || memory(&gateway)).await?;
    let held = after.saturating_sub(before);
    // A buffer of 64 KiB for each of 200 responses, and data waiting to be written.
    ensure!(held < 24 * 1024 * 1024, "{held} bytes are held for two clients that read nothing");
    drop(clients);
    gateway.until_metric("eddy_worker_exchanges", 0.0).await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_drain_sends_goaway_and_serves_requests_in_flight() -> Result<()> {
    let gate = Gate::default();
    let waits = gate.clone();
    let origin = TapOrigin::with(move |_| {
        OriginScript::steps([
            ScriptStep::AwaitGate(waits.clone()),
            ScriptStep::Send(response(200, "", "late")),
        ])
    })
    .await?;
    let mut gateway = GatewayConfigBuilder::new().top("drain_timeout: 10s").before(&origin).await?;
    let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
    client.frame(kind::HEADERS, ENDS, 1, &request("GET", "/", &[])).await?;
    origin.log().until_requests(1).await?;
    gateway.signal(Signal::TERM)?;
    let first = client.until("the first word of the end", |frame| frame.kind == kind::GOAWAY).await?;
    ensure!((first.number(0), first.number(4)) == (0x7fff_ffff, 0), "{first:?}");
    let ping = client.until("a ping", |frame| frame.kind == kind::PING).await?;
    // A request that crosses the GOAWAY on the wire.
    client.frame(kind::HEADERS, ENDS, 3, &request("GET", "/", &[])).await?;
    client.frame(kind::PING, 1, 0, &ping.payload).await?;
    let last = client.until("the last word", |frame| frame.kind == kind::GOAWAY).await?;
    ensure!((last.number(0), last.number(4)) == (3, 0), "{last:?}");
    gate.open();
    let mut ended = Vec::new();
    while let Some(frame) = client.next().await? {
        if frame.ends() {
            ended.push(frame.stream);
        }
    }
    ended.sort_unstable();
    ensure!(ended == [1, 3], "{ended:?}");
    let status = gateway.exited(Duration::from_secs(10)).await?;
    ensure!(status.success(), "{status}");
    Ok(())
}

#[tokio::test]
async fn silent_clients_time_out() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let site = GatewayConfigBuilder::new()
        .listener("timeouts: {head: 300ms, idle: 600ms}")
        .listener("limits: {requests_per_connection: 2}");
    let gateway = site.before(&origin).await?;
    // Nothing after SETTINGS; half a head; nothing after a response.
    for pieces in [
        Vec::new(),
        vec![frame(kind::HEADERS, 0, 1, &request("GET", "/", &[]))],
        vec![frame(kind::HEADERS, ENDS, 1, &request("GET", "/", &[]))],
    ] {
        let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
        for piece in pieces {
            client.send(&piece).await?;
        }
        let told = client.until("the end", |frame| frame.kind == kind::GOAWAY).await?;
        ensure!(told.number(4) == 0, "{told:?}");
        while client.next().await?.is_some() {}
    }
    let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
    for stream in [1, 3] {
        client.frame(kind::HEADERS, ENDS, stream, &request("GET", "/", &[])).await?;
    }
    let told = client.until("the end", |frame| frame.kind == kind::GOAWAY).await?;
    ensure!(told.number(0) == 0x7fff_ffff, "{told:?}");
    gateway.stop().await
}

#[tokio::test]
async fn randomly_changed_frames_affect_no_other_connection() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut state = 7_u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % below
    };
    for _ in 0..300 {
        let mut bytes = Vec::new();
        for at in 0..4 {
            bytes.extend(frame(kind::HEADERS, HEAD, at * 2 + 1, &request("POST", "/", &[("x", "y")])));
            bytes.extend(frame(kind::DATA, 1, at * 2 + 1, b"some data"));
        }
        for _ in 0..3 {
            let at = random(bytes.len());
            bytes[at] = u8::try_from(random(256)).unwrap_or(0);
        }
        let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
        client.send(&bytes).await.ok();
        client.frame(kind::PING, 0, 0, &[0; 8]).await.ok();
        // A PING acknowledgement, or GOAWAY; half a frame may still be incomplete.
        let heard = tokio::time::timeout(
            Duration::from_millis(50),
            client.until("either", |frame: &RawHttp2Frame| matches!(frame.kind, kind::PING | kind::GOAWAY)),
        );
        heard.await.ok();
    }
    let mut witness = Http2WireClient::connect(gateway.address(), &[]).await?;
    witness.frame(kind::HEADERS, ENDS, 1, &request("GET", "/", &[])).await?;
    witness.until("an answer", |frame| frame.has_status(200)).await?;
    ensure!(gateway.metric("eddy_panics_total").await? == 0.0);
    gateway.stop().await
}
