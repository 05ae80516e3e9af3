//! Bodies whose length a Wasm module changes, and trailers that it adds, over each HTTP version on both sides.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::origin::{OriginScript, TapOrigin, response};
use eddy_e2e::place::TempDir;
use eddy_e2e::wasm;
use eddy_e2e::wire::{WireRequest, WireResponse};

/// A gateway that forwards without filters to the next one over HTTP/2.
const RELAY: &str = "\
admin: {address: ADMIN}
listeners: [{address: LISTEN, routes: site}]
routes: {site: [{cluster: next}]}
clusters: {next: {endpoints: [NEXT], protocol: PROTOCOL}}
";

/// The gateway with the filter.
const FILTER: &str = "\
admin: {address: ADMIN}
filters: {f: {wasm: {module: 'MODULE'}}}
listeners: [{address: LISTEN, routes: site, filters: [f]}]
routes: {site: [{cluster: next}]}
clusters: {next: {endpoints: [NEXT], protocol: PROTOCOL}}
";

/// Gateways from the client to the origin: the one with the filter, and one before and one behind it where the filter's
/// gateway uses HTTP/2 on that side.
struct GatewayLine {
    gateways: Vec<TestGateway>,
    _folder: TempDir,
}

impl GatewayLine {
    async fn start(
        parts: &str,
        [is_http2_before, is_http2_behind]: [bool; 2],
        origin: &TapOrigin,
    ) -> Result<Self> {
        let folder = TempDir::new("messages")?;
        std::fs::write(folder.join("f.wasm"), wasm::module(parts)?)?;
        let module = folder.join("f.wasm").display().to_string();
        let mut gateways: Vec<TestGateway> = Vec::new();
        let relayed = |is_http2| if is_http2 { "http2" } else { "http1" };
        let mut next: SocketAddr = origin.address();
        if is_http2_behind {
            gateways.push(TestGateway::start(RELAY, &[("NEXT", &next), ("PROTOCOL", &"http1")]).await?);
            next = gateways[0].address();
        }
        let words: [(&str, &dyn ToString); 3] =
            [("MODULE", &module), ("NEXT", &next), ("PROTOCOL", &relayed(is_http2_behind))];
        gateways.push(TestGateway::start(FILTER, &words).await?);
        if is_http2_before {
            next = gateways.last().context("it was pushed")?.address();
            gateways.push(TestGateway::start(RELAY, &[("NEXT", &next), ("PROTOCOL", &"http2")]).await?);
        }
        Ok(Self { gateways, _folder: folder })
    }

    async fn exchange(&self, bytes: &str) -> Result<WireResponse> {
        self.gateways.last().context("there is a gateway")?.exchange(bytes).await
    }

    async fn stop(self) -> Result<()> {
        for gateway in self.gateways.into_iter().rev() {
            ensure!(gateway.metric("eddy_egress_stopped_total").await? == 0.0);
            gateway.stop().await?;
        }
        Ok(())
    }
}

const VERSIONS: [[bool; 2]; 4] = [[false, false], [false, true], [true, false], [true, true]];

/// Message without the one header that announces its length.
fn unannounced(map: u8) -> String {
    format!("(drop (call $remove (i32.const {map}) `content-length`))")
}

/// Modules that append to the bodies of both messages: code and return value for the heads.
const LENGTHS: [(&str, bool, u8); 3] =
    [("piece by piece", true, 0), ("as a whole", false, 1), ("as a whole, unannounced", true, 1)];

#[tokio::test]
async fn a_changed_length_is_announced_or_left_open() -> Result<()> {
    for (name, is_unannounced, action) in LENGTHS {
        let head = |map| if is_unannounced { unannounced(map) } else { String::new() };
        let append = |buffer: u8| {
            format!(
                "(if (local.get 2) (then (drop (call $set_body (i32.const {buffer}) (local.get 1) (i32.const 0) ` more`))))"
            )
        };
        let parts = format!(
            r#"(func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
                 {} (if (result i32) (local.get 2) (then (i32.const 0)) (else (i32.const {action}))))
               (func (export "proxy_on_request_body") (param i32 i32 i32) (result i32) {} (i32.const 0))
               (func (export "proxy_on_response_headers") (param i32 i32 i32) (result i32)
                 {} (if (result i32) (local.get 2) (then (i32.const 0)) (else (i32.const {action}))))
               (func (export "proxy_on_response_body") (param i32 i32 i32) (result i32) {} (i32.const 0))"#,
            head(0),
            append(0),
            head(2),
            append(1)
        );
        for versions in VERSIONS {
            let context = || format!("{name}, HTTP/2 before and behind: {versions:?}");
            let large = "0123456789".repeat(20_000);
            let answered = large.clone();
            let origin = TapOrigin::with(move |asked| match asked.request.target_text().as_str() {
                "/large" => OriginScript::send(response(200, "", &answered)),
                "/chunks" => OriginScript::send(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nworld\r\n0\r\n\r\n",
                ),
                "/none" => OriginScript::send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                _ => OriginScript::send(response(200, "", "world")),
            })
            .await?;
            let line = GatewayLine::start(&parts, versions, &origin).await.with_context(context)?;
            for (target, body, answer) in [
                ("/small", "hello", "world more"),
                ("/chunks", "", "world more"),
                ("/none", "hello", ""),
                ("/large", &large, &*format!("{large} more")),
            ] {
                let length = body.len();
                let request = format!(
                    "POST {target} HTTP/1.1\r\nHost: a.test\r\nContent-Length: {length}\r\n\r\n{body}"
                );
                let got = line.exchange(&request).await.with_context(context)?;
                ensure!(
                    got.status == 200 && got.text() == answer,
                    "{}, {target}: {:?}",
                    context(),
                    got.fields
                );
                check_length(&got.fields.text("content-length"), answer.len()).with_context(context)?;
                let sent: WireRequest = origin.log().requests().pop().context("no request")?;
                let expected = if body.is_empty() { String::new() } else { format!("{body} more") };
                ensure!(sent.body == expected.as_bytes(), "{}, {target}: {:?}", context(), sent.fields);
                check_length(&sent.fields.text("content-length"), expected.len()).with_context(context)?;
                if action == 1 && !is_unannounced && !body.is_empty() {
                    ensure!(
                        sent.fields.text("content-length") == expected.len().to_string(),
                        "{}",
                        context()
                    );
                }
            }
            line.stop().await.with_context(context)?;
        }
    }
    Ok(())
}

/// Checks that a length is the right one, or not announced.
fn check_length(announced: &str, length: usize) -> Result<()> {
    ensure!(announced.is_empty() || announced == length.to_string(), "{announced} for {length} bytes");
    Ok(())
}

/// Module that adds trailers with the last piece of both bodies, and marks that it sees those of others only.
const TRAILERS: &str = r#"
  (func $none (param $map i32) (drop (call $remove (local.get $map) `content-length`)))
  (func $more (param $map i32)
    (if (call $add (local.get $map) `x-sum` `0`) (then (unreachable)))
    (if (call $replace (local.get $map) `x-sum` `7`) (then (unreachable)))
    (if (call $add (local.get $map) `x-two` `1`) (then (unreachable)))
    (if (call $add (local.get $map) `x-two` `2`) (then (unreachable)))
    (if (call $add (local.get $map) `x-gone` `1`) (then (unreachable)))
    (if (call $remove (local.get $map) `x-gone`) (then (unreachable)))
    (if (call $get (local.get $map) `x-sum` (i32.const 0) (i32.const 4)) (then (unreachable))))
  (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
    (call $none (i32.const 0))
    (if (i32.eqz (call $add (i32.const 1) `x-early` `1`)) (then (unreachable)))
    (if (result i32) (local.get 2) (then (i32.const 0)) (else (i32.const ACTION))))
  (func (export "proxy_on_request_body") (param i32 i32 i32) (result i32)
    (if (local.get 2) (then (call $more (i32.const 1)))
      (else (if (i32.eqz (call $add (i32.const 1) `x-early` `1`)) (then (unreachable)))))
    (i32.const 0))
  (func (export "proxy_on_request_trailers") (param i32 i32) (result i32)
    (drop (call $add (i32.const 1) `x-seen` `1`)) (i32.const 0))
  (func (export "proxy_on_response_headers") (param i32 i32 i32) (result i32)
    (call $none (i32.const 2))
    (if (result i32) (local.get 2) (then (i32.const 0)) (else (i32.const ACTION))))
  (func (export "proxy_on_response_body") (param i32 i32 i32) (result i32)
    (if (local.get 2) (then (call $more (i32.const 3))))
    (i32.const 0))
  (func (export "proxy_on_response_trailers") (param i32 i32) (result i32)
    (drop (call $add (i32.const 3) `x-seen` `1`)) (i32.const 0))"#;

#[tokio::test]
async fn trailers_are_added_with_the_end_of_a_body() -> Result<()> {
    for action in ["0", "1"] {
        for versions in VERSIONS {
            let context = || format!("action {action}, HTTP/2 before and behind: {versions:?}");
            let origin = TapOrigin::with(|asked| {
                OriginScript::send(match asked.request.target_text().as_str() {
                    "/trailers" => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-own: 1\r\n\r\n".to_vec(),
                    _ => response(200, "", "hello"),
                })
            })
            .await?;
            let parts = TRAILERS.replace("ACTION", action);
            let line = GatewayLine::start(&parts, versions, &origin).await.with_context(context)?;
            let request = "POST / HTTP/1.1\r\nHost: a.test\r\nTE: trailers\r\nConnection: TE\r\nContent-Length: 5\r\n\r\nhello";
            let got = line.exchange(request).await.with_context(context)?;
            ensure!(got.status == 200 && got.text() == "hello", "{}: {got:?}", context());
            let sent = origin.log().requests().pop().context("no request")?;
            ensure!(sent.body == b"hello", "{}: {sent:?}", context());
            for (what, trailers) in [("response", &got.trailers), ("request", &sent.trailers)] {
                let context = || format!("{}, {what}: {trailers:?}", context());
                ensure!(trailers.text("x-sum") == "7" && trailers.count("x-two") == 2, "{}", context());
                ensure!(trailers.count("x-gone") + trailers.count("x-early") == 0, "{}", context());
                // As in Envoy, the filter itself has no callback for the trailers that it adds.
                ensure!(trailers.count("x-seen") == 0, "{}", context());
            }
            // Trailers of the endpoint have their own callback.
            let got = line
                .exchange("GET /trailers HTTP/1.1\r\nHost: a.test\r\nTE: trailers\r\nConnection: TE\r\n\r\n")
                .await?;
            ensure!(
                got.trailers.text("x-own") == "1" && got.trailers.text("x-seen") == "1",
                "{}: {got:?}",
                context()
            );
            ensure!(got.trailers.count("x-sum") == 0, "{}: {got:?}", context());
            line.stop().await.with_context(context)?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn filters_behind_see_added_trailers() -> Result<()> {
    // Two filters of the same module; a response passes them in reverse order.
    let parts = r#"
      (func (export "proxy_on_response_headers") (param i32 i32 i32) (result i32)
        (drop (call $remove (i32.const 2) `content-length`)) (i32.const 0))
      (func (export "proxy_on_response_body") (param i32 i32 i32) (result i32)
        (if (local.get 2) (then
          (drop (call $add (i32.const 3) `x-added` `1`))
          (drop (call $set_body (i32.const 1) (i32.const 0) (i32.const 0) `!`))))
        (i32.const 0))
      (func (export "proxy_on_response_trailers") (param i32 i32) (result i32)
        (drop (call $add (i32.const 3) `x-seen` `1`)) (i32.const 0))"#;
    let folder = TempDir::new("messages")?;
    std::fs::write(folder.join("f.wasm"), wasm::module(parts)?)?;
    for keys in ["", ", memory: 2MiB"] {
        let origin = TapOrigin::with(|_| OriginScript::send(response(200, "", "hello"))).await?;
        let module = folder.join("f.wasm").display().to_string();
        let filters = format!(
            "filters: {{f: {{wasm: {{module: '{module}'}}}}, g: {{wasm: {{module: '{module}'{keys}}}}}}}"
        );
        let site = eddy_e2e::site::GatewayConfigBuilder::new().top(&filters).listener("filters: [f, g]");
        let gateway = site.before(&origin).await?;
        let got = gateway.exchange("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n").await?;
        // Only the first of them sees the end of the body.
        ensure!(got.text() == "!hello", "{keys}: {got:?}");
        ensure!(got.trailers.count("x-added") == 1 && got.trailers.count("x-seen") == 1, "{keys}: {got:?}");
        gateway.stop().await?;
    }
    Ok(())
}
