//! A gRPC service behind the gateway, called with JSON: the running gateway with the example's configuration.
//!
//! The service frames messages as gRPC does and sends the status in trailers, over HTTP/1.1.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eddy_e2e::calls::{HEAD, WELL, answer, chunk, field, frame, frames};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapEvent, TapOrigin};
use eddy_e2e::place;
use eddy_e2e::wire::{ConnectionEnd, WireBodyFraming, WireRequest, WireResponse, get};

/// Returns the configuration of the example, with placeholders for its addresses.
fn example(extra: &str) -> Result<String> {
    let folder = place::tree().join("examples/transcoding");
    let text = std::fs::read_to_string(folder.join("eddy.yaml")).context("the example's configuration")?;
    Ok(text
        .replace("127.0.0.1:8080", "LISTEN")
        .replace("127.0.0.1:50051", "ORIGIN")
        .replace("./library.binpb", &folder.join("library.binpb").display().to_string())
        .replace("unknown_requests: refuse", &format!("unknown_requests: refuse\n{extra}"))
        + "\nadmin: {address: ADMIN}\nworkers: 1\nlimits: {queue_delay: 0s}\ndrain_timeout: 300ms\n")
}

async fn gateway(origin: &TapOrigin, extra: &str) -> Result<TestGateway> {
    TestGateway::start(&example(extra)?, &[("ORIGIN", &origin.address())]).await
}

/// Returns a message with one text in field 2: `title` of a book, `theme` of a shelf.
fn text_2(text: &str) -> Vec<u8> {
    field(2, text)
}

/// Script of the library service: it returns shelves with their name as the theme.
fn library(request: &WireRequest) -> OriginScript {
    let method = request.target_text();
    let message = request.body.get(5..).unwrap_or_default();
    OriginScript::send(match method.rsplit('/').next().unwrap_or_default() {
        "GetShelf" if message.ends_with(b"/none") => {
            answer(&[], "grpc-status: 5\r\ngrpc-message: no%20shelf\r\nx-more: 2\r\n")
        }
        // A response without a body has the status in its head.
        "GetShelf" if message.ends_with(b"/early") => {
            "HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\ngrpc-status: 16\r\nContent-Length: 0\r\n\r\n".into()
        }
        "GetShelf" if message.ends_with(b"/silent") => answer(&[b"\x12\x01x"], ""),
        "GetShelf" if message.ends_with(b"/page") => {
            "HTTP/1.1 503 No\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nno".into()
        }
        "ImportBooks" => {
            let count = frames(&request.body).len();
            answer(&[&[0x08, u8::try_from(count).unwrap_or_default()]], WELL)
        }
        "CreateBook" => answer(&[frames(&request.body).concat().get(2..).unwrap_or_default()], WELL),
        _ => answer(&[message], WELL),
    })
}

fn post(target: &str, body: &str) -> String {
    format!(
        "POST {target} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn assert_json(response: &WireResponse, status: u16, body: &str) -> Result<()> {
    ensure!(
        response.status == status && response.text() == body,
        "{status} {body}: {response:?} {}",
        response.text()
    );
    ensure!(response.fields.text("content-type") == "application/json", "{response:?}");
    ensure!(
        response.fields.count("grpc-status") + response.trailers.count("grpc-status") == 0,
        "{response:?}"
    );
    Ok(())
}

#[tokio::test]
async fn json_requests_become_grpc_calls() -> Result<()> {
    let origin = TapOrigin::with(|asked| library(asked.request)).await?;
    let gateway = gateway(&origin, "").await?;
    // A request without a body is converted to one with a message.
    let response = gateway.exchange(&get("/v1/shelves/a%20b", "Accept-Encoding: gzip\r\n")).await?;
    assert_json(&response, 200, r#"{"name":"shelves/a b"}"#)?;
    ensure!(
        response.framing == WireBodyFraming::Length(22) && response.fields.text("x-own") == "1",
        "{response:?}"
    );
    let seen = origin.log().until_requests(1).await?;
    ensure!(seen[0].method == b"POST" && seen[0].target == b"/library.v1.Library/GetShelf", "{seen:?}");
    ensure!(
        seen[0].framing == WireBodyFraming::Length(18) && seen[0].body == frame(b"\n\x0bshelves/a b"),
        "{seen:?}"
    );
    let fields = &seen[0].fields;
    ensure!(fields.text("content-type") == "application/grpc" && fields.text("te") == "trailers", "{seen:?}");
    ensure!(fields.text("accept-encoding").is_empty(), "{seen:?}");

    let response = gateway.exchange(&post("/v1/shelves/1/books", r#"{"title": "Utopia"}"#)).await?;
    ensure!(response.status == 200, "{response:?}");
    let seen = origin.log().until_requests(2).await?;
    let expected = frame(b"\x1a\x08\x12\x06Utopia\n\x09shelves/1");
    ensure!(seen[1].target == b"/library.v1.Library/CreateBook" && seen[1].body == expected, "{seen:?}");

    // The link is reused, and so is the client's connection.
    let mut client = gateway.client().await?;
    for number in 0..5 {
        let response = client.exchange(&get(&format!("/v1/shelves/{number}"), "")).await?;
        assert_json(&response, 200, &format!(r#"{{"name":"shelves/{number}"}}"#))?;
    }
    ensure!(origin.log().connections() == 1, "{:?}", origin.log());
    gateway.stop().await
}

#[tokio::test]
async fn the_grpc_status_sets_the_http_status() -> Result<()> {
    let origin = TapOrigin::with(|asked| library(asked.request)).await?;
    let gateway = gateway(&origin, "").await?;
    let response = gateway.exchange(&get("/v1/shelves/none", "")).await?;
    assert_json(&response, 404, r#"{"code":5,"message":"no shelf"}"#)?;
    ensure!(response.trailers.text("x-more") == "2", "{response:?}");
    let response = gateway.exchange(&get("/v1/shelves/early", "")).await?;
    assert_json(&response, 401, r#"{"code":16,"message":""}"#)?;
    let response = gateway.exchange(&get("/v1/shelves/silent", "")).await?;
    assert_json(&response, 500, r#"{"code":13,"message":"the endpoint sent no `grpc-status`"}"#)?;
    let response = gateway.exchange(&get("/v1/shelves/page", "")).await?;
    ensure!(response.status == 503 && response.body == b"no", "{response:?}");
    ensure!(origin.log().requests().len() == 4);

    // Invalid requests are not forwarded.
    for (request, status) in [
        (get("/v1/shelves/1?x=1", ""), 400),
        (get("/v2", ""), 404),
        (post("/v1/shelves/1", "{}"), 405),
        (post("/v1/shelves/1/books", r#"{"title": 1}"#), 400),
        (post("/v1/shelves/1/books", "{}").replace("application/json", "text/plain"), 415),
    ] {
        let response = gateway.exchange(&request).await?;
        ensure!(
            response.status == status && response.text().starts_with("{\"code\":"),
            "{request} {response:?}"
        );
    }
    ensure!(origin.log().requests().len() == 4, "{:?}", origin.log());
    gateway.stop().await
}

#[tokio::test]
async fn streams_pass_message_by_message() -> Result<()> {
    let (first, second, end) = (Gate::default(), Gate::default(), Gate::default());
    let gates = (first.clone(), second.clone(), end.clone());
    let origin = TapOrigin::with(move |_| {
        let message = |text: &str| ScriptStep::Send(chunk(&frame(&text_2(text))));
        OriginScript::steps([
            ScriptStep::Send(HEAD.into()),
            ScriptStep::AwaitGate(gates.0.clone()),
            message("a"),
            ScriptStep::AwaitGate(gates.1.clone()),
            message("b"),
            ScriptStep::AwaitGate(gates.2.clone()),
            ScriptStep::Send(b"0\r\ngrpc-status: 14\r\n\r\n".to_vec()),
        ])
    })
    .await?;
    let gateway = gateway(&origin, "").await?;
    let mut client = gateway.client().await?;
    client.send(get("/v1/shelves/1/books:watch", "Accept: application/x-ndjson\r\n")).await?;
    origin.log().until_requests(1).await?;
    first.open();
    client.until_unused(b"{\"title\":\"a\"}\n\r\n").await?;
    second.open();
    client.until_unused(b"{\"title\":\"b\"}\n\r\n").await?;
    end.open();
    let response = client.read_get_response().await?;
    ensure!(
        response.status == 200 && response.fields.text("content-type") == "application/x-ndjson",
        "{response:?}"
    );
    let expected = "{\"title\":\"a\"}\n{\"title\":\"b\"}\n{\"error\":{\"code\":14,\"message\":\"\"}}\n";
    ensure!(response.text() == expected, "{response:?}");
    // An array, in one piece.
    let response = gateway.exchange(&get("/v1/shelves/1/books:watch", "")).await?;
    assert_json(&response, 200, r#"[{"title":"a"},{"title":"b"},{"error":{"code":14,"message":""}}]"#)?;
    gateway.stop().await
}

#[tokio::test]
async fn a_request_stream_is_forwarded_as_it_arrives() -> Result<()> {
    let origin = TapOrigin::with(|_| OriginScript::send(answer(&[&[0x08, 0x02]], WELL))).await?;
    let gateway = gateway(&origin, "").await?;
    let mut client = gateway.client().await?;
    let head = "POST /v1/books:import HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    client.send(head).await?;
    client.send(chunk(br#"[{"title":"a"},"#)).await?;
    // The head was forwarded with the first message.
    origin
        .log()
        .until("head", |events| events.iter().any(|event| matches!(event, TapEvent::Head { .. })))
        .await?;
    client.send(chunk(br#"{"title":"b"}]"#)).await?;
    client.send("0\r\n\r\n").await?;
    assert_json(&client.read_get_response().await?, 200, r#"{"count":"2"}"#)?;
    let seen = origin.log().until_requests(1).await?;
    ensure!(frames(&seen[0].body) == [text_2("a"), text_2("b")], "{seen:?}");
    gateway.stop().await
}

#[tokio::test]
async fn a_large_message_passes_and_one_that_is_too_large_does_not() -> Result<()> {
    let title = "x".repeat(3 << 20);
    let length = title.len();
    let origin = TapOrigin::with(move |asked| {
        let book = frames(&asked.request.body).concat();
        // The book is field 3 of the request: one byte of tag, four of length.
        OriginScript::send(answer(&[book.get(5..5 + length + 5).unwrap_or_default()], WELL))
    })
    .await?;
    let gateway = gateway(&origin, "").await?;
    let body = format!(r#"{{"title":"{title}"}}"#);
    let response = gateway.exchange(&post("/v1/shelves/1/books", &body)).await?;
    ensure!(
        response.status == 200 && response.body == body.as_bytes(),
        "{} {}",
        response.status,
        response.body.len()
    );
    let body = format!(r#"{{"title":"{title}{title}"}}"#);
    let response = gateway.exchange(&post("/v1/shelves/1/books", &body)).await?;
    ensure!(response.status == 413 && response.text().contains("too large"), "{}", response.status);
    gateway.stop().await
}

#[tokio::test]
async fn a_truncated_message_does_not_look_complete() -> Result<()> {
    // A message larger than the buffer, then an error status: the client must see that something is missing.
    let message = [&[0x12, 0x80, 0x80, 0x80, 0x01][..], "x".repeat(1 << 21).as_bytes()].concat();
    let origin =
        TapOrigin::with(move |_| OriginScript::send(answer(&[&message], "grpc-status: 13\r\n"))).await?;
    let gateway = gateway(&origin, "").await?;
    let mut client = gateway.client().await?;
    client.send(get("/v1/shelves/1", "")).await?;
    let (end, rest) = client.end_within(Duration::from_secs(20)).await?;
    ensure!(!rest.ends_with(b"0\r\n\r\n"), "{end:?} {}", rest.len());
    ensure!(matches!(end, ConnectionEnd::Closed | ConnectionEnd::Reset), "{end:?}");
    gateway.stop().await
}
