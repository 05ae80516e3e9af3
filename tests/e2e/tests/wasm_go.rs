//! The example filters in Go as a Wasm module, in the running gateway.
//!
//! Skipped with a notice without Go.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Result, ensure};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::go::{self, Into};
use eddy_e2e::origin::{OriginScript, TapOrigin, response};
use eddy_e2e::place::{build_folder, eddy_binary};
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wire::get;

/// Builds the module once. Returns `None` without Go.
fn module() -> Result<Option<PathBuf>> {
    let built = build_folder(env!("CARGO_TARGET_TMPDIR"), env!("CARGO_CRATE_NAME"))?;
    let module = built.join("goexamples.wasm");
    static BUILDING: Mutex<()> = Mutex::new(());
    let _one = BUILDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let Some(module) = go::build("examples/filters/go", "./bundle", Into::Module, &module)? else {
        return Ok(None);
    };
    // The module is compiled once and cached, so that gateways start within the time limit of tests.
    let config = module.with_extension("yaml");
    let text = format!(
        "listeners: [{{address: '127.0.0.1:0', demo: true, filters: [f]}}]\nfilters: {{f: {{wasm: {{module: '{}', root_id: passthrough}}}}}}\n",
        module.display()
    );
    std::fs::write(&config, text)?;
    let checked = Command::new(eddy_binary()?).arg("check").arg(&config).output()?;
    ensure!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    Ok(Some(module))
}

/// Starts a gateway with one filter of the module.
async fn gateway(module: &Path, origin: &TapOrigin, name: &str, config: &str) -> Result<TestGateway> {
    let (module, cpu) = (module.display(), "cpu: 1s");
    GatewayConfigBuilder::new()
        .top(&format!(
            "filters: {{f: {{wasm: {{module: '{module}', root_id: {name}, {cpu}}}, config: {config}}}}}"
        ))
        .listener("filters: [f]")
        .before(origin)
        .await
}

#[tokio::test]
async fn basic_auth_admits_known_users() -> Result<()> {
    let Some(module) = module()? else { return Ok(()) };
    let origin = TapOrigin::with(|_| OriginScript::send(response(200, "", "hello"))).await?;
    let config = "{username: fooname, password: validpassword}";
    let gateway = gateway(&module, &origin, "basic-auth", config).await?;
    for _ in 0..3 {
        let known = "Authorization: Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk\r\n";
        let answer = gateway.exchange(&get("/", known)).await?;
        ensure!(answer.status == 200 && answer.text() == "hello", "{answer:?}");
        let answer = gateway.exchange(&get("/", "")).await?;
        ensure!(answer.status == 401, "{answer:?}");
        ensure!(answer.fields.text("www-authenticate").contains("restricted"), "{answer:?}");
    }
    ensure!(origin.log().requests().len() == 3, "{:?}", origin.log().requests());
    gateway.stop().await
}

#[tokio::test]
async fn a_body_is_rewritten() -> Result<()> {
    let Some(module) = module()? else { return Ok(()) };
    let origin = TapOrigin::with(|_| {
        OriginScript::send(response(200, "Content-Type: text/plain\r\n", "one cat, two cats"))
    })
    .await?;
    let gateway = gateway(&module, &origin, "body-rewrite", "{find: cat, replace: mouse}").await?;
    let answer = gateway.exchange(&get("/", "")).await?;
    ensure!(answer.text() == "one mouse, two mouses", "{answer:?}");
    gateway.stop().await
}

#[tokio::test]
async fn a_goroutine_calls_a_cluster_before_the_request_continues() -> Result<()> {
    let Some(module) = module()? else { return Ok(()) };
    let origin = TapOrigin::with(|asked| {
        let target = asked.request.target_text().to_owned();
        OriginScript::send(match target.as_str() {
            "/ask/in" => response(200, "X-User: u1\r\n", ""),
            "/ask/out" => response(403, "", "no\n"),
            _ => response(200, "", "hello"),
        })
    })
    .await?;
    let gateway = gateway(&module, &origin, "external-auth", "{cluster: origin, path: /ask}").await?;
    let answer = gateway.exchange(&get("/in", "X-User: forged\r\n")).await?;
    ensure!(answer.status == 200 && answer.text() == "hello", "{answer:?}");
    let answer = gateway.exchange(&get("/out", "")).await?;
    ensure!(answer.status == 403 && answer.text() == "no\n", "{answer:?}");
    let requests = origin.log().requests();
    let sent: Vec<_> = requests.iter().map(|request| request.target_text().to_owned()).collect();
    ensure!(sent == ["/ask/in", "/in", "/ask/out"], "{sent:?}");
    ensure!(requests.iter().any(|request| request.fields.text("x-user") == "u1"), "{requests:?}");
    gateway.stop().await
}
