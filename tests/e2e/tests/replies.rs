//! Local replies: no byte of an unread body is ever parsed as a request (T-04), and no client data splits a response
//! (T-17).

use anyhow::{Result, ensure};
use eddy_e2e::origin::{OriginScript, TapOrigin};
use eddy_e2e::place;
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wire::{ClientEvent, DEADLINE, WireClient};

/// A body that looks like a request.
const INNER: &str = "GET /smuggled HTTP/1.1\r\nHost: smuggled\r\n\r\n";

/// Returns each site that responds without having read the body: how to reach it, and its status.
fn sites() -> Vec<(&'static str, String, u16)> {
    let length = INNER.len();
    let post = |target: &str, fields: &str| {
        format!("POST {target} HTTP/1.1\r\nHost: a\r\n{fields}Content-Length: {length}\r\n\r\n")
    };
    let chunked =
        |target: &str| format!("POST {target} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    vec![
        ("respond", post("/respond", ""), 200),
        ("respond chunked", chunked("/respond"), 200),
        ("redirect", post("/redirect", ""), 302),
        ("no rule", post("/nowhere", ""), 404),
        ("no rule chunked", chunked("/nowhere"), 404),
        ("bad path", post("/a/../b", ""), 400),
        ("bad field", post("/respond", "X A: 1\r\n"), 400),
        ("two hosts", post("/respond", "Host: b\r\n"), 400),
        ("expectation", post("/respond", "Expect: x\r\n"), 417),
        ("too many fields", post("/respond", &"X: 1\r\n".repeat(300)), 431),
        ("long target", post(&format!("/{}", "a".repeat(9000)), ""), 414),
        ("body too large", post("/large", ""), 413),
        ("dead upstream", post("/dead", ""), 502),
        ("connect", format!("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\nContent-Length: {length}\r\n\r\n"), 405),
    ]
}

async fn site() -> Result<GatewayConfigBuilder> {
    Ok(GatewayConfigBuilder::new()
        .without_default_rule()
        .rule("{match: {path: {exact: /respond}}, respond: {status: 200, body: ok}}")
        .rule("{match: {path: {exact: /redirect}}, redirect: {path: /elsewhere}}")
        .rule("{match: {path: {exact: /dead}}, cluster: dead}")
        .rule("{match: {path: {prefix: /large}}, cluster: origin}")
        .rule("{match: {path: {prefix: /smuggled}}, cluster: origin}")
        .another_cluster("dead: {endpoints: [DEAD]}")
        .with("DEAD", place::closed_address()))
}

/// Client behaviour after the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// Sends the whole body at once.
    Body,
    /// Sends the body after the response arrived.
    BodyLater,
    /// Sends half of the body, then nothing more.
    Half,
}

#[tokio::test]
async fn unread_body_bytes_are_never_parsed_as_a_request() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let open = site().await?.before(&origin).await?;
    let limited = site().await?.listener("limits: {body_bytes: 20}").before(&origin).await?;
    for (name, head, status) in sites() {
        let gateway = if status == 413 { &limited } else { &open };
        for then in [Then::Body, Then::BodyLater, Then::Half] {
            let mut client = gateway.client().await?;
            let found = attack(&mut client, &head, then).await?;
            ensure!(
                found.first() == Some(&status) || status == 405 && matches!(found.first(), Some(400..=501)),
                "{name} {then:?}: {found:?} instead of {status}"
            );
            let wanted = if found.len() == 2 && then != Then::Half { 404 } else { 0 };
            ensure!(
                found.len() == 1 || found[1] == wanted,
                "{name} {then:?}: after the answer {found:?} came; only the request behind the body may be answered"
            );
        }
    }
    ensure!(origin.log().requests().is_empty(), "{:?}", origin.log());
    limited.stop().await?;
    open.stop().await
}

/// Sends `head`, a body that looks like a request and, if the connection stays open, one more request; returns
/// statuses.
async fn attack(client: &mut WireClient, head: &str, then: Then) -> Result<Vec<u16>> {
    let framed = if head.contains("chunked") {
        format!("{:x}\r\n{INNER}\r\n0\r\n\r\n", INNER.len())
    } else {
        INNER.into()
    };
    let last = "GET /last HTTP/1.1\r\nHost: a\r\n\r\n";
    let mut statuses = Vec::new();
    // The gateway may respond and close before all is sent.
    let _ = match then {
        Then::Body => client.send(format!("{head}{framed}{last}")).await,
        Then::BodyLater => client.send(head).await,
        Then::Half => client.send(format!("{head}{}", &framed[..framed.len() / 2])).await,
    };
    loop {
        match tokio::time::timeout(DEADLINE, client.next("POST")).await {
            Ok(ClientEvent::Answer(answer)) => {
                statuses.push(answer.response.status);
                if statuses.len() == 1 && then == Then::BodyLater {
                    let _ = client.send(format!("{framed}{last}")).await;
                }
                if statuses.len() == 1 && then == Then::Half {
                    let _ = client.finish_sending().await;
                }
                if statuses.len() == 2 {
                    return Ok(statuses);
                }
            }
            Ok(ClientEvent::Ended { .. }) => return Ok(statuses),
            Ok(ClientEvent::Bad(why)) => anyhow::bail!("{why}"),
            Err(_) => anyhow::bail!("neither answer nor end after {statuses:?}"),
        }
    }
}

#[tokio::test]
async fn client_input_cannot_split_a_response() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .rule("{match: {path: {prefix: /old}}, redirect: {prefix: /new}}")
        .rule("{match: {path: {prefix: /secure}}, redirect: {scheme: https}}")
        .rule("{match: {path: {template: '/t/{rest...}'}}, redirect: {path: '/x/{rest}'}}")
        .before(&origin)
        .await?;
    let inserts = [
        "%0d%0aX-Evil:%201",
        "%0D%0A%0D%0Aevil",
        "%00",
        "%E5%98%8A%E5%98%8D",
        "?q=%0d%0aX-Evil:1",
        "%250d%250aX-Evil:1",
        ";%0a",
    ];
    for prefix in ["/old/", "/secure/", "/t/"] {
        for insert in inserts {
            let answer =
                gateway.exchange(format!("GET {prefix}{insert} HTTP/1.1\r\nHost: a\r\n\r\n")).await?;
            ensure!(matches!(answer.status, 302 | 400), "{prefix}{insert}: {}", answer.status);
            ensure!(answer.fields.count("x-evil") == 0, "{answer:?}");
        }
    }
    gateway.stop().await
}

#[tokio::test]
async fn an_invalid_host_is_not_used_in_a_location_header() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .rule("{match: {path: {prefix: /}}, redirect: {scheme: https}}")
        .without_default_rule();
    let gateway = gateway.before(&origin).await?;
    for host in ["a\"b", "a,b", "user@b", "a/b", "a\\b", "a b", "a%0d%0aX", "<script>"] {
        let answer = gateway.exchange(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")).await?;
        let location = answer.fields.text("location");
        ensure!(
            answer.status == 400 || !location.contains(['\r', '\n', '<', '"', '@', ',', ' ']),
            "{host}: {location:?}"
        );
    }
    gateway.stop().await
}

#[tokio::test]
async fn local_replies_match_the_request() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = site().await?.before(&origin).await?;
    let mut client = gateway.client().await?;
    let head = client.exchange("HEAD /respond HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    ensure!(
        head.status == 200 && head.fields.text("content-length") == "2" && head.body.is_empty(),
        "{head:?}"
    );
    let next = client.exchange("GET /respond HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    ensure!(next.text() == "ok" && next.is_keep_alive() && next.fields.count("date") == 1, "{next:?}");
    let missing = client.exchange("GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    ensure!(missing.status == 404 && missing.is_keep_alive(), "{missing:?}");
    let mut old = gateway.client().await?;
    let answer = old.exchange("GET /respond HTTP/1.0\r\n\r\n").await?;
    ensure!(answer.text() == "ok" && !answer.is_keep_alive(), "{answer:?}");
    old.end().await?;
    gateway.stop().await
}

#[tokio::test]
async fn the_access_log_names_the_rule_that_a_response_breaks() -> Result<()> {
    let origin = TapOrigin::with(|asked| match &*asked.request.target {
        b"/length" => {
            OriginScript::send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx")
        }
        b"/switch" => OriginScript::send(
            "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n",
        ),
        _ => OriginScript::send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    })
    .await?;
    let log = "access_log: {file: stdout, format: json}";
    let gateway = GatewayConfigBuilder::new().top(log).before(&origin).await?;
    for (target, reason, violation) in [
        ("/length", "response_head", "content_length_repeated"),
        ("/switch", "response_head", "unasked_switch"),
    ] {
        let answer = gateway.exchange(format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n")).await?;
        ensure!(answer.status == 502, "{answer:?}");
        gateway.lines().until(&format!("\"reason\":\"{reason}\""), 1).await?;
        gateway.lines().until(&format!("\"violation\":\"{violation}\""), 1).await?;
    }
    // The head of the response is sent already.
    let mut client = gateway.client().await?;
    client.send("GET /chunk HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    gateway.lines().until("\"reason\":\"response_chunk\"", 1).await?;
    gateway.lines().until("\"violation\":\"bad_chunk_size\"", 1).await?;
    gateway.stop().await
}
