//! Access log entries sent to Envoy's access log service, built on gRPC's own library with the messages of
//! go-control-plane.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::origin::TapOrigin;
use eddy_e2e::others;
use eddy_e2e::place::{TempDir, any_port, closed_address, fixed_address};
use eddy_e2e::wire::within;
use serde_json::Value;
use tokio::io::{AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// The access log service in its own process, which ends with its standard input.
struct AccessLogServiceProcess {
    process: Child,
    told: ChildStdin,
    says: Lines<BufReader<ChildStdout>>,
    address: SocketAddr,
}

impl AccessLogServiceProcess {
    async fn start(program: &Path, address: SocketAddr) -> Result<Self> {
        let mut command = Command::new(program);
        command.arg(address.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.kill_on_drop(true).spawn()?;
        let told = process.stdin.take().context("no standard input")?;
        let (address, says) = others::listening(&mut process).await?;
        Ok(Self { process, told, says, address })
    }

    /// Returns the next report of the service.
    async fn next(&mut self) -> Result<Value> {
        let line = within("a line of the service", self.says.next_line()).await??;
        Ok(serde_json::from_str(&line.context("the service has ended")?)?)
    }

    /// Returns the next report of the service with this key.
    async fn until(&mut self, key: &str) -> Result<Value> {
        loop {
            let said = self.next().await?;
            if said.get(key).is_some() {
                return Ok(said);
            }
        }
    }

    /// Makes calls end with this status from now on.
    async fn end_with(&mut self, code: u32) -> Result<()> {
        self.told.write_all(format!("{code}\n").as_bytes()).await?;
        self.until("told").await.map(drop)
    }

    async fn stop(mut self) -> Result<()> {
        drop(self.told);
        within("its end", self.process.wait()).await??;
        Ok(())
    }
}

const SITE: &str = "\
workers: 1
limits: {queue_delay: 0s}
drain_timeout: 300ms
admin: {address: ADMIN}
access_log:
  grpc: {cluster: logs/als, log_name: edge, node: n1, interval: 100ms, held_bytes: 64KiB}
  metadata: {user: auth.user}
filters: {auth: {basic_auth: {users: {fooname: validpassword}}}}
listeners: [{address: LISTEN, routes: site, filters: [auth], request_id: x-request-id}]
routes:
  site:
    - {match: {path: /gone}, cluster: nobody}
    - {name: main, cluster: origin}
clusters:
  origin: {endpoints: [ORIGIN]}
  nobody: {endpoints: [NOBODY]}
  logs/als: {endpoints: [LOGS], protocol: http2}
";

const WHO: &str = "Authorization: Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk\r\n";

async fn gateway(logs: SocketAddr) -> Result<(TestGateway, TapOrigin)> {
    let origin = TapOrigin::start().await?;
    let nobody = closed_address();
    let listen = fixed_address()?;
    let substitutes: [(&str, &dyn ToString); 4] =
        [("LISTEN", &listen), ("ORIGIN", &origin.address()), ("NOBODY", &nobody), ("LOGS", &logs)];
    Ok((TestGateway::start(SITE, &substitutes).await?, origin))
}

fn get(target: &str, fields: &str) -> Vec<u8> {
    format!("GET {target} HTTP/1.1\r\nHost: example.com\r\n{WHO}{fields}\r\n").into_bytes()
}

#[tokio::test]
async fn the_service_gets_the_fields_of_log_lines() -> Result<()> {
    let folder = TempDir::new("logs")?;
    let Some(program) = others::access_log_service(folder.path())? else { return Ok(()) };
    let mut service = AccessLogServiceProcess::start(&program, any_port()).await?;
    let (gateway, origin) = gateway(service.address).await?;

    let fields = "User-Agent: \u{e4}\u{1f600}\r\nReferer: http://a.test/\r\n";
    ensure!(gateway.exchange(get("/a?b=c", fields)).await?.status == 200);
    let said = service.until("entry").await?;
    let entry = &said["entry"];
    let (common, request, response) = (&entry["common_properties"], &entry["request"], &entry["response"]);
    ensure!(said["identifier"]["log_name"] == "edge" && said["identifier"]["node"]["id"] == "n1", "{said}");
    ensure!(said["identifier"]["node"]["user_agent_name"] == "eddy", "{said}");
    ensure!(entry["protocol_version"] == "HTTP11", "{said}");
    ensure!(request["request_method"] == "GET" && request["scheme"] == "http", "{said}");
    ensure!(request["authority"] == "example.com" && request["path"] == "/a?b=c", "{said}");
    ensure!(request["user_agent"] == "\u{e4}\u{1f600}" && request["referer"] == "http://a.test/", "{said}");
    ensure!(response["response_code"] == 200, "{said}");
    ensure!(common["upstream_cluster"] == "origin" && common["route_name"] == "main", "{said}");
    ensure!(common["upstream_request_attempt_count"] == 1, "{said}");
    ensure!(common["sample_rate"] == 1 && common["access_log_type"] == "DownstreamEnd", "{said}");
    ensure!(common["stream_id"] == request["request_id"] && common["stream_id"].is_string(), "{said}");
    let socket = |place: &str| {
        let socket = &common[place]["socket_address"];
        format!("{}:{}", socket["address"].as_str().unwrap_or_default(), socket["port_value"])
    };
    ensure!(socket("downstream_local_address") == gateway.address().to_string(), "{said}");
    ensure!(socket("upstream_remote_address") == origin.address().to_string(), "{said}");
    ensure!(socket("downstream_remote_address").starts_with("127.0.0.1:"), "{said}");
    let tags = &common["custom_tags"];
    ensure!(tags["user"] == "\"fooname\"" && tags["listener"].is_string(), "{said}");
    ensure!(tags["endpoint_version"] == "HTTP/1.1" && tags["config"].is_string(), "{said}");
    let began: jiff::Timestamp = common["start_time"].as_str().context("no start")?.parse()?;
    let ago = jiff::Timestamp::now().duration_since(began).as_secs();
    ensure!((0..60).contains(&ago), "it began {ago} s ago: {said}");
    ensure!(common["duration"].as_str().is_some_and(|time| time.ends_with('s')), "{said}");

    // The reason why an exchange failed.
    ensure!(gateway.exchange(get("/gone", "")).await?.status == 502);
    let said = service.until("entry").await?;
    let entry = &said["entry"];
    let flags = &entry["common_properties"]["response_flags"];
    ensure!(flags["upstream_connection_failure"] == true, "{said}");
    ensure!(entry["response"]["response_code_details"] == "connect_failed", "{said}");
    let call = service.until("entries").await?;
    ensure!(call["authority"][0] == "logs-als", "{call}");
    gateway.until_metric("eddy_access_log_entries_sent_total", 2.0).await?;
    ensure!(gateway.metric("eddy_access_log_entries_dropped_total").await? == 0.0);
    gateway.stop().await?;
    service.stop().await
}

#[tokio::test]
async fn invalid_utf8_does_not_fail_a_batch() -> Result<()> {
    let folder = TempDir::new("logs")?;
    let Some(program) = others::access_log_service(folder.path())? else { return Ok(()) };
    let mut service = AccessLogServiceProcess::start(&program, any_port()).await?;
    let (gateway, _origin) = gateway(service.address).await?;
    let mut bytes = get("/", "User-Agent: ");
    bytes.splice(bytes.len() - 2.., b"a\xff\xfeb\r\n\r\n".iter().copied());
    ensure!(gateway.exchange(bytes).await?.status == 200);
    let said = service.until("entry").await?;
    ensure!(said["entry"]["request"]["user_agent"] == "a\u{fffd}\u{fffd}b", "{said}");
    gateway.stop().await?;
    service.stop().await
}

#[tokio::test]
async fn entries_wait_for_an_unavailable_service() -> Result<()> {
    let folder = TempDir::new("logs")?;
    let Some(program) = others::access_log_service(folder.path())? else { return Ok(()) };
    // The service starts after the gateway's configuration was written.
    let address = fixed_address()?;
    let (gateway, _origin) = gateway(address).await?;
    ensure!(gateway.exchange(get("/1", "")).await?.status == 200);
    gateway.until_metric("eddy_access_log_batches_failed_total", 1.0).await?;
    let mut service = AccessLogServiceProcess::start(&program, address).await?;
    let said = service.until("entry").await?;
    ensure!(said["entry"]["request"]["path"] == "/1", "{said}");

    // UNAVAILABLE: the batch is retried.
    service.end_with(14).await?;
    ensure!(gateway.exchange(get("/2", "")).await?.status == 200);
    service.until("refused").await?;
    service.end_with(0).await?;
    let said = service.until("entry").await?;
    ensure!(said["entry"]["request"]["path"] == "/2", "{said}");

    // INVALID_ARGUMENT: the batch is lost and counted; the next one is sent.
    service.end_with(3).await?;
    ensure!(gateway.exchange(get("/3", "")).await?.status == 200);
    service.until("refused").await?;
    gateway.until_metric("eddy_access_log_entries_dropped_total", 1.0).await?;
    service.end_with(0).await?;
    ensure!(gateway.exchange(get("/4", "")).await?.status == 200);
    let said = service.until("entry").await?;
    ensure!(said["entry"]["request"]["path"] == "/4", "{said}");
    gateway.lines().until("the access log service accepts entries again", 1).await?;

    // Beyond the limit, entries are dropped, but requests are served.
    service.stop().await?;
    let long = format!("Referer: http://{}/\r\n", "a".repeat(2000));
    let mut client = gateway.client().await?;
    for _ in 0..60 {
        ensure!(client.exchange(get("/long", &long)).await?.status == 200);
    }
    ensure!(gateway.metric("eddy_access_log_entries_dropped_total").await? > 1.0);
    gateway.stop().await
}

#[tokio::test]
async fn pending_entries_are_sent_at_shutdown() -> Result<()> {
    let folder = TempDir::new("logs")?;
    let Some(program) = others::access_log_service(folder.path())? else { return Ok(()) };
    let mut service = AccessLogServiceProcess::start(&program, any_port()).await?;
    let origin = TapOrigin::start().await?;
    let config = SITE.replace("interval: 100ms", "interval: 60s");
    let nobody = closed_address();
    let substitutes: [(&str, &dyn ToString); 3] =
        [("ORIGIN", &origin.address()), ("NOBODY", &nobody), ("LOGS", &service.address)];
    let gateway = TestGateway::start(&config, &substitutes).await?;
    for target in ["/1", "/2", "/3"] {
        ensure!(gateway.exchange(get(target, "")).await?.status == 200);
    }
    gateway.stop().await?;
    ensure!(service.until("entries").await?["entries"] == 3);
    service.stop().await
}
