//! Filters that inspect protobuf messages: the running gateway with the configurations of the examples and real frames.
//!
//! The services frame messages as gRPC does and send the status in trailers, over HTTP/1.1.

use anyhow::{Context, Result, ensure};
use eddy_e2e::calls::{HEAD, WELL, answer, call, chunk, field, frame, frames, number};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::origin::{Gate, OriginScript, ScriptStep, TapEvent, TapOrigin, response};
use eddy_e2e::place;
use eddy_e2e::wire::{ConnectionEnd, WireResponse, within};

/// Returns the configuration of an example, with these changes and with placeholders for its addresses.
fn example(name: &str, changes: &[(&str, &str)]) -> Result<String> {
    let folder = place::tree().join("examples").join(name);
    let mut text =
        std::fs::read_to_string(folder.join("eddy.yaml")).context("the example's configuration")?;
    for (from, to) in changes {
        ensure!(text.contains(from), "{from} is not in the example");
        text = text.replace(from, to);
    }
    let text = text
        .replace("127.0.0.1:8080", "LISTEN")
        // The services of these tests control each byte of HTTP/1.1.
        .replace(", protocol: http2", "")
        .replace("127.0.0.1:50051", "ORIGIN")
        .replace("127.0.0.1:50052", "OTHER")
        .replace("descriptors: ./", &format!("descriptors: {}/", folder.display()));
    Ok(text + "\nadmin: {address: ADMIN}\nworkers: 1\nlimits: {queue_delay: 0s}\ndrain_timeout: 300ms\n")
}

async fn redacting(origin: &TapOrigin, changes: &[(&str, &str)]) -> Result<TestGateway> {
    TestGateway::start(&example("redaction", changes)?, &[("ORIGIN", &origin.address())]).await
}

/// Returns a complete account message.
fn account() -> Vec<u8> {
    [
        field(1, "eve"),
        field(2, "eve@example.com"),
        field(3, "s3cret"),
        number(4, 99),
        field(5, [field(1, "4111 1111"), field(2, "v")].concat()),
        field(6, [field(1, "ssn"), field(2, "078-05")].concat()),
        field(6, [field(1, "team"), field(2, "a")].concat()),
        field(7, field(1, "Ulm")),
        field(8, [field(1, "type.googleapis.com/accounts.v1.Card"), field(2, field(1, "4222"))].concat()),
        number(9, 2),
    ]
    .concat()
}

/// Returns the account message after redaction.
fn redacted() -> Vec<u8> {
    [
        field(1, "eve"),
        field(2, "***"),
        field(3, "***"),
        number(4, 0),
        field(5, [field(1, "***"), field(2, "v")].concat()),
        field(6, [field(1, "ssn"), field(2, "***")].concat()),
        field(6, [field(1, "team"), field(2, "a")].concat()),
        field(8, field(1, "type.googleapis.com/accounts.v1.Card")),
        number(9, 2),
    ]
    .concat()
}

const GET: &str = "/accounts.v1.Accounts/GetAccount";
const WATCH: &str = "/accounts.v1.Accounts/WatchAccounts";
const IMPORT: &str = "/accounts.v1.Accounts/ImportAccounts";

fn assert_status(response: &WireResponse, status: u32) -> Result<()> {
    ensure!(response.status == 200, "{response:?}");
    ensure!(response.fields.text("content-type") == "application/grpc", "{response:?}");
    ensure!(response.fields.text("grpc-status") == status.to_string(), "{response:?}");
    ensure!(response.body.is_empty(), "{response:?}");
    Ok(())
}

#[tokio::test]
async fn responses_are_forwarded_without_private_fields() -> Result<()> {
    let origin = TapOrigin::with(|_| OriginScript::send(answer(&[&account()], WELL))).await?;
    let gateway = redacting(&origin, &[]).await?;
    let response =
        gateway.exchange(call(GET, "Grpc-Accept-Encoding: gzip\r\n", &frame(&field(1, "eve")))).await?;
    ensure!(response.status == 200 && response.trailers.text("grpc-status") == "0", "{response:?}");
    ensure!(frames(&response.body) == [redacted()], "{response:?}");
    let seen = origin.log().until_requests(1).await?;
    ensure!(seen[0].fields.text("grpc-accept-encoding") == "identity", "{seen:?}");
    ensure!(seen[0].body == frame(&field(1, "eve")), "{seen:?}");
    gateway.until_metric("eddy_filter_messages{filter=\"privacy\"}", 1.0).await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_stream_is_redacted_message_by_message() -> Result<()> {
    let (first, second) = (Gate::default(), Gate::default());
    let gates = (first.clone(), second.clone());
    let origin = TapOrigin::with(move |_| {
        let body = frame(&account());
        let (begin, rest) = body.split_at(40);
        OriginScript::steps([
            ScriptStep::Send(HEAD.into()),
            ScriptStep::Send(chunk(begin)),
            ScriptStep::AwaitGate(gates.0.clone()),
            ScriptStep::Send(chunk(rest)),
            ScriptStep::AwaitGate(gates.1.clone()),
            ScriptStep::Send(chunk(&frame(b""))),
            ScriptStep::Send(b"0\r\ngrpc-status: 0\r\n\r\n".to_vec()),
        ])
    })
    .await?;
    let gateway = redacting(&origin, &[]).await?;
    let mut client = gateway.client().await?;
    client.send(call(WATCH, "", &frame(b""))).await?;
    // The head of a stream does not wait for its first message.
    client.until_unused(b"\r\n\r\n").await?;
    first.open();
    client.until_unused(&[redacted().as_slice(), b"\r\n"].concat()).await?;
    second.open();
    let response = client.read_get_response().await?;
    ensure!(frames(&response.body) == [redacted(), Vec::new()], "{response:?}");
    ensure!(response.trailers.text("grpc-status") == "0", "{response:?}");
    gateway.stop().await
}

#[tokio::test]
async fn messages_that_cannot_be_inspected_are_not_forwarded() -> Result<()> {
    let origin = TapOrigin::with(|asked| {
        let body: Vec<u8> = match asked.request.fields.text("x-case").as_str() {
            "compressed" => b"\x01\0\0\0\x01x".to_vec(),
            "malformed" => frame(b"\x0a\x05x"),
            "cut" => frame(&account())[..20].to_vec(),
            _ => [frame(&account()), frame(b"\x0a\x05x")].concat(),
        };
        let end = format!("0\r\n{WELL}\r\n");
        OriginScript::send([HEAD.as_bytes(), &chunk(&body), end.as_bytes()].concat())
    })
    .await?;
    let gateway = redacting(&origin, &[]).await?;
    for case in ["compressed", "malformed", "cut"] {
        let request = call(GET, &format!("X-Case: {case}\r\n"), &frame(b""));
        assert_status(&gateway.exchange(request).await.context(case)?, 13)?;
    }
    // After the head of a stream was sent, an error can only be shown by an incomplete end.
    let mut client = gateway.client().await?;
    client.send(call(WATCH, "X-Case: second\r\n", &frame(b""))).await?;
    let (end, rest) = client.end().await?;
    ensure!(matches!(end, ConnectionEnd::Closed | ConnectionEnd::Reset), "{end:?}");
    let is_hidden = !rest.windows(6).any(|window| window == b"s3cret");
    ensure!(is_hidden && !rest.ends_with(b"0\r\n\r\n"), "{}", String::from_utf8_lossy(&rest));
    // The response type of this method is unknown.
    let request = call("/accounts.v1.Accounts/Other", "", &frame(b""));
    assert_status(&gateway.exchange(request).await?, 13)?;
    gateway.until_metric("eddy_filter_refused{filter=\"privacy\"}", 5.0).await?;
    gateway.stop().await
}

#[tokio::test]
async fn requests_and_bodies_that_are_a_message_are_redacted_too() -> Result<()> {
    let origin = TapOrigin::with(|asked| match asked.request.target_text().as_str() {
        "/account" => {
            OriginScript::send(response(200, "Content-Type: application/x-protobuf\r\n", account()))
        }
        "/page" => OriginScript::send(response(200, "Content-Type: text/html\r\n", "s3cret")),
        _ => OriginScript::send(answer(&[&number(1, 2)], WELL)),
    })
    .await?;
    let changes = [(
        "direction: response",
        "response_message: accounts.v1.Account\n      request_message: accounts.v1.Account",
    )];
    let gateway = redacting(&origin, &changes).await?;
    let account = account();
    let head = format!(
        "POST /account HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-protobuf\r\nContent-Length: {}\r\n\r\n",
        account.len()
    );
    let answered = gateway.exchange([head.as_bytes(), &account].concat()).await?;
    ensure!(answered.status == 200 && answered.body == redacted(), "{answered:?}");
    let seen = origin.log().until_requests(1).await?;
    ensure!(seen[0].body == redacted(), "{seen:?}");
    // A body that is not a message is left unchanged.
    let answered = gateway.exchange("GET /page HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    ensure!(answered.body == b"s3cret", "{answered:?}");
    // A client stream is forwarded as it arrives.
    let mut client = gateway.client().await?;
    let head = format!(
        "POST {IMPORT} HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    client.send(head).await?;
    client.send(chunk(&frame(&account))).await?;
    origin
        .log()
        .until("head", |events| {
            events.iter().filter(|event| matches!(event, TapEvent::Head { .. })).count() == 3
        })
        .await?;
    client.send(chunk(&frame(&account))).await?;
    client.send("0\r\n\r\n").await?;
    ensure!(client.read_get_response().await?.status == 200);
    let seen = origin.log().until_requests(3).await?;
    ensure!(frames(&seen[2].body) == [redacted(), redacted()], "{seen:?}");
    // A request that cannot be parsed is not forwarded.
    let refused = gateway.exchange(call(GET, "", b"\x01\0\0\0\x01x")).await?;
    ensure!(
        refused.status == 200 && refused.trailers.text("grpc-status") == "0",
        "no field of it is private: {refused:?}"
    );
    let refused =
        gateway.exchange(call("/accounts.v1.Accounts/CreateAccount", "", b"\x01\0\0\0\x01x")).await?;
    assert_status(&refused, 12)?;
    let refused =
        gateway.exchange(call("/accounts.v1.Accounts/CreateAccount", "", &frame(b"\x0a\x05x"))).await?;
    assert_status(&refused, 3)?;
    ensure!(origin.log().requests().len() == 4);
    gateway.stop().await
}

#[tokio::test]
async fn same_length_masks_stream_large_messages() -> Result<()> {
    // 32 MiB of text in fields that are not private; the last byte arrives long after the first.
    let gate = Gate::default();
    let opened = gate.clone();
    let piece = field(5, field(2, "v".repeat(1020)));
    let message = [field(3, "s3cret"), piece.repeat(32 * 1024)].concat();
    let body = frame(&message);
    let origin = TapOrigin::with(move |_| {
        let (begin, rest) = body.split_at(1 << 20);
        OriginScript::steps([
            ScriptStep::Send(HEAD.into()),
            ScriptStep::Send(chunk(begin)),
            ScriptStep::AwaitGate(opened.clone()),
            ScriptStep::Send(chunk(rest)),
            ScriptStep::Send(format!("0\r\n{WELL}\r\n").into_bytes()),
        ])
    })
    .await?;
    let changes = [
        (
            "options: [debug_redact, accounts.v1.personal, 'accounts.v1.privacy=SECRET']",
            "options: [debug_redact]",
        ),
        (
            "      # Places that no option marks.\n      paths:\n        - {path: 'labels[\"ssn\"]', messages: [accounts.v1.Account]}\n",
            "      edit: same_length\n      any: pass\n",
        ),
    ];
    let gateway = redacting(&origin, &changes).await?;
    let mut client = gateway.client().await?;
    client.send(call(GET, "", &frame(b""))).await?;
    within("the first half of a MiB", async {
        while client.unused().len() < 1 << 19 && client.ended().is_none() {
            client.fill().await;
        }
    })
    .await?;
    gate.open();
    let response = client.read_get_response().await?;
    let expected = [field(3, "******"), piece.repeat(32 * 1024)].concat();
    ensure!(response.body == frame(&expected), "{} bytes", response.body.len());
    gateway.stop().await
}

async fn routing(acme: &TapOrigin, others: &TapOrigin, changes: &[(&str, &str)]) -> Result<TestGateway> {
    let config = example("field-routing", changes)?;
    TestGateway::start(&config, &[("ORIGIN", &acme.address()), ("OTHER", &others.address())]).await
}

const PLACE: &str = "/orders.v1.Orders/Place";
const UPLOAD: &str = "/orders.v1.Orders/Upload";

/// Returns an order of a tenant.
fn order(tenant: &str) -> Vec<u8> {
    let customer = [field(1, tenant), number(2, 1)].concat();
    let items: Vec<u8> =
        ["a", "b\"\n", "c", "d"].iter().flat_map(|article| field(2, field(1, article))).collect();
    [field(1, customer), items].concat()
}

/// Starts an origin that sends its name in the id of each reply.
async fn orders(name: &'static str) -> Result<TapOrigin> {
    let reply = [field(1, name), field(2, number(2, 42))].concat();
    TapOrigin::with(move |_| OriginScript::send(answer(&[&reply], WELL))).await
}

fn answered_by(response: &WireResponse, name: &str) -> Result<()> {
    let message = frames(&response.body).concat();
    ensure!(message.starts_with(&field(1, name)), "{name}: {response:?}");
    Ok(())
}

#[tokio::test]
async fn a_field_of_the_first_message_selects_the_rule_and_is_logged() -> Result<()> {
    let (acme, others) = (orders("acme").await?, orders("others").await?);
    let gateway = routing(&acme, &others, &[]).await?;
    answered_by(&gateway.exchange(call(PLACE, "", &frame(&order("acme")))).await?, "acme")?;
    let seen = acme.log().until_requests(1).await?;
    ensure!(seen[0].fields.text("x-tenant") == "acme" && seen[0].body == frame(&order("acme")), "{seen:?}");
    gateway
        .lines()
        .until(r#""tenant":"acme","region":"EUROPE","articles":["a","b\"\u000a","c"],"total":42"#, 1)
        .await?;
    // A client cannot choose the route by the header: only the field of the message counts, even when it is empty.
    let spoofed = "X-Tenant: acme\r\n";
    answered_by(&gateway.exchange(call(PLACE, spoofed, &frame(&order("zoo")))).await?, "others")?;
    answered_by(&gateway.exchange(call(PLACE, spoofed, &frame(b""))).await?, "others")?;
    answered_by(&gateway.exchange("GET / HTTP/1.1\r\nHost: a\r\nX-Tenant: acme\r\n\r\n").await?, "others")?;
    let seen = others.log().until_requests(3).await?;
    ensure!(seen[0].fields.text("x-tenant") == "zoo" && seen[1].fields.count("x-tenant") == 0, "{seen:?}");
    ensure!(seen[2].fields.count("x-tenant") == 0, "{seen:?}");
    gateway.lines().until(r#""total":42"#, 3).await?;
    gateway.lines().until(r#""tenant":"zoo""#, 1).await?;
    // The last value of a field counts, as in every protobuf library.
    let twice = [field(1, field(1, "zoo")), field(1, field(1, "acme"))].concat();
    answered_by(&gateway.exchange(call(PLACE, "", &frame(&twice))).await?, "acme")?;
    gateway.stop().await
}

#[tokio::test]
async fn the_first_message_of_a_stream_selects_its_route() -> Result<()> {
    let (acme, others) = (orders("acme").await?, orders("others").await?);
    let gateway = routing(&acme, &others, &[]).await?;
    let mut client = gateway.client().await?;
    let head = format!(
        "POST {UPLOAD} HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc\r\nTransfer-Encoding: chunked\r\n\r\n"
    );
    let first = frame(&field(1, field(1, "acme")));
    let (begin, rest) = first.split_at(7);
    client.send(head).await?;
    client.send(chunk(begin)).await?;
    client.send(chunk(rest)).await?;
    // The head is forwarded with the first message, and the rest of the stream after it.
    acme.log()
        .until("head", |events| events.iter().any(|event| matches!(event, TapEvent::Head { .. })))
        .await?;
    let item = frame(&field(2, field(1, "a")));
    client.send(chunk(&item)).await?;
    client.send(chunk(&item)).await?;
    client.send("0\r\n\r\n").await?;
    answered_by(&client.read_get_response().await?, "acme")?;
    let seen = acme.log().until_requests(1).await?;
    ensure!(seen[0].body == [first, item.clone(), item].concat(), "{seen:?}");
    ensure!(others.log().requests().is_empty());
    gateway.stop().await
}

#[tokio::test]
async fn an_unreadable_message_is_refused_unless_allowed() -> Result<()> {
    let (acme, others) = (orders("acme").await?, orders("others").await?);
    let gateway = routing(&acme, &others, &[]).await?;
    let long = frame(&order(&"x".repeat(300)));
    let large = frame(&field(2, field(1, "x".repeat(15_000))).repeat(5));
    for (body, status) in
        [(b"\x01\0\0\0\x01x".to_vec(), 3), (frame(b"\x0a\x05x"), 3), (large.clone(), 8), (long, 3)]
    {
        assert_status(&gateway.exchange(call(PLACE, "", &body)).await?, status)?;
    }
    ensure!(acme.log().requests().is_empty() && others.log().requests().is_empty());
    gateway.until_metric("eddy_filter_refused{filter=\"fields\"}", 4.0).await?;
    gateway.stop().await?;

    let gateway =
        routing(&acme, &others, &[("reroute: true", "reroute: true\n      unreadable: pass")]).await?;
    for body in [b"\x01\0\0\0\x01x".to_vec(), large.clone()] {
        answered_by(&gateway.exchange(call(PLACE, "", &body)).await?, "others")?;
    }
    let seen = others.log().until_requests(2).await?;
    ensure!(seen[1].body == large, "{} bytes", seen[1].body.len());
    gateway.stop().await
}

#[tokio::test]
async fn an_unreadable_response_is_forwarded_unchanged() -> Result<()> {
    let origin = TapOrigin::with(|_| OriginScript::send(answer(&[b"\x12\x05x"], WELL))).await?;
    let gateway = routing(&origin, &origin, &[]).await?;
    let response = gateway.exchange(call(PLACE, "", &frame(&order("acme")))).await?;
    ensure!(frames(&response.body) == [b"\x12\x05x"], "{response:?}");
    gateway.until_metric("eddy_filter_unreadable{filter=\"fields\"}", 1.0).await?;
    gateway.lines().until(r#""articles":["a","b\"\u000a","c"],"endpoint""#, 1).await?;
    gateway.stop().await
}

#[tokio::test]
async fn a_later_filter_removes_fields_from_the_body() -> Result<()> {
    let (acme, others) = (orders("acme").await?, orders("others").await?);
    let script = r#"filters:
  mark:
    lua:
      source: |
        function envoy_on_request(handle)
          local at = handle:streamInfo():dynamicMetadata():get("message_fields")["tenant_at"][1]
          handle:headers():replace("x-taken", handle:body():getBytes(at[1], at[2]))
        end
  fields:
"#;
    let changes = [
        ("    filters: [fields]", "    filters: [fields, mark]"),
        ("filters:\n  fields:\n", script),
        ("header: x-tenant}", "header: x-tenant, places: true}"),
    ];
    let gateway = routing(&acme, &others, &changes).await?;
    answered_by(&gateway.exchange(call(PLACE, "", &frame(&order("acme")))).await?, "acme")?;
    let seen = acme.log().until_requests(1).await?;
    ensure!(seen[0].fields.text("x-taken") == "acme" && seen[0].body == frame(&order("acme")), "{seen:?}");
    gateway.stop().await
}
