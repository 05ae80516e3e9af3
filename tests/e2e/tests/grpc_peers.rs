//! Real gRPC through the running gateway: gRPC's own library and its interoperability tests, and the conformance tests
//! of Connect, which has another library.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::others;
use eddy_e2e::place::{TempDir, any_port, tree};
use eddy_e2e::wire::{within, within_for};
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
