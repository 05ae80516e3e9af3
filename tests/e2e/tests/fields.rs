//! Hop-by-hop fields are not forwarded, and the forwarded client information cannot be forged.

use anyhow::{Result, ensure};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::origin::{OriginScript, TapOrigin, response};
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wire::WireRequest;

/// Returns a request with `fields` as it arrives at the origin.
async fn arrives(gateway: &TestGateway, origin: &TapOrigin, fields: &str) -> Result<WireRequest> {
    let before = origin.log().requests().len();
    let answer = gateway.exchange(format!("GET / HTTP/1.1\r\nHost: a.example\r\n{fields}\r\n")).await?;
    ensure!(answer.status == 200, "{fields:?}: status {}", answer.status);
    Ok(origin.log().until_requests(before + 1).await?.remove(before))
}

#[tokio::test]
async fn connection_headers_are_not_forwarded() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let cases = [
        ("Connection: X-Hop\r\nX-Hop: 1\r\n", "x-hop"),
        ("Connection: close, x-hop\r\nX-HOP: 1\r\n", "x-hop"),
        ("Connection: X-Hop\r\nConnection: X-Hip\r\nX-Hip: 1\r\n", "x-hip"),
        ("Connection: , X-Hop ,, \r\nX-Hop: 1\r\nX-Hop: 2\r\n", "x-hop"),
        ("Connection: Keep-Alive\r\nKeep-Alive: timeout=5\r\n", "keep-alive"),
        ("Keep-Alive: timeout=5\r\n", "keep-alive"),
        ("Proxy-Connection: keep-alive\r\n", "proxy-connection"),
        ("Connection: Upgrade\r\nUpgrade: h2c\r\n", "upgrade"),
        (
            "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n",
            "http2-settings",
        ),
        ("Upgrade: h2c\r\n", "upgrade"),
        ("Connection: TE\r\nTE: gzip\r\n", "te"),
        ("Proxy-Authorization: Basic eA==\r\nConnection: Proxy-Authorization\r\n", "proxy-authorization"),
    ];
    for (fields, name) in cases {
        let request = arrives(&gateway, &origin, fields).await?;
        ensure!(request.fields.count(name) == 0, "{fields:?} let {name} through: {:?}", request.fields);
        ensure!(!request.fields.has_token("connection", name), "{fields:?}: {:?}", request.fields);
    }
    gateway.stop().await
}

#[tokio::test]
async fn a_client_cannot_remove_headers_of_the_gateway() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .rule("{match: {path: {exact: /set}}, cluster: origin, request_headers: {set: {x-team: users}}}")
        .listener("request_id: x-request-id")
        .before(&origin)
        .await?;
    let fields = "Connection: Host, X-Forwarded-For, X-Forwarded-Proto, X-Forwarded-Host, X-Request-Id, Authorization, \
                  Cookie, Content-Length, Transfer-Encoding, Via, X-Team\r\nAuthorization: Basic eA==\r\nCookie: a=1\r\n";
    let request = arrives(&gateway, &origin, fields).await?;
    assert_eq!(request.host(), b"a.example");
    for name in [
        "x-forwarded-for",
        "x-forwarded-proto",
        "x-forwarded-host",
        "x-request-id",
        "authorization",
        "cookie",
    ] {
        assert_eq!(request.fields.count(name), 1, "{name} in {:?}", request.fields);
    }
    let answer = gateway
        .exchange("GET /set HTTP/1.1\r\nHost: a\r\nConnection: x-team\r\nX-Team: forged\r\n\r\n")
        .await?;
    assert_eq!(answer.status, 200);
    let request = origin.log().until_requests(2).await?.remove(1);
    assert_eq!(request.fields.all("x-team").collect::<Vec<_>>(), [b"users"]);
    gateway.stop().await
}

#[tokio::test]
async fn a_body_survives_a_connection_field_that_names_its_framing() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let mut client = gateway.client().await?;
    let raw = "POST / HTTP/1.1\r\nHost: a\r\nConnection: Content-Length\r\nContent-Length: 3\r\n\r\nabc";
    assert_eq!(client.exchange(raw).await?.text(), "POST /\nabc");
    let raw = "POST / HTTP/1.1\r\nHost: a\r\nConnection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n";
    assert_eq!(client.exchange(raw).await?.text(), "POST /\nx");
    gateway.stop().await
}

#[tokio::test]
async fn the_origin_gets_the_client_address() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let forged = "X-Forwarded-For: 10.0.0.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil.example\r\n\
                  Forwarded: for=10.0.0.1;host=evil.example\r\n";
    for fields in ["", forged] {
        let request = arrives(&gateway, &origin, fields).await?;
        assert_eq!(request.fields.all("x-forwarded-for").collect::<Vec<_>>(), [b"127.0.0.1"]);
        assert_eq!(request.fields.all("x-forwarded-proto").collect::<Vec<_>>(), [b"http"]);
        assert_eq!(request.fields.all("x-forwarded-host").collect::<Vec<_>>(), [b"a.example"]);
        let forwarded = request.fields.text("forwarded");
        ensure!(!forwarded.contains("10.0.0.1") && !forwarded.contains("evil"), "{forwarded:?}");
    }
    gateway.stop().await
}

#[tokio::test]
async fn forwarding_fields_of_a_trusted_peer_are_extended() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let site = GatewayConfigBuilder::new().listener("forwarded: {trusted: [127.0.0.0/8], forwarded: true}");
    let gateway = site.before(&origin).await?;
    let fields = "X-Forwarded-For: 192.0.2.7\r\nX-Forwarded-Proto: https\r\nForwarded: for=192.0.2.7\r\n";
    let request = arrives(&gateway, &origin, fields).await?;
    let chain: Vec<String> = request
        .fields
        .all("x-forwarded-for")
        .flat_map(|value| value.split(|byte| *byte == b','))
        .map(|part| String::from_utf8_lossy(part.trim_ascii()).into_owned())
        .collect();
    assert_eq!(chain, ["192.0.2.7", "127.0.0.1"]);
    assert_eq!(request.fields.text("x-forwarded-proto"), "https");
    let all: Vec<u8> = request.fields.all("forwarded").collect::<Vec<_>>().join(&b","[..]);
    let all = String::from_utf8_lossy(&all).into_owned();
    ensure!(all.contains("for=192.0.2.7") && all.contains("for=127.0.0.1"), "{all:?}");
    gateway.stop().await
}

#[tokio::test]
async fn forwarded_follows_its_grammar() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let site = GatewayConfigBuilder::new().listener("forwarded: {x_forwarded: false, forwarded: true}");
    let gateway = site.before(&origin).await?;
    let request = arrives(&gateway, &origin, "Forwarded: for=evil\r\n").await?;
    let forwarded = request.fields.text("forwarded").to_ascii_lowercase();
    ensure!(request.fields.count("forwarded") == 1, "{:?}", request.fields);
    ensure!(forwarded.contains("for=127.0.0.1") && forwarded.contains("proto=http"), "{forwarded:?}");
    ensure!(forwarded.contains("host=a.example") && !forwarded.contains("evil"), "{forwarded:?}");
    ensure!(request.fields.count("x-forwarded-for") == 0, "{:?}", request.fields);
    gateway.stop().await
}

/// A host with a port, or an IPv6 address, is not a token: it must be quoted in `Forwarded` (RFC 7239 §4).
#[tokio::test]
async fn forwarded_quotes_values_that_are_not_tokens() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway =
        GatewayConfigBuilder::new().listener("forwarded: {forwarded: true}").before(&origin).await?;
    for host in ["a.example:8080", "[::1]:8080"] {
        gateway.exchange(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")).await?;
        let request = origin.log().requests().pop().unwrap();
        let forwarded = request.fields.text("forwarded");
        ensure!(forwarded.contains(&format!("host=\"{host}\"")), "{forwarded:?}");
    }
    gateway.stop().await
}

/// T-21: an origin that treats `-`, `_` and `.` alike sees one value of each field that the gateway sets: the
/// gateway's.
#[tokio::test]
async fn aliases_of_the_gateways_own_fields_do_not_pass() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let site = GatewayConfigBuilder::new()
        .listener("request_id: x-request-id")
        .listener("forwarded: {forwarded: true}");
    let gateway = site.before(&origin).await?;
    for name in ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-request-id", "forwarded"] {
        for alias in spellings(name) {
            let request = arrives(&gateway, &origin, &format!("{alias}: forged\r\n")).await?;
            let values: Vec<String> = request
                .fields
                .0
                .iter()
                .filter(|(known, _)| folded(known) == folded(name.as_bytes()))
                .map(|(_, value)| String::from_utf8_lossy(value).into_owned())
                .collect();
            ensure!(values.len() == 1 && !values[0].contains("forged"), "{alias}: {values:?}");
        }
    }
    gateway.stop().await
}

/// Aliases of framing fields and of `Host` do not reach an origin that treats `-`, `_` and `.` alike.
#[tokio::test]
async fn aliases_of_framing_fields_do_not_pass() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    for field in
        ["Content_Length: 5", "Content.Length: 5", "Transfer_Encoding: chunked", "Transfer.Encoding: chunked"]
    {
        let answer = gateway.exchange(format!("GET / HTTP/1.1\r\nHost: a\r\n{field}\r\n\r\n")).await?;
        if answer.status == 400 {
            continue;
        }
        let request = origin.log().requests().pop().unwrap();
        for (name, _) in &request.fields.0 {
            ensure!(
                !matches!(&folded(name)[..], b"content-length" | b"transfer-encoding"),
                "{field}: {request:?}"
            );
        }
    }
    gateway.stop().await
}

fn spellings(name: &str) -> Vec<String> {
    let mut all = vec![
        name.to_owned(),
        name.to_uppercase(),
        name.replace('-', "_"),
        name.replace('-', "."),
        name.replace('-', "_").to_uppercase(),
        name.replace('-', ".").to_uppercase(),
        name.replacen('-', "_", 1),
        name.replacen('-', ".", 1),
    ];
    all.dedup();
    all
}

fn folded(name: &[u8]) -> Vec<u8> {
    name.iter()
        .map(|byte| if matches!(byte, b'_' | b'.') { b'-' } else { byte.to_ascii_lowercase() })
        .collect()
}

#[tokio::test]
async fn via_names_the_gateway_in_both_directions() -> Result<()> {
    let origin = TapOrigin::with(|_| OriginScript::send(response(200, "Via: 1.1 inner\r\n", "ok"))).await?;
    let gateway = GatewayConfigBuilder::new().listener("via: eddy").before(&origin).await?;
    let answer = gateway.exchange("GET / HTTP/1.1\r\nHost: a\r\nVia: 1.0 outer\r\n\r\n").await?;
    let joined = |values: Vec<&[u8]>| String::from_utf8_lossy(&values.join(&b", "[..])).into_owned();
    let request = origin.log().until_requests(1).await?.remove(0);
    assert_eq!(joined(request.fields.all("via").collect()), "1.0 outer, 1.1 eddy");
    assert_eq!(joined(answer.fields.all("via").collect()), "1.1 inner, 1.1 eddy");
    gateway.stop().await
}

#[tokio::test]
async fn request_ids_are_assigned_and_only_trusted_ones_kept() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().listener("request_id: x-request-id").before(&origin).await?;
    let mut ids = std::collections::HashSet::new();
    for _ in 0..50 {
        let request = arrives(&gateway, &origin, "X-Request-Id: forged\r\n").await?;
        let id = request.fields.text("x-request-id");
        ensure!(request.fields.count("x-request-id") == 1 && id != "forged" && id.len() >= 16, "{id:?}");
        ensure!(ids.insert(id.clone()), "{id} came twice");
    }
    let trusting = GatewayConfigBuilder::new()
        .listener("request_id: x-request-id")
        .listener("forwarded: {trusted: [127.0.0.1/32]}");
    let trusting = trusting.before(&origin).await?;
    let request = arrives(&trusting, &origin, "X-Request-Id: from-outside\r\n").await?;
    assert_eq!(request.fields.text("x-request-id"), "from-outside");
    trusting.stop().await?;
    gateway.stop().await
}

#[tokio::test]
async fn end_to_end_fields_pass_unaltered_and_in_order() -> Result<()> {
    let sent = "X-B: 1\r\nX-A: 2\r\nX-B: 3\r\nCookie: a=1\r\nCookie: b=2\r\nX-Empty:\r\nX-Long-Name-Of-Mine: caf\u{e9}\tx\r\n";
    let origin = TapOrigin::with(move |_| {
        OriginScript::send(response(200, "Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-B: 1\r\nX-B: 2\r\n", ""))
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let answer = gateway.exchange(format!("GET / HTTP/1.1\r\nHost: a\r\n{sent}\r\n")).await?;
    let request = origin.log().until_requests(1).await?.remove(0);
    assert_eq!(request.fields.all("x-b").collect::<Vec<_>>(), [b"1", b"3"]);
    assert_eq!(request.fields.all("cookie").collect::<Vec<_>>(), [b"a=1", b"b=2"]);
    assert_eq!(request.fields.first("x-empty"), Some(&b""[..]));
    assert_eq!(request.fields.first("x-long-name-of-mine"), Some("caf\u{e9}\tx".as_bytes()));
    assert_eq!(answer.fields.all("set-cookie").collect::<Vec<_>>(), [b"a=1", b"b=2"]);
    assert_eq!(answer.fields.all("x-b").collect::<Vec<_>>(), [b"1", b"2"]);
    gateway.stop().await
}

#[tokio::test]
async fn responses_lose_hop_by_hop_headers_and_get_a_date() -> Result<()> {
    let fields = "Connection: X-Hop, keep-alive\r\nX-Hop: 1\r\nKeep-Alive: timeout=9\r\nProxy-Connection: close\r\nServer: s\r\n";
    let origin = TapOrigin::with(move |asked| {
        let date =
            if asked.request.target == b"/dated" { "Date: Mon, 01 Jan 2001 00:00:00 GMT\r\n" } else { "" };
        OriginScript::send(response(200, &format!("{fields}{date}"), "ok"))
    })
    .await?;
    let gateway = GatewayConfigBuilder::new().before(&origin).await?;
    let answer = gateway.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    for name in ["x-hop", "keep-alive", "proxy-connection"] {
        ensure!(answer.fields.count(name) == 0, "{name}: {answer:?}");
    }
    assert_eq!(answer.fields.text("server"), "s");
    ensure!(answer.fields.count("date") == 1 && answer.fields.text("date").ends_with("GMT"), "{answer:?}");
    let answer = gateway.exchange("GET /dated HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    assert_eq!(answer.fields.all("date").collect::<Vec<_>>(), [b"Mon, 01 Jan 2001 00:00:00 GMT"]);
    gateway.stop().await
}
