//! Go's runtime, LuaJIT and wasmtime in one process, in any order of loading: each handles kernel signals for its own
//! faults, reserves address space and interrupts code, and none disturbs another.
//!
//! Skipped with a notice without Go.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::go::{self, Into};
use eddy_e2e::origin::TapOrigin;
use eddy_e2e::place::{TempDir, build_folder};
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wasm;
use eddy_e2e::wire::get;

const ORDERS: [[&str; 3]; 6] = [
    ["go", "lua", "wasm"],
    ["go", "wasm", "lua"],
    ["lua", "go", "wasm"],
    ["lua", "wasm", "go"],
    ["wasm", "go", "lua"],
    ["wasm", "lua", "go"],
];

/// Headers of failing requests, each in the language it names: by a signal, by a forced interruption, by memory
/// exhaustion.
const FAULTS: [&str; 11] = [
    "X-Go: nothing",
    "X-Lua: loop",
    "X-Wasm-Unreachable: 1",
    "X-Go: division",
    "X-Lua: compiled",
    "X-Wasm-Beyond: 1",
    "X-Wasm-Deep: 1",
    "X-Lua: memory",
    "X-Wasm-Division: 1",
    "X-Wasm-Loop: 1",
    "X-Lua: error",
];

/// Harmless work: Go's garbage collector, growth of a goroutine stack, and a loop that LuaJIT compiles.
const WORK: [&str; 3] = ["X-Go: collection", "X-Go: depth", "X-Lua: work"];

/// Script that reports in responses how many traces were compiled and why others were not.
const SCRIPT: &str = "
local jit = require('jit')
local compiled, aborted = 0, {}
jit.attach(function(what, number, func, pc, code, reason)
  if what == 'stop' then compiled = compiled + 1 end
  -- 27: there is no place for machine code.
  if what == 'abort' and code == 27 then aborted[#aborted + 1] = code end
end, 'trace')
local function sum(n) local s = 0 for i = 1, n do s = (s + i * 7) % 1001 end return s end
function envoy_on_request(h)
  local what = h:headers():get('x-lua')
  if what == 'loop' then while true do local f = function() end end end
  if what == 'compiled' then while true do end end
  if what == 'memory' then local t = {} for i = 1, 1e9 do t[i] = { i } end end
  if what == 'error' then local a = nil + 1 end
  if what == 'work' then sum(1e5) end
end
function envoy_on_response(h)
  h:headers():replace('x-traces', compiled > 0 and #aborted == 0 and 'compiled' or 'interpreted ' .. table.concat(aborted, ' '))
end";

const MODULE: &str = r#"
  (func $deep (param i32) (result i32)
    (i32.add (call $deep (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))
  (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
    (if (i32.eqz (call $get (i32.const 0) `x-wasm-unreachable` (i32.const 0) (i32.const 4))) (then (unreachable)))
    (if (i32.eqz (call $get (i32.const 0) `x-wasm-beyond` (i32.const 0) (i32.const 4)))
      (then (i64.store (i32.const 0x7ffffff0) (i64.const 1))))
    (if (i32.eqz (call $get (i32.const 0) `x-wasm-deep` (i32.const 0) (i32.const 4)))
      (then (drop (call $deep (i32.const 0)))))
    (if (i32.eqz (call $get (i32.const 0) `x-wasm-division` (i32.const 0) (i32.const 4)))
      (then (drop (i32.div_s (i32.const 1) (i32.const 0)))))
    (if (i32.eqz (call $get (i32.const 0) `x-wasm-loop` (i32.const 0) (i32.const 4))) (then (loop $l (br $l))))
    (i32.const 0))
  (func (export "proxy_on_response_headers") (param i32 i32 i32) (result i32)
    (drop (call $replace (i32.const 2) `x-module` `ok`))
    (i32.const 0))"#;

/// Returns the configuration of the filter in a language.
fn filter_in(tongue: &str, library: &Path, module: &Path) -> String {
    match tongue {
        "go" => {
            format!("  go: {{go: {{filter: signals, library: '{}'}}, config: {{}}}}\n", library.display())
        }
        "lua" => {
            let source = SCRIPT.replace('\n', "\n        ");
            format!("  lua:\n    lua:\n      allow: [package]\n      memory: 4MiB\n      source: |{source}\n")
        }
        // One instance per exchange, so that no request has to wait for a restart.
        _ => format!("  wasm: {{wasm: {{module: '{}', isolation: stream}}}}\n", module.display()),
    }
}

async fn check(gateway: &TestGateway, field: &str, status: u16) -> Result<()> {
    let answer = gateway.exchange(&get("/", field)).await.with_context(|| field.to_owned())?;
    ensure!(answer.status == status, "{field}: {answer:?}\n{}", gateway.lines().text());
    if status == 200 {
        let marks = ["x-signals", "x-module"].map(|name| answer.fields.text(name));
        ensure!(marks == ["ok", "ok"], "{field}: {answer:?}");
    }
    if field.ends_with("work\r\n") {
        ensure!(answer.fields.text("x-traces") == "compiled", "{answer:?}");
    }
    Ok(())
}

#[tokio::test]
async fn three_runtimes_fail_independently_in_any_load_order() -> Result<()> {
    let folder = TempDir::new("together")?;
    let built = build_folder(env!("CARGO_TARGET_TMPDIR"), env!("CARGO_CRATE_NAME"))?;
    let library = built.join("libtogether.so");
    let Some(library) = go::build("tests/filters/go", ".", Into::Library, &library)? else { return Ok(()) };
    let module = folder.join("f.wasm");
    std::fs::write(&module, wasm::module(MODULE)?)?;
    let origin = TapOrigin::start().await?;
    for order in ORDERS {
        let filters = order.map(|tongue| filter_in(tongue, &library, &module)).concat();
        let gateway = GatewayConfigBuilder::new()
            .top("workers: 2")
            .top(&format!("filters:\n{filters}"))
            .listener("filters: [go, lua, wasm]")
            .without_default_rule()
            .rule("{respond: {status: 200}}")
            .before(&origin)
            .await
            .with_context(|| format!("{order:?}"))?;
        let before = gateway.children()?;
        for round in 0..20 {
            let told = || format!("{order:?}, round {round}");
            // In each round every fault follows a different one.
            for index in 0..FAULTS.len() {
                let field = FAULTS[(index * 3 + round) % FAULTS.len()];
                check(&gateway, &format!("{field}\r\n"), 500).await.with_context(told)?;
                for work in WORK {
                    check(&gateway, &format!("{work}\r\n"), 200).await.with_context(told)?;
                }
            }
        }
        ensure!(gateway.children()? == before, "{order:?}: the process was replaced");
        let reserved = reserved_bytes(&gateway)?;
        ensure!(
            reserved > RESERVED_MIN,
            "{order:?}: {reserved} bytes are reserved, so the test shows little"
        );
        gateway.stop().await.with_context(|| format!("{order:?}"))?;
    }
    Ok(())
}

/// Returns the address space that the gateway has reserved, bytes.
fn reserved_bytes(gateway: &TestGateway) -> Result<u64> {
    let child = gateway.children()?.first().context("no gateway process")?.as_raw_nonzero();
    let status = std::fs::read_to_string(format!("/proc/{child}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).context("no size")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

/// Lower bound of reserved address space; wasmtime's pool takes far more.
const RESERVED_MIN: u64 = 1 << 40;
