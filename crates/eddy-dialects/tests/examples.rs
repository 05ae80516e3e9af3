//! Tests that the example configurations load without warnings and mean what they say.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail by panicking")]

use std::fs;
use std::path::PathBuf;

use eddy_config::{ActionKind, FilterKind, GatewayConfig, Serve};
use eddy_dialects::check;
use eddy_spec::problem::SourceText;

fn load(name: &str) -> GatewayConfig {
    load_file(&format!("{name}/eddy.yaml"))
}

fn load_file(name: &str) -> GatewayConfig {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let source = SourceText::new(name, &fs::read_to_string(path).unwrap());
    match check(std::slice::from_ref(&source)) {
        Ok(checked) => {
            let warnings: Vec<String> = checked.warnings.iter().map(ToString::to_string).collect();
            assert!(warnings.is_empty(), "{}", warnings.join("\n"));
            checked.config
        }
        Err(problems) => {
            let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
            panic!("{}", told.join("\n"));
        }
    }
}

#[test]
fn quickstart() {
    let config = load("quickstart");
    assert_eq!(config.listeners.len(), 2);
    assert_eq!(config.listeners[1].serve, Serve::Demo);
    assert_eq!(config.settings.admin.unwrap().address.to_string(), "127.0.0.1:9901");
}

#[test]
fn api_gateway() {
    let config = load("api-gateway");
    assert_eq!(config.tables.values().map(|table| table.routes.rules.len()).collect::<Vec<_>>(), [7, 4]);
    assert!(!config.shown.contains("# One API"), "comments are not shown");
}

#[test]
fn canary() {
    let config = load("canary");
    let ActionKind::Weighted(clusters) = &config.tables.first().unwrap().actions[1].kind else {
        panic!("weighted")
    };
    assert_eq!(clusters.iter().map(|cluster| cluster.weight).collect::<Vec<_>>(), [95, 5]);
    assert_eq!(config.clusters.first().unwrap().retry_budget, config.clusters.nth(1).unwrap().1.retry_budget);
}

#[test]
fn edge() {
    let config = load("edge");
    assert_eq!(config.listeners[0].limits.body_bytes_max, Some(0));
    assert_eq!(config.listeners[1].forwarded.trusted.len(), 2);
}

#[test]
fn filters() {
    let kinds = |name: &str| {
        let config = load_file(&format!("filters/{name}.yaml"));
        let kind = |kind: &FilterKind| match kind {
            FilterKind::Builtin(builtin) => builtin.kind().to_owned(),
            FilterKind::Native { library, .. } => library.display().to_string(),
            FilterKind::Go { source, .. } => format!("{source:?}"),
            FilterKind::Wasm(wasm) => wasm.module.display().to_string(),
            FilterKind::DynamicModule(module) => format!("{:?}", module.module),
            FilterKind::Lua(lua) => format!("{:?}", lua.script),
        };
        config.filters.values().map(|filter| kind(&filter.kind)).collect::<Vec<_>>()
    };
    assert_eq!(kinds("protected"), ["ip_access", "rate_limit", "basic_auth", "body_limit"]);
    assert_eq!(kinds("browser"), ["request_id", "cors", "headers"]);
    assert_eq!(kinds("chaos"), ["fault"]);
    assert_eq!(kinds("../transcoding/eddy"), ["grpc_json"]);
    assert_eq!(kinds("../field-routing/eddy"), ["message_fields"]);
    assert_eq!(kinds("../redaction/eddy"), ["redact"]);
    let relative = ["Package(\"filters/./go/basic-auth\")", "filters/./c/build/libheader_get_set.so"];
    assert_eq!(kinds("go"), relative);
    let script = |name: &str| format!("File(\"filters/lua/{name}.lua\")");
    assert_eq!(kinds("lua"), ["basic-auth", "ask-first", "rewrite-body"].map(script));
    let built = ["basic_auth", "body_rewrite"].map(|name| format!("filters/wasm-c/build/{name}.wasm"));
    assert_eq!(kinds("wasm-c/eddy"), built);
    let tongues = [
        "Package(\"filters/./go/field\")",
        "File(\"filters/lua/field.lua\")",
        "filters/./c/build/libfield.so",
        "filters/wasm-c/build/field.wasm",
    ];
    // Each of these filters has a `message_fields` filter that reads messages for it.
    assert_eq!(kinds("fields"), [tongues.as_slice(), &["message_fields"; 4]].concat());
}
