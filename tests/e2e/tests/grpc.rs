//! gRPC calls through the running gateway: local replies, deadlines, retries, metrics, and gRPC-Web.
//!
//! The services here frame messages as gRPC does, over HTTP/1.1, so that the test controls each byte. Real services and
//! clients are tested in `grpc_peers.rs`.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eddy_e2e::framed::{self, Http2WireClient, RawHttp2Frame, kind};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::http2_origin::{FrameReply, Http2Origin};
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapEvent, TapOrigin};
use eddy_e2e::place::closed_address;
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wire::{WireRequest, WireResponse};
use tokio::process::Command;

/// Returns a gRPC frame with this message.
fn frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or_default().to_be_bytes();
    [&[0][..], &length, message].concat()
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/grpc+proto\r\nX-Own: 1\r\nTransfer-Encoding: chunked\r\n\r\n";
const WELL: &str = "grpc-status: 0\r\n";

/// Returns the response to a call: messages, then the trailers with the status.
fn answer(messages: &[&[u8]], trailers: &str) -> Vec<u8> {
    let body: Vec<u8> = messages.iter().flat_map(|message| chunk(&frame(message))).collect();
    [HEAD.as_bytes(), &body, format!("0\r\n{trailers}\r\n").as_bytes()].concat()
}

/// Returns the response to a call that ended without a message.
fn ended(code: u32) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\nGrpc-Status: {code}\r\nGrpc-Message: why\r\nContent-Length: 0\r\n\r\n").into()
}

/// Returns a call with one message.
fn call(path: &str, fields: &str, message: &[u8]) -> Vec<u8> {
    typed(path, "application/grpc", fields, &frame(message))
}

fn typed(path: &str, content_type: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: {content_type}\r\nTE: trailers\r\nConnection: TE\r\n{fields}Content-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

#[track_caller]
fn assert_ended(response: &WireResponse, code: &str, message: &str) {
    let fields = &response.fields;
    let said = (fields.text("content-type"), fields.text("grpc-status"), fields.text("grpc-message"));
    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(said, ("application/grpc".to_owned(), code.to_owned(), message.to_owned()), "{response:?}");
    assert!(response.body.is_empty() && fields.text("content-length") == "0", "{response:?}");
    assert!(fields.count("content-type") == 1 && fields.count("grpc-status") == 1, "{response:?}");
}

#[tokio::test]
async fn local_replies_to_grpc_calls_have_a_grpc_status() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .top("filters: {small: {body_limit: {request: 100}}, door: {basic_auth: {users: {a: b}}, disabled: true}}")
        .listener("limits: {body_bytes: 1000}")
        .listener("filters: [small, door]")
        .with("NOBODY", closed_address())
        .another_cluster("nobody: {endpoints: [NOBODY]}")
        .rule("{match: {path: /nobody}, cluster: nobody}")
        .rule("{match: {path: /said}, respond: {status: 401, body: \"who are you, 100% sure?\\n\"}}")
        .rule("{match: {path: /fine}, respond: {status: 200, body: fine}}")
        .rule("{match: {path: /own}, respond: {status: 200, content_type: application/grpc+proto}}")
        .rule("{match: {path: /edited}, respond: {status: 503}, response_headers: {set: {grpc-status: '8'}}}")
        .rule("{match: {path: /moved}, redirect: {host: b.test}}")
        .rule("{match: {path: /door}, cluster: origin, filters: {door: {disabled: false}}}")
        .rule("{match: {path: /large}, cluster: origin, filters: {small: {disabled: true}}}")
        .rule("{match: {path: /origin}, cluster: origin}")
        .without_default_rule()
        .before(&origin)
        .await?;
    let long = vec![0; 1001];
    for (path, message, code, text) in [
        ("/none", &b""[..], "12", "Not Found"),
        ("/nobody", b"x", "14", "Bad Gateway"),
        ("/said", b"x", "16", "who are you, 100%25 sure?"),
        ("/fine", b"", "2", "fine"),
        ("/moved", b"", "2", "Found"),
        ("/door", b"", "16", "Unauthorized"),
        ("/origin", &long[..500], "8", "the request body is too large"),
        ("/large", &long, "8", "Content Too Large"),
    ] {
        let response = gateway.exchange(&call(path, "", message)).await.context(path)?;
        let text = if path == "/door" { response.fields.text("grpc-message") } else { text.to_owned() };
        assert_ended(&response, code, &text);
        if path == "/moved" {
            ensure!(response.fields.text("location") == "http://b.test/moved", "{response:?}");
        }
    }
    // A response with its own content type, or a status that the rule maps, is left to the rule.
    let response = gateway.exchange(&call("/own", "", b"")).await?;
    ensure!(response.fields.text("content-type") == "application/grpc+proto", "{response:?}");
    ensure!(response.fields.count("grpc-status") == 0, "{response:?}");
    let response = gateway.exchange(&call("/edited", "", b"")).await?;
    ensure!(response.status == 503 && response.fields.text("grpc-status") == "8", "{response:?}");
    // Requests with other content types get HTTP errors.
    // Clients such as those of connect refuse a response of another message format than they sent.
    for format in ["+proto", "+json"] {
        let content_type = format!("application/grpc{format}");
        for path in ["/none", "/said", "/moved"] {
            let response = gateway.exchange(&typed(path, &content_type, "", b"")).await?;
            let fields = &response.fields;
            ensure!(fields.text("content-type") == content_type, "{path}: {response:?}");
            ensure!(fields.count("content-type") == 1 && fields.count("grpc-status") == 1, "{response:?}");
        }
        let parameter = format!("{content_type}; charset=utf-8");
        let response = gateway.exchange(&typed("/none", &parameter, "", b"")).await?;
        ensure!(response.fields.text("content-type") == content_type, "{response:?}");
    }
    for content_type in ["application/json", "application/grpc-web", "application/grpcx"] {
        let response = gateway.exchange(&typed("/none", content_type, "", b"")).await?;
        ensure!(response.status == 404 && response.text() == "Not Found", "{content_type}: {response:?}");
        ensure!(response.fields.count("grpc-status") == 0, "{response:?}");
    }
    ensure!(origin.log().requests().is_empty());
    if !test_peers::present_or_partial(&[test_peers::CURL_HTTP2])? {
        return gateway.stop().await;
    }
    // The error over HTTP/2: a head without a body.
    let url = format!("http://{}/none", gateway.address());
    let mut curl = Command::new("curl");
    curl.args(["-sS", "--max-time", "20", "--http2-prior-knowledge", "-D", "-", "-o", "/dev/null"]).args([
        "-H",
        "content-type: application/grpc",
        "-H",
        "te: trailers",
        // Without a body: curl reports an error when a response ends before its request body is sent, whatever the
        // response.
        "-X",
        "POST",
        &url,
    ]);
    let heard = String::from_utf8(curl.output().await?.stdout)?.to_ascii_lowercase();
    for line in ["http/2 200", "content-type: application/grpc", "grpc-status: 12", "grpc-message: not found"]
    {
        ensure!(heard.lines().any(|own| own.trim_end() == line), "{line}: {heard}");
    }
    gateway.stop().await
}

#[tokio::test]
async fn a_call_ends_at_its_grpc_deadline() -> Result<()> {
    let gate = Gate::default();
    let waits = gate.clone();
    let origin = TapOrigin::with(move |asked| match asked.request.target_text().as_str() {
        "/wait" => OriginScript::steps([ScriptStep::AwaitGate(waits.clone())]),
        _ => OriginScript::send(answer(&[b"x"], WELL)),
    })
    .await?;
    let gateway = GatewayConfigBuilder::new()
        .rule("{match: {path: /short}, cluster: origin, rewrite: {path: /wait}, timeout: 200ms}")
        .before(&origin)
        .await?;
    let begun = Instant::now();
    let response = gateway.exchange(&call("/wait", "Grpc-Timeout: 300m\r\n", b"x")).await?;
    assert_ended(&response, "4", "Gateway Timeout");
    ensure!((300..5_000).contains(&begun.elapsed().as_millis()), "{:?}", begun.elapsed());
    // The endpoint receives the client's timeout.
    let head = |events: &[TapEvent]| events.iter().any(|event| matches!(event, TapEvent::Request { .. }));
    origin.log().until("the request", head).await?;
    let seen = origin.log().requests();
    ensure!(seen[0].fields.text("grpc-timeout") == "300m", "{seen:?}");
    // The rule's timeout applies when it is shorter; the error is the same.
    let begun = Instant::now();
    let response = gateway.exchange(&call("/short", "Grpc-Timeout: 10S\r\n", b"x")).await?;
    assert_ended(&response, "4", "Gateway Timeout");
    ensure!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    let response = gateway.exchange(&call("/well", "Grpc-Timeout: 99999999H\r\n", b"x")).await?;
    ensure!(response.trailers.text("grpc-status") == "0", "{response:?}");
    let before = origin.log().requests().len();
    for bad in ["1", "S", "123456789S", "1s", "-1S", "1S, 1S", "1S\r\nGrpc-Timeout: 1S"] {
        let response = gateway.exchange(&call("/well", &format!("Grpc-Timeout: {bad}\r\n"), b"x")).await?;
        assert_ended(&response, "13", "Bad Request");
    }
    ensure!(origin.log().requests().len() == before);
    // A request that is not a gRPC call has no such deadline.
    let response =
        gateway.exchange(&typed("/well", "application/json", "Grpc-Timeout: 0n\r\n", b"{}")).await?;
    ensure!(response.status == 200 && response.body == frame(b"x"), "{response:?}");
    gate.open();
    gateway.stop().await
}

/// Starts a gateway before an endpoint that answers each request with `head` and resets its stream.
async fn before_resets(head: &[(&str, &str)]) -> Result<(Http2Origin, TestGateway)> {
    let head = (!head.is_empty()).then(|| framed::block(head));
    let origin = Http2Origin::with(&[], move |heard| {
        if !heard.frame.ends() {
            return FrameReply::nothing();
        }
        let stream = heard.frame.stream;
        let mut bytes = Vec::new();
        if let Some(head) = &head {
            bytes.extend(framed::frame(kind::HEADERS, framed::HEAD, stream, head));
        }
        // CANCEL
        bytes.extend(framed::frame(kind::RST_STREAM, 0, stream, &[0, 0, 0, 8]));
        FrameReply::bytes(bytes)
    })
    .await?;
    let tap = TapOrigin::start().await?;
    let site = GatewayConfigBuilder::new()
        .without_default_rule()
        .top("access_log: {file: stdout, format: json}")
        .rule("{cluster: framed}")
        .with("FRAMED", origin.address())
        .another_cluster("framed: {endpoints: [FRAMED], protocol: http2, ejection: {failures: 0}}");
    let gateway = site.before(&tap).await?;
    Ok((origin, gateway))
}

const FAILURES: &str = "eddy_cluster_failures_total{cluster=\"framed\"}";

/// Servers of gRPC's own library reset a call at its deadline, before eddy's timer has fired.
#[tokio::test]
async fn an_endpoint_that_ends_a_call_at_its_deadline_has_not_failed() -> Result<()> {
    let (_origin, gateway) = before_resets(&[]).await?;
    for _ in 0..3 {
        let response = gateway.exchange(&call("/x", "Grpc-Timeout: 1m\r\n", b"x")).await?;
        assert_ended(&response, "4", "Gateway Timeout");
    }
    gateway.lines().until("\"reason\":\"exchange_timeout\"", 3).await?;
    ensure!(gateway.metric(FAILURES).await? == 0.0);
    // Long before its deadline, it is.
    let response = gateway.exchange(&call("/x", "Grpc-Timeout: 1M\r\n", b"x")).await?;
    assert_ended(&response, "14", "Bad Gateway");
    ensure!(gateway.metric(FAILURES).await? == 1.0);
    gateway.stop().await
}

#[tokio::test]
async fn an_endpoint_that_truncates_a_response_at_the_deadline_has_not_failed() -> Result<()> {
    let head = [(":status", "200"), ("content-type", "application/grpc")];
    let (_origin, gateway) = before_resets(&head).await?;
    for (timeout, reason, failures) in [("1m", "exchange_timeout", 0.0), ("1M", "response_cut", 1.0)] {
        let cut = gateway.exchange(&call("/x", &format!("Grpc-Timeout: {timeout}\r\n"), b"x")).await;
        ensure!(cut.is_err(), "{cut:?}");
        gateway.lines().until(&format!("\"reason\":\"{reason}\""), 1).await?;
        ensure!(gateway.metric(FAILURES).await? == failures, "{timeout}");
    }
    gateway.stop().await
}

/// The client's timer may fire after the reset has arrived, so the reset must not tell of a broken gateway.
#[tokio::test]
async fn a_response_that_is_cut_at_the_deadline_is_reset_with_cancel() -> Result<()> {
    let head = [(":status", "200"), ("content-type", "application/grpc")];
    let (_origin, gateway) = before_resets(&head).await?;
    let mut client = Http2WireClient::connect(gateway.address(), &[]).await?;
    // CANCEL at the deadline, INTERNAL_ERROR long before it.
    let mut stream = 1;
    for (timeout, code) in [("1m", 8), ("1M", 2)] {
        let fields = [("content-type", "application/grpc"), ("te", "trailers"), ("grpc-timeout", timeout)];
        let request = framed::request("POST", "/x", &fields);
        loop {
            client.frame(kind::HEADERS, framed::ENDS, stream, &request).await?;
            let is_over = |frame: &RawHttp2Frame| match frame.kind {
                kind::RST_STREAM => true,
                kind::HEADERS => frame.ends(),
                _ => false,
            };
            let end = client.until("the end of a call", is_over).await?;
            stream += 2;
            if end.kind == kind::RST_STREAM {
                ensure!((end.stream, end.number(0)) == (stream - 2, code), "{timeout}: {end:?}");
                break;
            }
            // The deadline has passed before the response head arrived, so eddy has answered.
            ensure!(timeout == "1m" && stream < 1000, "{timeout}: {end:?}");
        }
    }
    gateway.stop().await
}

/// Starts a site with an endpoint that alternates: `first` decides the first response of each pair, the second is a
/// success.
async fn pair(
    first: impl Fn(&WireRequest) -> OriginScript + Send + Sync + 'static,
) -> Result<(TapOrigin, TestGateway)> {
    // The script of a request is chosen more than once: at its head, and when it is complete.
    let seen: Mutex<Vec<(usize, usize)>> = Mutex::default();
    let origin = TapOrigin::with(move |asked| {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        let request = (asked.connection, asked.number);
        let at = seen.iter().position(|known| *known == request).unwrap_or(seen.len());
        if at == seen.len() {
            seen.push(request);
        }
        if at.is_multiple_of(2) { first(asked.request) } else { OriginScript::send(answer(&[b"well"], WELL)) }
    })
    .await?;
    let gateway = GatewayConfigBuilder::new()
        .top("access_log: {file: stdout, format: json}")
        .another_cluster("pair: {endpoints: [ORIGIN], retry_budget: {floor: 1000}, ejection: {failures: 0}}")
        .rule("{match: {path: /retried}, cluster: pair, retry: {attempts: 1, grpc_statuses: [unavailable, cancelled]}}")
        .rule("{match: {path: /plain}, cluster: pair, retry: {attempts: 1, statuses: [503], on_reset: true}}")
        .before(&origin)
        .await?;
    Ok((origin, gateway))
}

#[tokio::test]
async fn calls_are_retried_for_the_grpc_statuses_of_the_rule() -> Result<()> {
    let (origin, gateway) = pair(|request| {
        let code = request.fields.text("x-code").parse().unwrap_or(14);
        OriginScript::send(ended(code))
    })
    .await?;
    let message = vec![b'm'; 100_000];
    for (code, is_retried) in [(14, true), (1, true), (4, false), (13, false), (0, false), (99, false)] {
        let before = origin.log().requests().len();
        let response = gateway.exchange(&call("/retried", &format!("X-Code: {code}\r\n"), &message)).await?;
        let seen = origin.log().requests();
        ensure!(seen.len() == before + 1 + usize::from(is_retried), "{code}: {}", seen.len() - before);
        ensure!(seen[before..].iter().all(|request| request.body == frame(&message)), "{code}");
        if is_retried {
            ensure!(
                response.body == frame(b"well") && response.trailers.text("grpc-status") == "0",
                "{response:?}"
            );
        } else {
            ensure!(response.fields.text("grpc-status") == code.to_string(), "{response:?}");
            // Consumes the second response of the pair, so that the next request is a first one again.
            let _ = gateway.exchange(&call("/plain", "", b"")).await?;
        }
    }
    // A rule without gRPC statuses passes them on; the HTTP statuses of its retry policy do not apply to calls.
    let response = gateway.exchange(&call("/plain", "X-Code: 14\r\n", b"")).await?;
    assert_ended(&response, "14", "why");
    let _ = gateway.exchange(&call("/plain", "", b"")).await?;
    // A request larger than the replay buffer is not retried.
    let response = gateway.exchange(&call("/retried", "X-Code: 14\r\n", &vec![0; 2 << 20])).await?;
    assert_ended(&response, "14", "why");
    gateway.until_metric("eddy_cluster_retries_total{cluster=\"pair\"}", 2.0).await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_call_that_is_still_being_received_is_retried_from_its_start() -> Result<()> {
    let refused = Gate::default();
    let opens = refused.clone();
    // The first attempt ends the call when it has seen the head, and reads no more of it.
    let (origin, gateway) = pair(move |_| {
        OriginScript::at_head([
            ScriptStep::Send(ended(14)),
            ScriptStep::Open(opens.clone()),
            ScriptStep::AwaitEnd,
        ])
    })
    .await?;
    let mut client = gateway.client().await?;
    let messages: Vec<Vec<u8>> = (0..20).map(|at| frame(&vec![b'a' + at; 3000])).collect();
    client
        .send("POST /retried HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await?;
    for message in &messages[..10] {
        client.send(chunk(message)).await?;
    }
    refused.opened().await;
    for message in &messages[10..] {
        client.send(chunk(message)).await?;
    }
    client.send("0\r\n\r\n").await?;
    let response = client.read_get_response().await?;
    ensure!(response.body == frame(b"well") && response.trailers.text("grpc-status") == "0", "{response:?}");
    let seen = origin.log().requests();
    let whole = seen.last().context("a request")?;
    ensure!(whole.body == messages.concat(), "{} bytes", whole.body.len());
    gateway.stop().await
}

#[tokio::test]
async fn grpc_statuses_are_counted_and_logged() -> Result<()> {
    let origin = TapOrigin::with(|asked| match asked.request.target_text().as_str() {
        "/ended" => OriginScript::send(ended(5)),
        "/silent" => OriginScript::send(answer(&[b"x"], "")),
        "/strange" => OriginScript::send(answer(&[], "grpc-status: 77\r\n")),
        "/page" => OriginScript::send("HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno"),
        _ => OriginScript::send(answer(&[b"x"], "grpc-status: 9\r\ngrpc-message: no\r\nx-more: 1\r\n")),
    })
    .await?;
    let gateway = GatewayConfigBuilder::new()
        .top("access_log: {file: stdout, format: json}")
        .rule("{match: {path: /said}, respond: {status: 404}}")
        .before(&origin)
        .await?;
    let mut client = gateway.client().await?;
    for path in ["/trailers", "/ended", "/silent", "/strange", "/page", "/said", "/trailers"] {
        let response = client.exchange(&call(path, "", b"x")).await?;
        ensure!(path != "/trailers" || response.trailers.text("x-more") == "1", "{response:?}");
    }
    // Trailers of the previous call are not reused for this one, nor for a request that is not a call.
    client.exchange(&call("/silent", "", b"x")).await?;
    client.exchange(&typed("/trailers", "application/json", "", b"{}")).await?;
    for (status, count) in [("9", 2.0), ("5", 1.0), ("none", 3.0), ("other", 1.0), ("12", 1.0)] {
        let series = format!("eddy_grpc_calls_total{{listener=\"{}\",status=\"{status}\"}}", gateway.label());
        gateway.until_metric(&series, count).await?;
    }
    let lines = gateway.lines();
    for (word, count) in [
        ("\"grpc_status\":\"9\"", 2),
        ("\"grpc_status\":\"5\"", 1),
        ("\"grpc_status\":\"none\"", 3),
        ("\"grpc_status\":\"12\"", 1),
        ("\"target\":\"/trailers\"", 3),
    ] {
        lines.until(word, count).await?;
    }
    ensure!(lines.count("grpc_status") == 8, "{}", lines.text());
    gateway.stop().await
}

/// Starts a service behind the gRPC-Web filter, which echoes the request.
async fn web(options: &str) -> Result<(TapOrigin, TestGateway)> {
    let origin = TapOrigin::with(|asked| match asked.request.target_text().as_str() {
        "/ended" => OriginScript::send(ended(5)),
        "/page" => {
            OriginScript::send("HTTP/1.1 503 No\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nno")
        }
        _ => {
            let body = chunk(&asked.request.body);
            let trailers = "0\r\ngrpc-status: 0\r\nX-More-Bin: AAEC\r\n\r\n";
            OriginScript::send([HEAD.as_bytes(), &body, trailers.as_bytes()].concat())
        }
    })
    .await?;
    let gateway = GatewayConfigBuilder::new()
        .top(&format!("filters: {{web: {{grpc_web: {options}}}}}"))
        .top("access_log: {file: stdout, format: json}")
        .listener("filters: [web]")
        .rule("{match: {path: /none}, respond: {status: 404}}")
        .before(&origin)
        .await?;
    Ok((origin, gateway))
}

const WEB_TRAILERS: &[u8] = b"\x80\0\0\0\x20grpc-status:0\r\nx-more-bin:AAEC\r\n";

#[tokio::test]
async fn grpc_web_calls_reach_grpc_services() -> Result<()> {
    let (origin, gateway) = web("{}").await?;
    let response =
        gateway.exchange(&typed("/echo", "application/grpc-web+proto", "", &frame(b"abc"))).await?;
    ensure!(response.fields.text("content-type") == "application/grpc-web+proto", "{response:?}");
    ensure!(
        response.body == [&frame(b"abc"), WEB_TRAILERS].concat() && response.trailers.0.is_empty(),
        "{response:?}"
    );
    let seen = origin.log().requests();
    ensure!(seen[0].fields.text("content-type") == "application/grpc+proto", "{seen:?}");
    ensure!(seen[0].fields.text("te") == "trailers" && seen[0].body == frame(b"abc"), "{seen:?}");

    // Base64 in two parts, each with its own padding.
    let text = |bytes: &[u8]| data_encoding::BASE64.encode(bytes);
    let body = format!("{}{}", text(&frame(b"abc")), text(&frame(b"")));
    let response =
        gateway.exchange(&typed("/echo", "application/grpc-web-text", "", body.as_bytes())).await?;
    ensure!(response.fields.text("content-type") == "application/grpc-web-text+proto", "{response:?}");
    ensure!(
        decoded(&response.body)? == [&frame(b"abc")[..], &frame(b""), WEB_TRAILERS].concat(),
        "{response:?}"
    );
    let seen = origin.log().requests();
    ensure!(seen[1].body == [frame(b"abc"), frame(b"")].concat(), "{seen:?}");

    // Without a message, the head contains the status, in local replies too.
    for (path, code) in [("/ended", "5"), ("/none", "12")] {
        let response = gateway.exchange(&typed(path, "application/grpc-web", "", &frame(b""))).await?;
        ensure!(response.status == 200 && response.fields.text("grpc-status") == code, "{response:?}");
        ensure!(
            response.fields.text("content-type") == "application/grpc-web" && response.body.is_empty(),
            "{response:?}"
        );
    }
    let response = gateway.exchange(&typed("/page", "application/grpc-web", "", &frame(b""))).await?;
    ensure!(response.status == 503 && response.body == b"no", "{response:?}");
    // Plain gRPC passes unchanged.
    let response = gateway.exchange(&call("/echo", "", b"abc")).await?;
    ensure!(response.body == frame(b"abc") && response.trailers.text("grpc-status") == "0", "{response:?}");
    gateway.lines().until("\"grpc_status\":\"0\"", 3).await?;
    gateway.stop().await
}

/// Decodes Base64 that is a concatenation of padded parts.
fn decoded(text: &[u8]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for group in text.chunks(4) {
        out.extend(data_encoding::BASE64.decode(group)?);
    }
    Ok(out)
}

#[tokio::test]
async fn invalid_base64_is_refused_and_not_forwarded() -> Result<()> {
    let (origin, gateway) = web("{}").await?;
    for body in ["AAAAAAA*", "AAA", "====", "AAAA AAAA", "AAAAA"] {
        let response =
            gateway.exchange(&typed("/echo", "application/grpc-web-text", "", body.as_bytes())).await?;
        let fields = &response.fields;
        ensure!(fields.text("content-type") == "application/grpc-web-text", "{response:?}");
        ensure!(
            fields.text("grpc-status") == "13"
                && fields.text("grpc-message") == "the body is not valid Base64",
            "{response:?}"
        );
    }
    ensure!(origin.log().requests().is_empty(), "{:?}", origin.log());
    let (_origin, gateway) = web("{text: false}").await?;
    let response = gateway.exchange(&typed("/echo", "application/grpc-web-text", "", b"AAAA")).await?;
    ensure!(response.status == 415, "{response:?}");
    gateway.stop().await
}

#[tokio::test]
async fn grpc_web_streams_pass_message_by_message() -> Result<()> {
    let (first, end) = (Gate::default(), Gate::default());
    let gates = (first.clone(), end.clone());
    let origin = TapOrigin::with(move |_| {
        OriginScript::steps([
            ScriptStep::Send(HEAD.into()),
            ScriptStep::AwaitGate(gates.0.clone()),
            ScriptStep::Send(chunk(&frame(b"one"))),
            ScriptStep::AwaitGate(gates.1.clone()),
            ScriptStep::Send(b"0\r\ngrpc-status: 0\r\nx-more-bin: AAEC\r\n\r\n".to_vec()),
        ])
    })
    .await?;
    let gateway = GatewayConfigBuilder::new()
        .top("filters: {web: {grpc_web: {}}}")
        .listener("filters: [web]")
        .before(&origin)
        .await?;
    let mut client = gateway.client().await?;
    client.send(typed("/stream", "application/grpc-web", "", &frame(b""))).await?;
    origin.log().until_requests(1).await?;
    first.open();
    client.until_unused(b"one\r\n").await?;
    end.open();
    let response = client.read_get_response().await?;
    ensure!(response.body == [&frame(b"one"), WEB_TRAILERS].concat(), "{response:?}");
    gateway.stop().await
}
