//! Filters in four languages declare which message fields they read, and get the positions of these fields in the body.

use std::process::Command;

use anyhow::{Context, Result, ensure};
use eddy_e2e::calls::{WELL, answer, call, chunk, field, frame, number};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::go::{self, Into};
use eddy_e2e::origin::{OriginScript, TapEvent, TapOrigin};
use eddy_e2e::place::{self, TempDir, tree};
use eddy_e2e::wasm;

const PLACE: &str = "/orders.v1.Orders/Place";
const TONGUES: [&str; 4] = ["go", "lua", "c", "wasm"];

/// Returns the example with the built filters. Returns `None` without Go or clang, with a notice.
fn example(folder: &TempDir) -> Result<Option<String>> {
    let library = folder.join("filters.so");
    if go::build("examples/filters/go", "./bundle", Into::Library, &library)?.is_none() {
        return Ok(None);
    }
    let Some(modules) = wasm::examples_in_c(folder)? else { return Ok(None) };
    let native = folder.join("native");
    let mut make = Command::new("make");
    make.arg("-s").arg("-C").arg(tree().join("examples/filters/c")).env_remove("MAKEFLAGS");
    let made = make.arg(format!("BUILD={}", native.display())).output().context("cannot run make")?;
    ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut text = std::fs::read_to_string(tree().join("examples/filters/fields.yaml"))?;
    let orders = tree().join("examples/field-routing/orders.binpb");
    let script = tree().join("examples/filters/lua/field.lua");
    for (from, to) in [
        ("127.0.0.1:8080", "LISTEN".to_owned()),
        // The service of these tests controls each byte of HTTP/1.1.
        ("127.0.0.1:50051], protocol: http2", "ORIGIN]".to_owned()),
        ("../field-routing/orders.binpb", orders.display().to_string()),
        ("package: ./go/field", format!("library: {}", library.display())),
        ("lua/field.lua", script.display().to_string()),
        ("./c/build", native.display().to_string()),
        ("wasm-c/build", modules.display().to_string()),
    ] {
        ensure!(text.contains(from), "{from} is not in the example");
        text = text.replace(from, &to);
    }
    Ok(Some(text + "admin: {address: ADMIN}\nworkers: 1\n"))
}

/// Starts an origin that answers an order with its price.
async fn orders() -> Result<TapOrigin> {
    let reply = [field(1, "o-1"), field(2, [field(1, "EUR"), number(2, 42)].concat())].concat();
    TapOrigin::with(move |_| OriginScript::send(answer(&[&reply], WELL))).await
}

#[tokio::test]
async fn filters_in_four_languages_read_a_field() -> Result<()> {
    let folder = TempDir::new("filter-fields")?;
    let Some(text) = example(&folder)? else { return Ok(()) };
    let origin = orders().await?;
    let gateway = TestGateway::start(&text, &[("ORIGIN", &origin.address())]).await?;
    let one = field(1, field(1, "acme"));
    // The last value of a field counts, as in every protobuf library.
    let twice = [field(1, field(1, "zoo")), field(2, field(1, "a")), one.clone()].concat();
    let emptied = [one.clone(), field(1, field(1, ""))].concat();
    let bodies =
        [frame(&one), frame(&twice), frame(b""), frame(&emptied), frame(b"\x0a\x05x"), b"\0\0".to_vec()];
    for (index, (body, tenant)) in bodies.iter().zip(["acme", "acme", "", "", "", ""]).enumerate() {
        let answered = gateway.exchange(call(PLACE, "", body)).await?;
        ensure!(answered.trailers.text("grpc-status") == "0", "{answered:?}");
        let seen = origin.log().until_requests(index + 1).await?;
        let request = seen.last().context("a request")?;
        ensure!(request.body == *body, "{request:?}");
        for tongue in TONGUES {
            let told = request.fields.text(&format!("x-tenant-{tongue}"));
            ensure!(told == tenant, "{index}, {tongue}: {told:?}, not {tenant:?}");
        }
    }
    // The result does not depend on how the message is split.
    let whole = frame(&twice);
    for at in [1, 6, 9, whole.len() - 1] {
        let mut client = gateway.client().await?;
        let head = format!(
            "POST {PLACE} HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc\r\nTransfer-Encoding: chunked\r\n\r\n"
        );
        client.send([head.as_bytes(), &chunk(&whole[..at])].concat()).await?;
        client.send([&chunk(&whole[at..]), b"0\r\n\r\n".as_slice()].concat()).await?;
        ensure!(client.read_get_response().await?.status == 200);
    }
    let seen = origin.log().until_requests(bodies.len() + 4).await?;
    for request in seen.iter().skip(bodies.len()) {
        let told = TONGUES.map(|tongue| request.fields.text(&format!("x-tenant-{tongue}")));
        ensure!(told == ["acme"; 4] && request.body == whole, "{request:?}");
    }
    // A body that is not a message has no fields.
    let plain = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n\0\0\0\0\x01x";
    gateway.exchange(plain).await?;
    let seen = origin.log().until_requests(bodies.len() + 5).await?;
    let request = seen.last().context("a request")?;
    ensure!(
        TONGUES.iter().all(|tongue| request.fields.count(&format!("x-tenant-{tongue}")) == 0),
        "{request:?}"
    );
    gateway.stop().await
}

/// A Lua filter that reads fields, between two others that replace the body before and after it.
const AROUND: &str = r#"
listeners:
  - address: LISTEN
    routes: orders
    filters: [before, reading, behind]
filters:
  before: {lua: {source: "function envoy_on_request(h) h:body():setBytes(h:headers():get('x-body') or h:body():getBytes(0, h:body():length())) end"}}
  reading:
    lua:
      source: |
        function envoy_on_request(handle)
          local body = handle:body(true)
          local tenant, index, length = body:field("tenant")
          local region, at, none = body:field("region")
          local articles = {}
          for _, place in ipairs(body:places("articles")) do articles[#articles + 1] = body:getBytes(place[1], place[2]) end
          handle:headers():replace("x-read", table.concat({
            tostring(tenant), tostring(index), tostring(length), tostring(region), tostring(none), table.concat(articles, "+"),
            tostring(body:field("articles")), tostring(body:field("nothing")),
          }, " "))
          body:setBytes("changed")
          handle:headers():replace("x-after", tostring(select(2, pcall(body.field, body, "tenant"))))
        end
        function envoy_on_response(handle)
          local body = handle:body(true)
          local total, at, length = body:field("total")
          handle:headers():replace("x-total", tostring(total) .. " " .. tostring(at) .. " " .. tostring(length))
        end
    fields:
      descriptors: DESCRIPTORS
      request:
        tenant: {path: customer.tenant}
        region: {path: customer.region}
        articles: {path: items.article}
      response:
        total: {path: total.units}
  behind: {lua: {source: "function envoy_on_response(h) h:body():setBytes(h:body():getBytes(0, h:body():length())) end"}}
routes:
  orders:
    - {match: {headers: {x-off: '1'}}, filters: {reading: {disabled: true}}, cluster: orders}
    - {cluster: orders}
clusters: {orders: {endpoints: [ORIGIN]}}
admin: {address: ADMIN}
workers: 1
"#;

#[tokio::test]
async fn values_have_offsets_into_the_body_that_the_filter_sees() -> Result<()> {
    let origin = orders().await?;
    let descriptors = tree().join("examples/field-routing/orders.binpb").display().to_string();
    let text = AROUND.replace("DESCRIPTORS", &descriptors);
    let gateway = TestGateway::start(&text, &[("ORIGIN", &origin.address())]).await?;
    let customer = field(1, [field(1, "acme"), number(2, 1)].concat());
    let order = [customer, field(2, field(1, "nut")), field(2, field(1, "bolt"))].concat();
    let answered = gateway.exchange(call(PLACE, "", &frame(&order))).await?;
    let seen = origin.log().until_requests(1).await?;
    let read = seen[0].fields.text("x-read");
    ensure!(read == "acme 9 4 EUROPE 0 nut+bolt bolt nil", "{read:?}");
    ensure!(
        seen[0].fields.text("x-after").ends_with("a body that was set has no message fields"),
        "{seen:?}"
    );
    ensure!(seen[0].body == b"changed", "{seen:?}");
    // Filters run in reverse order for responses.
    ensure!(answered.fields.text("x-total") == "42 18 0", "{answered:?}");
    gateway.until_metric("eddy_filter_messages{filter=\"reading (fields of requests)\"}", 1.0).await?;
    // Fields are not read for a disabled filter.
    gateway.exchange(call(PLACE, "X-Off: 1\r\n", &frame(&order))).await?;
    gateway.exchange(call(PLACE, "", &frame(&order))).await?;
    gateway.until_metric("eddy_filter_messages{filter=\"reading (fields of requests)\"}", 2.0).await?;
    gateway.stop().await
}

/// A module that lets body chunks pass, and reports at the end whether a field exists.
const PASSING: &str = r#"
(data (i32.const 512) "eddy\00field\00tenant")
(func (export "proxy_on_request_body") (param i32 i32 i32) (result i32)
  (if (local.get 2) (then
    (if (call $property (i32.const 512) (i32.const 17) (i32.const 0) (i32.const 4))
      (then (drop (call $log (i32.const 2) `there is no field`)))
      (else (drop (call $log (i32.const 2) (i32.load (i32.const 0)) (i32.load (i32.const 4))))))))
  (i32.const 0))
"#;

#[tokio::test]
async fn a_wasm_module_finds_fields_only_in_complete_bodies() -> Result<()> {
    let origin = orders().await?;
    let descriptors = tree().join("examples/field-routing/orders.binpb");
    let keys = format!(
        ", fields: {{descriptors: '{}', request: {{tenant: {{path: customer.tenant}}}}}}",
        descriptors.display()
    );
    let (site, _folder) = wasm::site(PASSING, "", &keys)?;
    let gateway = site.before(&origin).await?;
    // A body that arrives at once is complete without buffering.
    let body = frame(&[field(1, field(1, "acme")), field(2, field(1, "nut"))].concat());
    gateway.exchange(call(PLACE, "", &body)).await?;
    gateway.lines().until("acme", 1).await?;
    // A body that arrives in pieces is not complete: the last piece is long enough to contain the field's position, but
    // has other bytes there.
    let mut client = gateway.client().await?;
    let request = call(PLACE, "", &body);
    let (begun, rest) = request.split_at(request.len() - body.len() + 1);
    client.send(begun).await?;
    origin
        .log()
        .until("head", |events| {
            events.iter().filter(|event| matches!(event, TapEvent::Head { .. })).count() == 2
        })
        .await?;
    client.send(rest).await?;
    ensure!(client.read_get_response().await?.status == 200);
    gateway.lines().until("there is no field", 1).await?;
    gateway.stop().await
}

#[test]
fn an_unknown_field_path_is_reported_with_its_position() -> Result<()> {
    let folder = TempDir::new("filter-fields-check")?;
    let descriptors = tree().join("examples/field-routing/orders.binpb");
    let check = |path: &str| -> Result<String> {
        let text = format!(
            "listeners:\n  - {{address: 127.0.0.1:0, demo: true, filters: [read]}}\nfilters:\n  read:\n    lua: {{source: 'function envoy_on_request(h) end'}}\n    fields:\n      descriptors: {}\n      request:\n        tenant: {{path: {path}}}\n",
            descriptors.display()
        );
        std::fs::write(folder.join("eddy.yaml"), text)?;
        let checked =
            Command::new(place::eddy_binary()?).arg("check").arg(folder.join("eddy.yaml")).output()?;
        ensure!(checked.status.code() == Some(i32::from(path != "customer.tenant")), "{checked:?}");
        let said = [checked.stdout, checked.stderr].concat();
        Ok(String::from_utf8_lossy(&said).into_owned())
    };
    check("customer.tenant")?;
    for (path, why) in [
        ("customer.tenat", "has no field \"tenat\""),
        ("customer", "path \"customer\" ends at a message or map; name a field in it"),
        ("items", "path \"items\""),
        ("'customer[1]'", "customer[1]"),
    ] {
        let said = check(path)?;
        ensure!(said.contains("eddy.yaml:9:"), "{path}: {said}");
        ensure!(said.contains("filter \"read\"") && said.contains(why), "{path}: {said}");
    }
    Ok(())
}
