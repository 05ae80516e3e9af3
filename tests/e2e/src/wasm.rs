//! Wasm modules for tests: written as text with a common prelude, or built from the examples.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context, Result, ensure};

use crate::place::{TempDir, tree};
use crate::site::GatewayConfigBuilder;

/// Assembles a module from the prelude and these parts. A text between backquotes is replaced by two constants: its
/// address and its length.
///
/// # Errors
/// When the module is invalid; the error shows where.
pub fn module(parts: &str) -> Result<Vec<u8>> {
    module_with("", "proxy_abi_version_0_2_1", parts)
}

/// As [`module`], with more imports, and the export that declares the ABI version.
///
/// # Errors
/// As [`module`].
pub fn module_with(imports: &str, version: &str, parts: &str) -> Result<Vec<u8>> {
    let mut data = String::new();
    let mut end = TEXTS_AT;
    let mut text = String::new();
    for (index, piece) in parts.split('`').enumerate() {
        if index % 2 == 0 {
            text += piece;
            continue;
        }
        let bytes: String = piece.bytes().map(|byte| format!("\\{byte:02x}")).collect();
        data += &format!("(data (i32.const {end}) \"{bytes}\")\n");
        text += &format!("(i32.const {end}) (i32.const {})", piece.len());
        end += piece.len();
    }
    let whole = format!("(module\n{imports}\n{FRAME}\n(func (export \"{version}\"))\n{data}\n{text}\n)");
    wat::parse_str(&whole).with_context(|| format!("a module of a test is invalid:\n{whole}"))
}

/// Returns a site whose only filter `f` is a module of these parts, and the folder of the module.
///
/// `module_keys` are more keys of the module, `filter_keys` more keys of the filter, each after its comma.
///
/// # Errors
/// As [`module`]; when the module cannot be written.
pub fn site(parts: &str, module_keys: &str, filter_keys: &str) -> Result<(GatewayConfigBuilder, TempDir)> {
    let folder = TempDir::new("wasm")?;
    let path = folder.join("f.wasm");
    std::fs::write(&path, module(parts)?)?;
    let place = path.display();
    let filter = format!("filters: {{f: {{wasm: {{module: '{place}'{module_keys}}}{filter_keys}}}}}");
    Ok((GatewayConfigBuilder::new().top(&filter).listener("filters: [f]"), folder))
}

/// Serializes a header map as a module passes it to its host, as text: lengths above 127 do not work.
pub fn pairs(pairs: &[(&str, &str)]) -> String {
    let number = |number: usize| {
        let bytes = u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
        bytes.map(char::from).into_iter().collect::<String>()
    };
    let lengths: String =
        pairs.iter().map(|(name, value)| number(name.len()) + &number(value.len())).collect();
    let contents: String = pairs.iter().map(|(name, value)| format!("{name}\0{value}\0")).collect();
    number(pairs.len()) + &lengths + &contents
}

/// Builds the example filters in Rust, once, and returns the folder of their modules. Returns `None` when Rust's
/// standard library for Wasm is missing, which skips the test.
///
/// # Errors
/// When the build fails.
pub fn examples() -> Result<Option<PathBuf>> {
    if !test_peers::present_or_optional(&test_peers::RUST_WASM) {
        return Ok(None);
    }
    static BUILDING: Mutex<()> = Mutex::new(());
    let _one = BUILDING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/filters/wasm-rust/Cargo.toml");
    let test = std::env::current_exe().context("cannot determine the path of the test binary")?;
    let target =
        test.ancestors().nth(3).context("the test binary has no parent folder")?.join("wasm-examples");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--release", "--locked", "--target", "wasm32-wasip1", "--manifest-path"])
        .arg(&manifest);
    let output = cargo.env("CARGO_TARGET_DIR", &target).output().context("cannot run cargo")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the examples cannot be built:\n{said}");
    Ok(Some(target.join("wasm32-wasip1/release")))
}

/// Builds the example filters in C and returns the folder of their modules. Returns `None` when there is no compiler
/// for them, which is announced.
///
/// # Errors
/// When the build fails, or the compiler is required and missing.
pub fn examples_in_c(folder: &TempDir) -> Result<Option<PathBuf>> {
    if !test_peers::all_present(&[test_peers::CLANG_WASM])? {
        return Ok(None);
    }
    let build = folder.join("build");
    let mut make = Command::new("make");
    make.arg("-s").arg("-C").arg(tree().join("examples/filters/wasm-c")).env_remove("MAKEFLAGS");
    let output = make.arg(format!("BUILD={}", build.display())).output().context("cannot run make")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the C examples cannot be built:\n{said}");
    Ok(Some(build))
}

/// Address of the first text in a module's memory; the space below is for data from the host.
const TEXTS_AT: usize = 1024;

/// Prelude of every test module: host functions under short names, a memory, and an allocation function.
const FRAME: &str = r#"
(import "env" "proxy_log" (func $log (param i32 i32 i32) (result i32)))
(import "env" "proxy_get_header_map_value" (func $get (param i32 i32 i32 i32 i32) (result i32)))
(import "env" "proxy_replace_header_map_value" (func $replace (param i32 i32 i32 i32 i32) (result i32)))
(import "env" "proxy_add_header_map_value" (func $add (param i32 i32 i32 i32 i32) (result i32)))
(import "env" "proxy_remove_header_map_value" (func $remove (param i32 i32 i32) (result i32)))
(import "env" "proxy_set_header_map_pairs" (func $set_pairs (param i32 i32 i32) (result i32)))
(import "env" "proxy_get_buffer_bytes" (func $body (param i32 i32 i32 i32 i32) (result i32)))
(import "env" "proxy_set_buffer_bytes" (func $set_body (param i32 i32 i32 i32 i32) (result i32)))
(import "env" "proxy_send_local_response" (func $reply (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
(import "env" "proxy_continue_stream" (func $continue (param i32) (result i32)))
(import "env" "proxy_close_stream" (func $close (param i32) (result i32)))
(import "env" "proxy_http_call"
  (func $call (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
(import "env" "proxy_set_tick_period_milliseconds" (func $tick (param i32) (result i32)))
(import "env" "proxy_set_effective_context" (func $effective (param i32) (result i32)))
(import "env" "proxy_get_property" (func $property (param i32 i32 i32 i32) (result i32)))
(import "env" "proxy_set_property" (func $set_property (param i32 i32 i32 i32) (result i32)))
(import "env" "proxy_register_shared_queue" (func $queue (param i32 i32 i32) (result i32)))
(import "env" "proxy_enqueue_shared_queue" (func $enqueue (param i32 i32 i32) (result i32)))
(import "env" "proxy_dequeue_shared_queue" (func $dequeue (param i32 i32 i32) (result i32)))
(import "env" "proxy_define_metric" (func $metric (param i32 i32 i32 i32) (result i32)))
(import "env" "proxy_increment_metric" (func $increment (param i32 i64) (result i32)))
(import "env" "proxy_call_foreign_function"
  (func $foreign (param i32 i32 i32 i32 i32 i32) (result i32)))
(import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
(memory (export "memory") 2)
(global $free (mut i32) (i32.const 65536))
(func (export "proxy_on_memory_allocate") (param i32) (result i32)
  (if (i32.gt_u (i32.add (global.get $free) (local.get 0)) (i32.const 131072))
    (then (global.set $free (i32.const 65536))))
  (global.get $free)
  (global.set $free (i32.add (global.get $free) (local.get 0))))
"#;
