//! Modules of Higress' SDKs: their ABI version, their host functions and their foreign functions.

use anyhow::{Result, ensure};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::origin::{OriginScript, TapOrigin, response};
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wasm;
use eddy_e2e::wire::get;

/// Imports of Higress' SDKs, one of which eddy has.
const IMPORTS: &str = r#"
(import "env" "proxy_set_upstream_override_host" (func $endpoint (param i32 i32) (result i32)))
(import "env" "proxy_redis_init" (func $redis_init (param i32 i32 i32 i32 i32 i32 i32) (result i32)))
(import "env" "proxy_redis_call" (func $redis_call (param i32 i32 i32 i32 i32) (result i32)))"#;

/// Writes a module of ABI version 0.2.100 and returns its folder.
fn module(parts: &str) -> Result<TempDir> {
    let folder = TempDir::new("higress")?;
    let module = wasm::module_with(IMPORTS, "proxy_abi_version_0_2_100", parts)?;
    std::fs::write(folder.join("f.wasm"), module)?;
    Ok(folder)
}

fn site(folder: &TempDir) -> GatewayConfigBuilder {
    let filter = format!("filters: {{f: {{wasm: {{module: '{}'}}}}}}", folder.join("f.wasm").display());
    GatewayConfigBuilder::new().top(&filter).listener("filters: [f]")
}

async fn checked(folder: &TempDir) -> Result<(bool, String)> {
    let config = "listeners:\n  - {address: '127.0.0.1:8080', routes: site, filters: [f]}\nfilters:\n  f:\n    wasm: {module: f.wasm}\nroutes: {site: [{respond: {status: 200}}]}\n";
    std::fs::write(folder.join("eddy.yaml"), config)?;
    let mut check = tokio::process::Command::new(place::eddy_binary()?);
    let output = check.arg("check").arg(folder.join("eddy.yaml")).output().await?;
    let said = [&*output.stdout, &*output.stderr].concat();
    Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
}

#[tokio::test]
async fn a_module_of_version_0_2_100_selects_the_endpoint() -> Result<()> {
    let folder = module(
        r#"(func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
             (if (i32.eqz (call $get (i32.const 0) `x-where` (i32.const 0) (i32.const 4)))
               (then (if (call $endpoint (i32.load (i32.const 0)) (i32.load (i32.const 4)))
                 (then (drop (call $replace (i32.const 0) `x-refused` `1`))))))
             (if (i32.eqz (call $get (i32.const 0) `x-foreign` (i32.const 0) (i32.const 4)))
               (then (drop (call $foreign `set_upstream_override_host`
                 (i32.load (i32.const 0)) (i32.load (i32.const 4)) (i32.const 0) (i32.const 4)))))
             (i32.const 0))
           (func (export "proxy_on_response_headers") (param i32 i32 i32) (result i32)
             (if (i32.eqz (call $endpoint `127.0.0.1:80`)) (then (unreachable)))
             (i32.const 0))"#,
    )?;
    let (first, second) = (TapOrigin::start().await?, TapOrigin::start().await?);
    let gateway = site(&folder)
        .rule("{match: {path: /both}, cluster: both}")
        .another_cluster("both: {endpoints: [ORIGIN, SECOND]}")
        .with("SECOND", second.address())
        .before(&first)
        .await?;
    for (field, address, counts) in [
        ("X-Where", second.address().to_string(), (0, 3)),
        ("X-Where", first.address().to_string(), (3, 3)),
        ("X-Foreign", second.address().to_string(), (3, 6)),
    ] {
        for _ in 0..3 {
            let answer = gateway.exchange(&get("/both", &format!("{field}: {address}\r\n"))).await?;
            ensure!(answer.status == 200, "{answer:?}");
        }
        let found = (first.log().requests().len(), second.log().requests().len());
        ensure!(found == counts, "{field}: {address}: {found:?}");
    }
    // An endpoint that the cluster does not have leaves the choice to the load balancer; text is no address.
    for (address, refused) in [("127.0.0.1:1", 0), ("nowhere", 1)] {
        let answer = gateway.exchange(&get("/both", &format!("X-Where: {address}\r\n"))).await?;
        ensure!(answer.status == 200, "{answer:?}");
        let requests = [first.log().requests(), second.log().requests()].concat();
        let count = requests.iter().filter(|request| request.fields.count("x-refused") > 0).count();
        ensure!(count == refused, "{address}: {requests:?}");
    }
    gateway.stop().await
}

#[tokio::test]
async fn missing_functions_are_named_once() -> Result<()> {
    let folder = module(
        r#"(func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
             (if (i32.ne (call $redis_init `redis` `` `` (i32.const 1000)) (i32.const 12)) (then (unreachable)))
             (if (i32.ne (call $redis_call `redis` `PING` (i32.const 0)) (i32.const 12)) (then (unreachable)))
             (if (i32.ne (call $foreign `expr_create` `1` (i32.const 0) (i32.const 4)) (i32.const 1))
               (then (unreachable)))
             (if (call $foreign `get_log_level` `` (i32.const 0) (i32.const 4)) (then (unreachable)))
             (if (i32.ne (i32.load (i32.const 4)) (i32.const 4)) (then (unreachable)))
             (if (i32.ne (i32.load (i32.load (i32.const 0))) (i32.const 2)) (then (unreachable)))
             (i32.const 0))"#,
    )?;
    let (is_usable, said) = checked(&folder).await?;
    ensure!(is_usable && said.contains("warning") && said.contains("eddy.yaml:4:3"), "{said}");
    ensure!(
        said.contains("imports `proxy_redis_init`, `proxy_redis_call`, which eddy does not have"),
        "{said}"
    );
    let origin = TapOrigin::start().await?;
    let gateway = site(&folder).before(&origin).await?;
    for _ in 0..3 {
        ensure!(gateway.exchange(&get("/", "")).await?.status == 200);
    }
    for name in ["proxy_redis_init", "proxy_redis_call", "expr_create"] {
        let text = format!("it calls the function \"{name}\", which eddy does not have");
        gateway.lines().until(&text, 1).await?;
        ensure!(gateway.lines().count(&text) == 1, "{name}: {}", gateway.lines().text());
    }
    let count = gateway.lines().count("which eddy does not have");
    ensure!(count == 4, "each function once, and the imports: {count}");
    gateway.stop().await
}

#[tokio::test]
async fn a_response_without_a_body_gets_one() -> Result<()> {
    let injection = "\x0a\x05hello\x10\x01";
    let folder = module(&format!(
        r#"(func (export "proxy_on_response_headers") (param i32 i32 i32) (result i32)
             (drop (call $remove (i32.const 2) `content-length`))
             (if (call $foreign `inject_encoded_data_to_filter_chain_on_header` `{injection}`
                   (i32.const 0) (i32.const 4))
               (then (drop (call $replace (i32.const 2) `x-refused` `1`)) (return (i32.const 0))))
             (i32.const 1))"#
    ))?;
    let origin = TapOrigin::with(|asked| {
        OriginScript::send(match asked.request.target_text().as_str() {
            "/full" => response(200, "", "full"),
            "/204" => b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
            _ => b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec(),
        })
    })
    .await?;
    let gateway: TestGateway = site(&folder).before(&origin).await?;
    let answer = gateway.exchange(&get("/", "")).await?;
    ensure!(answer.status == 200 && answer.text() == "hello", "{answer:?}");
    ensure!(answer.fields.text("content-length") == "5", "{answer:?}");
    for (target, status, body) in [("/full", 200, "full"), ("/204", 204, "")] {
        let answer = gateway.exchange(&get(target, "")).await?;
        ensure!(answer.status == status && answer.text() == body, "{target}: {answer:?}");
        ensure!(answer.fields.text("x-refused") == "1", "{target}: {answer:?}");
    }
    gateway.stop().await
}

#[tokio::test]
async fn a_call_reaches_the_service_in_a_cluster_name_of_higress() -> Result<()> {
    let fields = wasm::pairs(&[(":method", "GET"), (":path", "/ask"), (":authority", "a.test")]);
    let folder = module(&format!(
        r#"(global $paused (mut i32) (i32.const 0))
           (func $ask (param $cluster i32) (param $length i32) (result i32)
             (call $call (local.get $cluster) (local.get $length) `{fields}` `` `` (i32.const 5000) (i32.const 0)))
           (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
             (global.set $paused (local.get 0))
             (if (i32.eqz (call $ask `outbound|80||nowhere.dns`)) (then (unreachable)))
             (if (call $ask `outbound|80||ask.dns`) (then (unreachable)))
             (i32.const 4))
           (func (export "proxy_on_request_body") (param i32 i32 i32) (result i32) (unreachable))
           (func (export "proxy_on_http_call_response") (param i32 i32 i32 i32 i32)
             (drop (call $effective (global.get $paused)))
             (drop (call $replace (i32.const 0) `x-asked` `1`))
             (drop (call $continue (i32.const 0))))"#
    ))?;
    let origin = TapOrigin::start().await?;
    let gateway = site(&folder).another_cluster("ask.dns: {endpoints: [ORIGIN]}").before(&origin).await?;
    ensure!(gateway.exchange(&get("/", "")).await?.status == 200);
    let requests = origin.log().requests();
    ensure!(requests.len() == 2 && requests[0].target_text() == "/ask", "{requests:?}");
    ensure!(requests[1].fields.text("x-asked") == "1", "{requests:?}");
    gateway.stop().await
}
