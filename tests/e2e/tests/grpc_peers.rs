//! Real gRPC through the running gateway: gRPC's own library and its interoperability tests, and the conformance tests
//! of Connect, which has another library.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::TapOrigin;
use eddy_e2e::others;
use eddy_e2e::place::{TempDir, any_port, tree};
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wasm;
use eddy_e2e::wire::{get, within, within_for};
use tokio::io::{AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// A gRPC service in its own process, which ends with its standard input.
struct GrpcServiceProcess {
    _process: Child,
    told: ChildStdin,
    says: Lines<BufReader<ChildStdout>>,
    address: SocketAddr,
}

impl GrpcServiceProcess {
    async fn start(peer: &Path) -> Result<Self> {
        let mut command = Command::new(peer);
        command.arg("serve").arg(any_port().to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.kill_on_drop(true).spawn()?;
        let told = process.stdin.take().context("no standard input")?;
        let (address, says) = others::listening(&mut process).await?;
        Ok(Self { _process: process, told, says, address })
    }

    /// Sets the status that the health service reports for a name.
    async fn tell(&mut self, name: &str, status: &str) -> Result<()> {
        self.told.write_all(format!("{name} {status}\n").as_bytes()).await?;
        self.until("told").await
    }

    async fn until(&mut self, wanted: &str) -> Result<()> {
        let line = within(wanted, self.says.next_line()).await??;
        ensure!(line.as_deref() == Some(wanted), "it says {line:?}");
        Ok(())
    }
}

/// Runs test cases against a service.
async fn call(peer: &Path, address: SocketAddr, cases: &[&str]) -> Result<()> {
    let mut command = Command::new(peer);
    command.arg("call").arg(address.to_string()).args(cases).stdin(Stdio::null()).kill_on_drop(true);
    let output = within_for(Duration::from_secs(120), "the calls", command.output()).await??;
    let (well, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{cases:?}: {}\n{well}{said}", output.status);
    ensure!(well.lines().count() == cases.len(), "{cases:?}: {well}");
    Ok(())
}

const SITE: &str = "\
workers: 2
limits: {queue_delay: 0s}
drain_timeout: 300ms
admin: {address: ADMIN}
access_log: {file: stdout, format: json}
listeners: [{address: LISTEN, routes: site, limits: {body_bytes: 100MiB}}]
routes:
  site:
    - match: {path: /grpc.testing.TestService, headers: {x-short: '1'}}
      cluster: service
      timeout: 300ms
    - match: {path: /grpc.testing.TestService, headers: {x-fail-once: {prefix: not-}}}
      cluster: service
    - match: {path: /grpc.testing.TestService}
      cluster: service
      retry: {attempts: 1, grpc_statuses: [unavailable]}
    - match: {path: /grpc.testing.UnimplementedService}
      cluster: service
clusters:
  service: {endpoints: [SERVICE], protocol: http2, retry_budget: {floor: 1000}}
";

async fn gateway(config: &str, service: &GrpcServiceProcess) -> Result<TestGateway> {
    let substitutes = vec![("SERVICE".to_owned(), service.address.to_string())];
    TestGateway::launch(config, Launch { substitutes, ..Launch::default() }).await
}

#[tokio::test]
async fn calls_of_every_kind_pass() -> Result<()> {
    let folder = TempDir::new("grpc")?;
    let Some(peer) = others::grpc_peer(folder.path())? else { return Ok(()) };
    let service = GrpcServiceProcess::start(&peer).await?;
    let gateway = gateway(SITE, &service).await?;
    // The gRPC interoperability tests, except those of credentials, which do not concern HTTP, and those of purely
    // client-side behaviour.
    let interoperability = [
        "empty_unary",
        "large_unary",
        "client_streaming",
        "server_streaming",
        "ping_pong",
        "empty_stream",
        "timeout_on_sleeping_server",
        "cancel_after_begin",
        "cancel_after_first_response",
        "custom_metadata",
        "status_code_and_message",
        "special_status_message",
        "unimplemented_method",
    ];
    call(&peer, gateway.address(), &interoperability).await?;
    // No rule exists for the unimplemented service.
    let own = [
        "unimplemented_service",
        "big_messages",
        "many_at_once",
        "half_close",
        "deadline_told",
        "deadline_ended",
        "no_rule",
        "not_retried",
        "retried",
    ];
    call(&peer, gateway.address(), &own).await?;
    gateway.until_metric("eddy_cluster_retries_total{cluster=\"service\"}", 20.0).await?;
    let listener = gateway.label();
    for (status, least) in [("0", 400.0), ("2", 1.0), ("4", 1.0), ("12", 3.0), ("14", 1.0)] {
        let counted = gateway
            .metric(&format!("eddy_grpc_calls_total{{listener=\"{listener}\",status=\"{status}\"}}"))
            .await?;
        ensure!(counted >= least, "{counted} calls ended with {status}");
    }
    ensure!(gateway.metric("eddy_egress_stopped_total").await? == 0.0);
    gateway.stop().await
}

#[tokio::test]
async fn endpoints_are_checked_by_the_grpc_health_service() -> Result<()> {
    let folder = TempDir::new("grpc-health")?;
    let Some(peer) = others::grpc_peer(folder.path())? else { return Ok(()) };
    let (mut one, mut other) =
        (GrpcServiceProcess::start(&peer).await?, GrpcServiceProcess::start(&peer).await?);
    one.tell("books", "SERVING").await?;
    other.tell("books", "NOT_SERVING").await?;
    let config = SITE.replace("[SERVICE]", "[SERVICE, OTHER]").replace(
        "protocol: http2",
        "protocol: http2, health: {grpc: {service: books}, interval: 100ms, healthy: 1, unhealthy: 1}",
    );
    let words = [("SERVICE", one.address), ("OTHER", other.address)];
    let substitutes = words.map(|(word, address)| (word.to_owned(), address.to_string())).to_vec();
    let gateway = TestGateway::launch(&config, Launch { substitutes, ..Launch::default() }).await?;
    let unhealthy = "eddy_cluster_endpoints_unhealthy{cluster=\"service\"}";
    gateway.until_metric(unhealthy, 1.0).await?;
    gateway.lines().until("the service is NOT_SERVING", 1).await?;
    let shown = gateway.admin("/clusters").await?.text();
    ensure!(shown.contains("the service is NOT_SERVING"), "{shown}");
    call(&peer, gateway.address(), &["empty_unary", "ping_pong"]).await?;
    other.tell("books", "SERVING").await?;
    gateway.until_metric(unhealthy, 0.0).await?;
    one.tell("books", "SERVICE_UNKNOWN").await?;
    gateway.until_metric(unhealthy, 1.0).await?;
    gateway.lines().until("the service is SERVICE_UNKNOWN", 1).await?;
    call(&peer, gateway.address(), &["empty_unary", "ping_pong"]).await?;
    gateway.stop().await
}

/// Runs the conformance tests against a service behind a gateway.
#[tokio::test]
async fn the_conformance_tests_pass() -> Result<()> {
    let folder = TempDir::new("conformance")?;
    let Some(conformance) = others::grpc_conformance(folder.path())? else { return Ok(()) };
    let settings = tree().join("tests/grpc/conformance");
    for (name, service) in &conformance.services {
        let mut command = Command::new(&conformance.runner);
        command
            .arg("--conf")
            .arg(settings.join(format!("{name}.yaml")))
            .arg("--known-failing")
            .arg(format!("@{}", settings.join(format!("{name}-excluded.txt")).display()))
            .arg("--known-flaky")
            .arg(format!("@{}", settings.join(format!("{name}-flaky.txt")).display()))
            .args(["--mode", "server", "--"])
            .arg(env!("CARGO_BIN_EXE_eddy-conformance"))
            .arg(service)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output =
            within_for(Duration::from_secs(600), "the conformance tests", command.output()).await??;
        let text = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{name}: {}\n{text}\n{said}", output.status);
        println!("{name}: {}", text.lines().rev().take(3).collect::<Vec<_>>().join(" "));
        ensure!(text.contains(" passed, 0 failed"), "{name}: {text}");
    }
    Ok(())
}

/// gRPC functions of proxy-wasm.
const IMPORTS: &str = r#"
(import "env" "proxy_grpc_call"
  (func $unary (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
(import "env" "proxy_grpc_stream" (func $stream (param i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
(import "env" "proxy_grpc_send" (func $send (param i32 i32 i32 i32) (result i32)))
(import "env" "proxy_grpc_cancel" (func $cancel (param i32) (result i32)))
(import "env" "proxy_grpc_close" (func $end (param i32) (result i32)))
(import "env" "proxy_get_status" (func $status (param i32 i32 i32) (result i32)))"#;

/// Module that pauses a request while a call is made, and then tells the origin what it received: `i` for initial
/// metadata, `m` and the length of a message as a digit, `t` for trailing metadata, `c` and the status as a digit for the
/// end, `x` if the call cannot be made.
fn caller(open: &str, on_message: &str) -> String {
    let metadata = wasm::pairs(&[("x-grpc-test-echo-initial", "echoed"), ("x-other", "1")]);
    format!(
        r#"
        (global $at (mut i32) (i32.const 900))
        (global $paused (mut i32) (i32.const 0))
        (global $call (mut i32) (i32.const 0))
        (global $messages (mut i32) (i32.const 0))
        (func $note (param i32)
          (i32.store8 (global.get $at) (local.get 0))
          (global.set $at (i32.add (global.get $at) (i32.const 1))))
        (func $tell
          (drop (call $replace (i32.const 0) `x-events` (i32.const 900)
            (i32.sub (global.get $at) (i32.const 900)))))
        (func $finish
          (drop (call $effective (global.get $paused)))
          (call $tell)
          (drop (call $continue (i32.const 0))))
        (func $open (result i32) {})
        (func $message {on_message})
        (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
          (global.set $paused (local.get 0))
          (if (call $open) (then (call $note (i32.const 120)) (call $tell) (return (i32.const 0))))
          (global.set $call (i32.load (i32.const 16)))
          (i32.const 1))
        (func (export "proxy_on_grpc_receive_initial_metadata") (param i32 i32 i32)
          (if (call $get (i32.const 4) `x-grpc-test-echo-initial` (i32.const 0) (i32.const 4)) (then (return)))
          (call $note (i32.const 105)))
        (func (export "proxy_on_grpc_receive") (param i32 i32 i32)
          (if (i32.ne (local.get 1) (global.get $call)) (then (unreachable)))
          (if (call $body (i32.const 5) (i32.const 0) (local.get 2) (i32.const 0) (i32.const 4)) (then (unreachable)))
          (if (i32.ne (i32.load (i32.const 4)) (local.get 2)) (then (unreachable)))
          (call $note (i32.const 109))
          (call $note (i32.add (i32.const 48) (local.get 2)))
          (global.set $messages (i32.add (global.get $messages) (i32.const 1)))
          (call $message))
        (func (export "proxy_on_grpc_receive_trailing_metadata") (param i32 i32 i32) (call $note (i32.const 116)))
        (func (export "proxy_on_grpc_close") (param i32 i32 i32)
          (if (call $status (i32.const 20) (i32.const 0) (i32.const 4)) (then (unreachable)))
          (if (i32.ne (i32.load (i32.const 20)) (local.get 2)) (then (unreachable)))
          (call $note (i32.const 99))
          (call $note (i32.add (i32.const 48) (local.get 2)))
          (drop (call $effective (global.get $paused)))
          (drop (call $replace (i32.const 0) `x-message` (i32.load (i32.const 0)) (i32.load (i32.const 4))))
          (call $finish))"#,
        open.replace("METADATA", &format!("`{metadata}`")).replace("SERVICE", "`grpc.testing.TestService`")
    )
}

#[tokio::test]
async fn a_wasm_module_makes_calls() -> Result<()> {
    let folder = TempDir::new("grpc-wasm")?;
    let Some(peer) = others::grpc_peer(folder.path())? else { return Ok(()) };
    let service = GrpcServiceProcess::start(&peer).await?;
    // A request for a message of three bytes, as both kinds of calls understand it.
    let (three, three_bytes) = ("\x10\x03", "\x12\x02\x08\x03");
    let failing = "\x3a\x07\x08\x03\x12\x03bad";
    let unary = |cluster: &str, method: &str, message: &str| {
        format!(
            "(call $unary `{cluster}` SERVICE `{method}` METADATA `{message}` (i32.const 5000) (i32.const 16))"
        )
    };
    let stream = format!(
        "(local $error i32)
         (local.set $error (call $stream `service` SERVICE `FullDuplexCall` METADATA (i32.const 16)))
         (if (local.get $error) (then (return (local.get $error))))
         (call $send (i32.load (i32.const 16)) `{three_bytes}` (i32.const 0))"
    );
    let twice = format!(
        "(if (i32.eq (global.get $messages) (i32.const 1))
           (then (if (call $send (global.get $call) `{three_bytes}` (i32.const 0)) (then (unreachable))))
           (else (if (call $end (global.get $call)) (then (unreachable)))))"
    );
    let last = format!(
        "(if (i32.eq (global.get $messages) (i32.const 1))
           (then (if (call $send (global.get $call) `{three_bytes}` (i32.const 1)) (then (unreachable)))))"
    );
    let cancelled = "(if (call $cancel (global.get $call)) (then (unreachable)))
        (if (i32.ne (call $send (global.get $call) `a` (i32.const 0)) (i32.const 1)) (then (unreachable)))
        (call $finish)";
    for (name, open, on_message, events, message) in [
        ("empty", unary("service", "EmptyCall", ""), "(call $finish)", "m0", ""),
        ("unary", unary("service", "UnaryCall", three), "(call $finish)", "m7", ""),
        ("envoy's name", unary("\x0a\x09\x0a\x07service", "EmptyCall", ""), "(call $finish)", "m0", ""),
        ("failing", unary("service", "UnaryCall", failing), "", "c3", "bad"),
        ("unknown method", unary("service", "NoCall", ""), "", "c<", ""),
        ("no message", unary("service", "FullDuplexCall", ""), "", "c=", "the response has no message"),
        ("HTTP/1", unary("plain", "EmptyCall", ""), "", "c>", "not_http2"),
        ("no such cluster", unary("nowhere", "EmptyCall", ""), "", "x", ""),
        ("stream", stream.clone(), &*twice, "im7m7tc0", ""),
        ("stream with an end", stream.clone(), &*last, "im7m7tc0", ""),
        ("cancelled stream", stream.clone(), cancelled, "im7", ""),
    ] {
        for isolation in ["worker", "stream"] {
            let module = folder.join("f.wasm");
            let parts = caller(&open, on_message);
            std::fs::write(&module, wasm::module_with(IMPORTS, "proxy_abi_version_0_2_1", &parts)?)?;
            let filter = format!(
                "filters: {{f: {{wasm: {{module: '{}', isolation: {isolation}}}}}}}",
                module.display()
            );
            let origin = TapOrigin::start().await?;
            let gateway = GatewayConfigBuilder::new()
                .top(&filter)
                .listener("filters: [f]")
                .another_cluster("service: {endpoints: [SERVICE], protocol: http2}")
                .another_cluster("plain: {endpoints: [SERVICE]}")
                .with("SERVICE", service.address)
                .before(&origin)
                .await?;
            let context = || format!("{name}, isolation {isolation}: {}", gateway.lines().text());
            let answer = gateway.exchange(&get("/", "")).await.with_context(context)?;
            ensure!(answer.status == 200, "{answer:?}, {}", context());
            let sent = origin.log().requests().pop().with_context(context)?;
            ensure!(sent.fields.text("x-events") == events, "{:?}, {}", sent.fields, context());
            let told = sent.fields.text("x-message");
            ensure!(message.is_empty() || told == message, "{told}, {}", context());
            gateway.stop().await?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn streams_of_a_wasm_module_are_limited_and_end_with_their_instance() -> Result<()> {
    let folder = TempDir::new("grpc-wasm")?;
    let Some(peer) = others::grpc_peer(folder.path())? else { return Ok(()) };
    let service = GrpcServiceProcess::start(&peer).await?;
    let metadata = wasm::pairs(&[("x-other", "1")]);
    // Each request opens a stream that the module never ends; `/fail` ends the instance.
    let parts = format!(
        r#"(func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32)
             (if (i32.eqz (call $get (i32.const 0) `x-fail` (i32.const 0) (i32.const 4))) (then (unreachable)))
             (if (call $stream `service` `grpc.testing.TestService` `FullDuplexCall` `{metadata}` (i32.const 16))
               (then (drop (call $replace (i32.const 0) `x-refused` `1`))))
             (i32.const 0))"#
    );
    let module = folder.join("f.wasm");
    std::fs::write(&module, wasm::module_with(IMPORTS, "proxy_abi_version_0_2_1", &parts)?)?;
    let filter = format!(
        "workers: 1\nfilters: {{f: {{wasm: {{module: '{}'}}, background_calls: 3}}}}",
        module.display()
    );
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .top(&filter)
        .listener("filters: [f]")
        .another_cluster("service: {endpoints: [SERVICE], protocol: http2, limits: {requests: 100}}")
        .with("SERVICE", service.address)
        .before(&origin)
        .await?;
    // A stream whose exchange is over is a background call; beyond the limit it is ended.
    for _ in 0..8 {
        ensure!(gateway.exchange(&get("/", "")).await?.status == 200);
    }
    let active = "eddy_cluster_in_use{cluster=\"service\",limit=\"requests\"}";
    gateway.until_metric(active, 3.0).await?;
    ensure!(gateway.exchange(&get("/", "X-Fail: 1\r\n")).await?.status == 500);
    gateway.until_metric(active, 0.0).await?;
    gateway.stop().await
}
