//! Wasm modules that fail in every possible way: their exchange ends, and nothing else is affected.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eddy_e2e::evil::{MODULES, module_in, module_in_head};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::origin::TapOrigin;
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wait::next_look;
use eddy_e2e::wasm;
use eddy_e2e::wire::get;

async fn before(origin: &TapOrigin, parts: &str, isolation: &str) -> Result<(TestGateway, TempDir)> {
    let (site, folder) = wasm::site(parts, &format!(", isolation: {isolation}, memory: 4MiB"), "")?;
    let free = "{match: {path: /free/}, cluster: origin, filters: {f: {disabled: true}}}";
    Ok((site.rule(free).before(origin).await?, folder))
}

#[tokio::test]
async fn every_hostile_head_callback_ends_only_its_exchange() -> Result<()> {
    for isolation in ["worker", "stream"] {
        for (name, code, status) in MODULES {
            let origin = TapOrigin::start().await?;
            let (gateway, _folder) = before(&origin, &module_in_head(code), isolation).await?;
            let told = format!("{name}, isolation {isolation}");
            for _ in 0..2 {
                let evil = gateway.exchange(&get("/", "X-Evil: 1\r\n")).await.context(told.clone())?;
                ensure!(evil.status == status, "{told}: {evil:?}\n{}", gateway.lines().text());
                let witness = gateway.exchange(&get("/free/", "")).await.context(told.clone())?;
                ensure!(witness.status == 200, "{told}: {witness:?}");
                // The instance in reserve takes over at once; the next one may have to be started first.
                until_served_again(&gateway).await.context(told.clone())?;
            }
            let good =
                origin.log().requests().iter().filter(|request| request.fields.text("x-ok") == "1").count();
            ensure!(good >= 2, "{told}: {good}");
            gateway.stop().await.context(told)?;
        }
    }
    Ok(())
}

/// Waits until the module serves requests again.
async fn until_served_again(gateway: &TestGateway) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let next = gateway.exchange(&get("/", "")).await?;
        if next.status == 200 {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "it does not serve again: {next:?}\n{}", gateway.lines().text());
        next_look().await;
    }
}

const LATER: [(&str, &str, &str, Option<u16>); 6] = [
    ("proxy_on_request_body", "i32 i32 i32", "(result i32)", Some(500)),
    ("proxy_on_response_headers", "i32 i32 i32", "(result i32)", Some(500)),
    // The head may already have been sent.
    ("proxy_on_response_body", "i32 i32 i32", "(result i32)", None),
    ("proxy_on_done", "i32", "(result i32)", Some(200)),
    ("proxy_on_log", "i32", "", Some(200)),
    ("proxy_on_delete", "i32", "", Some(200)),
];

#[tokio::test]
async fn every_hostile_later_callback_ends_only_its_exchange() -> Result<()> {
    let post =
        |fields: &str| format!("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\n{fields}\r\nbody");
    for isolation in ["worker", "stream"] {
        for (callback, params, result, status) in LATER {
            let log = r#"(func (export "proxy_on_log") (param i32))"#;
            let log = if callback == "proxy_on_delete" { log } else { "" };
            for (name, code, _) in MODULES.iter().filter(|(.., status)| *status == 500).step_by(3) {
                let origin = TapOrigin::start().await?;
                let parts = format!("{}{log}", module_in(callback, params, result, code));
                let (gateway, _folder) = before(&origin, &parts, isolation).await?;
                let told = format!("{name} in {callback}, isolation {isolation}");
                let evil = gateway.exchange(&post("X-Evil: 1\r\n")).await;
                if let Some(status) = status {
                    let evil = evil.context(told.clone())?;
                    ensure!(evil.status == status, "{told}: {evil:?}\n{}", gateway.lines().text());
                }
                let witness = gateway.exchange(&get("/free/", "")).await.context(told.clone())?;
                ensure!(witness.status == 200, "{told}: {witness:?}");
                until_served_again(&gateway).await.context(told.clone())?;
                let well = gateway.exchange(&post("")).await.context(told.clone())?;
                ensure!(well.status == 200, "{told}: {well:?}");
                gateway.stop().await.context(told)?;
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn hostile_ticks_affect_only_their_module() -> Result<()> {
    for (name, code) in [("unreachable", "(unreachable)"), ("a loop", "(loop $l (br $l))")] {
        let parts = format!(
            r#"(func (export "proxy_on_configure") (param i32 i32) (result i32)
                 (drop (call $tick (i32.const 20))) (i32.const 1))
               (func (export "proxy_on_tick") (param i32) {code})
               (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32) (i32.const 0))"#
        );
        let origin = TapOrigin::start().await?;
        let (gateway, _folder) = before(&origin, &parts, "worker").await?;
        // Each instance fails at its first tick; the next exchange uses the next instance.
        for count in 1..4 {
            gateway.lines().until("proxy_on_tick", count).await.context(name)?;
            let witness = gateway.exchange(&get("/free/", "")).await?;
            ensure!(witness.status == 200, "{name}: {witness:?}");
            until_served_again(&gateway).await.context(name)?;
        }
        gateway.stop().await?;
    }
    Ok(())
}

/// Modules that exceed a limit: their code, the kind of the failure and the expected log message.
const LIMITS: [(&str, &str, &str, &str); 2] = [
    (
        "grow",
        "(if (i32.eq (memory.grow (i32.const 4096)) (i32.const -1)) (then (unreachable)))",
        "memory",
        MEMORY_TOLD,
    ),
    ("loop", "(loop $l (br $l))", "cpu", "it used more CPU time than `wasm.cpu` allows (10ms)"),
];
const MEMORY_TOLD: &str = "it needs more memory than `wasm.memory` allows (4MiB)";

#[tokio::test]
async fn the_log_names_the_limit_and_its_key() -> Result<()> {
    for isolation in ["worker", "stream"] {
        for (name, code, kind, told) in LIMITS {
            let origin = TapOrigin::start().await?;
            let (gateway, _folder) = before(&origin, &module_in_head(code), isolation).await?;
            let context = || format!("{name}, isolation {isolation}\n{}", gateway.lines().text());
            for _ in 0..20 {
                let evil = gateway.exchange(&get("/", "X-Evil: 1\r\n")).await?;
                ensure!(evil.status == 500, "{evil:?}, {}", context());
                until_served_again(&gateway).await?;
            }
            let lines = gateway.lines().text();
            let is_meant = |line: &&str| line.contains(told);
            let line = lines.lines().find(is_meant).with_context(context)?;
            ensure!(line.contains(" filter=f ") && line.contains(&format!(" cause={kind} ")), "{line}");
            // Exchanges that find no instance yet fail with the same kind.
            let of = |kind: &str| format!("eddy_filter_faults_total{{filter=\"f\",kind=\"{kind}\"}}");
            ensure!(gateway.metric(&of(kind)).await? >= 20.0, "{}", context());
            ensure!(gateway.metric(&of("fault")).await? < 0.5, "{}", context());
            gateway.stop().await?;
        }
    }
    Ok(())
}

/// Import and part of a module whose start computes until the clock has gone on by 150 ms.
const CLOCK: &str =
    r#"(import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))"#;
const SLOW_START: &str = r#"
    (func $now (result i64)
      (drop (call $clock (i32.const 1) (i64.const 0) (i32.const 8)))
      (i64.load (i32.const 8)))
    (func (export "proxy_on_vm_start") (param i32 i32) (result i32)
      (local $end i64)
      (local.set $end (i64.add (call $now) (i64.const 150000000)))
      (loop $more (br_if $more (i64.lt_u (call $now) (local.get $end))))
      (i32.const 1))
    (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32) (i32.const 0))"#;

#[tokio::test]
async fn a_start_has_a_limit_of_its_own() -> Result<()> {
    let folder = TempDir::new("start")?;
    std::fs::write(folder.join("f.wasm"), wasm::module_with(CLOCK, "proxy_abi_version_0_2_1", SLOW_START)?)?;
    let config = |keys: &str| {
        let module = folder.join("f.wasm");
        format!("filters: {{f: {{wasm: {{module: '{}'{keys}}}}}}}", module.display())
    };
    // The check names the key and a value that is enough.
    for isolation in ["worker", "stream"] {
        let keys = config(&format!(", isolation: {isolation}, start_cpu: 10ms"));
        let text = format!(
            "{keys}\nlisteners: [{{address: '127.0.0.1:8080', routes: site, filters: [f]}}]\nroutes: {{site: [{{respond: {{status: 200}}}}]}}\n"
        );
        std::fs::write(folder.join("eddy.yaml"), text)?;
        let mut check = tokio::process::Command::new(place::eddy_binary()?);
        let output = check.arg("check").arg(folder.join("eddy.yaml")).output().await?;
        let said = String::from_utf8_lossy(&[&*output.stdout, &*output.stderr].concat()).into_owned();
        ensure!(!output.status.success() && said.contains("`wasm.start_cpu` allows (10ms)"), "{said}");
        ensure!(said.contains("proxy_on_vm_start") && said.contains("it starts with `start_cpu: "), "{said}");
    }
    // The limit of a call does not apply to the start, and the other way round.
    for keys in ["", ", isolation: stream, start_cpu: 2s"] {
        let origin = TapOrigin::start().await?;
        let site = GatewayConfigBuilder::new().top(&config(keys)).listener("filters: [f]");
        let gateway = site.before(&origin).await?;
        let answer = gateway.exchange(&get("/", "")).await?;
        ensure!(answer.status == 200, "{keys}: {answer:?}");
        gateway.stop().await?;
    }
    Ok(())
}
