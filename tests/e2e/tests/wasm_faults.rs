//! Modules in Wasm that fail in every way they can: the exchange in them ends, and nothing else does.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::Gateway;
use eddy_e2e::origin::TapOrigin;
use eddy_e2e::place::TempDir;
use eddy_e2e::wasm;
use eddy_e2e::wire::get;

/// A way to fail: its name, the code (of type `() -> ()`), and the status of the exchange in which it happens.
type Evil = (&'static str, &'static str, u16);

/// What all of them may use: functions that call themselves, tables that are empty.
const TOOLS: &str = r#"
  (table $table 4 4 funcref)
  (type $plain (func))
  (type $other (func (param i64)))
  (elem (i32.const 1) $typed)
  (func $typed (param i64))
  (func $deep (param i32) (result i32)
    (i32.add (call $deep (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))
  (func $fill (local $at i32)
    (loop $more
      (if (i32.eq (memory.grow (i32.const 16)) (i32.const -1)) (then (unreachable)))
      (br $more)))
"#;

const EVILS: [Evil; 22] = [
    ("an endless loop", "(loop $l (br $l))", 500),
    ("unreachable code", "(unreachable)", 500),
    ("a division by zero", "(drop (i32.div_s (i32.const 1) (i32.const 0)))", 500),
    ("a division that overflows", "(drop (i32.div_s (i32.const 0x80000000) (i32.const -1)))", 500),
    ("a read beyond memory", "(drop (i32.load (i32.const -16)))", 500),
    ("a write beyond memory", "(i64.store (i32.const 0x7ffffff0) (i64.const 1))", 500),
    ("endless recursion", "(drop (call $deep (i32.const 0)))", 500),
    ("all memory", "(call $fill)", 500),
    ("a call of nothing", "(call_indirect $table (type $plain) (i32.const 0))", 500),
    ("a call of another type", "(call_indirect $table (type $plain) (i32.const 1))", 500),
    ("a call beyond the table", "(call_indirect $table (type $plain) (i32.const 99))", 500),
    ("an exit", "(call $exit (i32.const 3))", 500),
    ("a number that is none", "(drop (i32.trunc_f32_s (f32.const nan)))", 500),
    ("records without end", "(loop $l (drop (call $log (i32.const 2) `noise`)) (br $l))", 500),
    ("fields without end", "(loop $l (drop (call $add (i32.const 0) `x-a` `b`)) (br $l))", 500),
    (
        "items without end",
        "(drop (call $queue `q` (i32.const 8))) (loop $l (drop (call $enqueue (i32.load (i32.const 8)) `item`)) (br $l))",
        500,
    ),
    (
        "calls without end",
        "(loop $l (drop (call $call `origin` `x` `` `` (i32.const 9) (i32.const 8))) (br $l))",
        500,
    ),
    (
        "pointers to nowhere",
        "(drop (call $get (i32.const 0) (i32.const -8) (i32.const 99) (i32.const 0) (i32.const 4))) (drop (call $replace (i32.const 0) `x-b` (i32.const -1) (i32.const -1))) (drop (call $set_body (i32.const 0) (i32.const -1) (i32.const -1) (i32.const 4) (i32.const -1)))",
        200,
    ),
    (
        "maps that lie",
        "(drop (call $set_pairs (i32.const 0) `zzzzzzzz`)) (drop (call $reply (i32.const 200) `` `` `zzzz` (i32.const -1)))",
        200,
    ),
    (
        "kinds that there are not",
        "(drop (call $get (i32.const 99) `x` (i32.const 0) (i32.const 4))) (drop (call $continue (i32.const 77))) (drop (call $close (i32.const 77))) (drop (call $metric (i32.const 9) `m` (i32.const 0)))",
        200,
    ),
    (
        "another's context",
        "(drop (call $effective (i32.const 4711))) (drop (call $continue (i32.const 0)))",
        200,
    ),
    (
        "fields that eddy writes",
        "(drop (call $replace (i32.const 0) `content-length` `99`)) (drop (call $replace (i32.const 0) `transfer-encoding` `chunked`)) (drop (call $add (i32.const 0) `x-a` `b\r\nx-c: d`)) (drop (call $replace (i32.const 0) `:path` `no path`))",
        200,
    ),
];

/// A module that fails where a request says `x-evil` and marks all others.
fn of_request(evil: &str) -> String {
    format!(
        r#"{TOOLS}
        (func $evil {evil})
        (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
          (if (i32.eqz (call $get (i32.const 0) `x-evil` (i32.const 0) (i32.const 4))) (then (call $evil)))
          (drop (call $replace (i32.const 0) `x-ok` `1`))
          (i32.const 0))"#
    )
}

/// The same for the callback `name`, in the exchange of which a field had said `x-evil`.
fn of_later(name: &str, params: &str, result: &str, evil: &str) -> String {
    let answer = if result.is_empty() { "" } else { "(i32.const 0)" };
    format!(
        r#"{TOOLS}
        (func $evil {evil})
        (func (export "{name}") (param {params}) {result}
          (if (i32.eqz (call $get (i32.const 0) `x-evil` (i32.const 0) (i32.const 4))) (then (call $evil)))
          {answer})"#
    )
}

async fn before(origin: &TapOrigin, parts: &str, isolation: &str) -> Result<(Gateway, TempDir)> {
    let (site, folder) = wasm::site(parts, &format!(", isolation: {isolation}, memory: 4MiB"), "")?;
    let free = "{match: {path: /free/}, cluster: origin, filters: {f: {disabled: true}}}";
    Ok((site.rule(free).before(origin).await?, folder))
}

#[tokio::test]
async fn every_evil_in_a_head_ends_its_exchange_alone() -> Result<()> {
    for isolation in ["worker", "stream"] {
        for (name, code, status) in EVILS {
            let origin = TapOrigin::start().await?;
            let (gateway, _folder) = before(&origin, &of_request(code), isolation).await?;
            let told = format!("{name}, isolation {isolation}");
            for _ in 0..2 {
                let evil = gateway.exchange(&get("/", "X-Evil: 1\r\n")).await.context(told.clone())?;
                ensure!(evil.status == status, "{told}: {evil:?}\n{}", gateway.lines().text());
                let witness = gateway.exchange(&get("/free/", "")).await.context(told.clone())?;
                ensure!(witness.status == 200, "{told}: {witness:?}");
                // The instance in reserve takes over at once; the next may have to be started first.
                until_well(&gateway).await.context(told.clone())?;
            }
            let good =
                origin.log().requests().iter().filter(|request| request.fields.text("x-ok") == "1").count();
            ensure!(good >= 2, "{told}: {good}");
            gateway.stop().await.context(told)?;
        }
    }
    Ok(())
}

/// Waits until the module serves again.
async fn until_well(gateway: &Gateway) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let next = gateway.exchange(&get("/", "")).await?;
        if next.status == 200 {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "it does not serve again: {next:?}\n{}", gateway.lines().text());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

const LATER: [(&str, &str, &str, Option<u16>); 6] = [
    ("proxy_on_request_body", "i32 i32 i32", "(result i32)", Some(500)),
    ("proxy_on_response_headers", "i32 i32 i32", "(result i32)", Some(500)),
    // The head may be on its way by then.
    ("proxy_on_response_body", "i32 i32 i32", "(result i32)", None),
    ("proxy_on_done", "i32", "(result i32)", Some(200)),
    ("proxy_on_log", "i32", "", Some(200)),
    ("proxy_on_delete", "i32", "", Some(200)),
];

#[tokio::test]
async fn every_evil_in_a_later_callback_ends_its_exchange_alone() -> Result<()> {
    let post =
        |fields: &str| format!("POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\n{fields}\r\nbody");
    for isolation in ["worker", "stream"] {
        for (callback, params, result, status) in LATER {
            let log = r#"(func (export "proxy_on_log") (param i32))"#;
            let log = if callback == "proxy_on_delete" { log } else { "" };
            for (name, code, _) in EVILS.iter().filter(|(.., status)| *status == 500).step_by(3) {
                let origin = TapOrigin::start().await?;
                let parts = format!("{}{log}", of_later(callback, params, result, code));
                let (gateway, _folder) = before(&origin, &parts, isolation).await?;
                let told = format!("{name} in {callback}, isolation {isolation}");
                let evil = gateway.exchange(&post("X-Evil: 1\r\n")).await;
                if let Some(status) = status {
                    let evil = evil.context(told.clone())?;
                    ensure!(evil.status == status, "{told}: {evil:?}\n{}", gateway.lines().text());
                }
                let witness = gateway.exchange(&get("/free/", "")).await.context(told.clone())?;
                ensure!(witness.status == 200, "{told}: {witness:?}");
                until_well(&gateway).await.context(told.clone())?;
                let well = gateway.exchange(&post("")).await.context(told.clone())?;
                ensure!(well.status == 200, "{told}: {well:?}");
                gateway.stop().await.context(told)?;
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn evil_ticks_harm_only_their_module() -> Result<()> {
    for (name, code) in [("unreachable", "(unreachable)"), ("a loop", "(loop $l (br $l))")] {
        let parts = format!(
            r#"(func (export "proxy_on_configure") (param i32 i32) (result i32)
                 (drop (call $tick (i32.const 20))) (i32.const 1))
               (func (export "proxy_on_tick") (param i32) {code})
               (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32) (i32.const 0))"#
        );
        let origin = TapOrigin::start().await?;
        let (gateway, _folder) = before(&origin, &parts, "worker").await?;
        // Each instance ticks once and dies of it; the next exchange has the next one.
        for count in 1..4 {
            gateway.lines().until("proxy_on_tick", count).await.context(name)?;
            let witness = gateway.exchange(&get("/free/", "")).await?;
            ensure!(witness.status == 200, "{name}: {witness:?}");
            until_well(&gateway).await.context(name)?;
        }
        gateway.stop().await?;
    }
    Ok(())
}
