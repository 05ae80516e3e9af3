//! Shortage of file descriptors, disk space or addresses: eddy serves what it can and recovers by itself.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::origin::TapOrigin;
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wait::{elapse, next_look};
use eddy_e2e::wire::WireClient;

const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

#[tokio::test]
async fn running_out_of_file_descriptors_is_survived() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let launch = Launch { files_max: Some(256), ..Launch::default() };
    let gateway = GatewayConfigBuilder::new().top("workers: 2").launch(&origin, launch).await?;
    let mut witness = gateway.client().await?;
    assert_eq!(witness.exchange(GET).await?.status, 200);
    let mut held = Vec::new();
    for number in 0..400 {
        if let Ok(client) = WireClient::connect(gateway.address()).await {
            held.push(client);
        }
        // A connection in use is never closed to make room.
        if number % 10 == 0 {
            assert_eq!(witness.exchange(GET).await?.status, 200, "after {number} connections");
        }
    }
    // Existing connections are served, and the admin listener responds.
    for _ in 0..20 {
        assert_eq!(witness.exchange(GET).await?.status, 200);
    }
    assert_eq!(gateway.admin("/healthz").await?.status, 200);
    let busy = cpu_of(&gateway, Duration::from_secs(1)).await?;
    ensure!(busy < 0.2, "it spins: {busy} of a CPU while there is nothing to do");
    // The witness, too, has been idle by now, and may have been closed for a waiting connection.
    drop((held, witness));
    gateway.until_metric("eddy_worker_connections", 0.0).await?;
    for _ in 0..20 {
        assert_eq!(gateway.exchange(GET).await?.status, 200);
    }
    gateway.stop().await
}

/// Returns the CPU share that the gateway's processes use during `time`.
async fn cpu_of(gateway: &TestGateway, time: Duration) -> Result<f64> {
    let before = ticks_of(gateway)?;
    let since = Instant::now();
    elapse(time, "the CPU use during this time is the result").await;
    let ticks = ticks_of(gateway)?.saturating_sub(before);
    // The kernel counts in hundredths of a second on every machine this runs on.
    Ok(ticks as f64 / 100.0 / since.elapsed().as_secs_f64())
}

fn ticks_of(gateway: &TestGateway) -> Result<u64> {
    let mut sum = 0;
    for pid in gateway.children()?.into_iter().chain([gateway.pid()]) {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()))?;
        let fields = stat.rsplit(')').next().context("no fields")?;
        let times: Vec<u64> =
            fields.split_whitespace().skip(11).take(2).filter_map(|word| word.parse().ok()).collect();
        sum += times.iter().sum::<u64>();
    }
    Ok(sum)
}

#[tokio::test]
async fn an_access_log_on_a_full_disk_affects_no_requests() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .top("access_log: {file: /dev/full, format: json}")
        .before(&origin)
        .await?;
    let mut client = gateway.client().await?;
    for _ in 0..2000 {
        assert_eq!(client.exchange(GET).await?.status, 200);
    }
    within_dropped(&gateway).await?;
    gateway.stop().await
}

/// Waits until entries that could not be written are counted.
async fn within_dropped(gateway: &TestGateway) -> Result<()> {
    eddy_e2e::wire::within("dropped records", async {
        while gateway.metric("eddy_access_log_entries_dropped_total").await? < 1.0 {
            next_look().await;
        }
        anyhow::Ok(())
    })
    .await?
}

#[tokio::test]
async fn an_access_log_without_a_reader_affects_no_requests() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let pipes = eddy_e2e::place::TempDir::new("fifo")?;
    let fifo = pipes.join("log");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &fifo,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )?;
    // The reader is held open and never read: writes fill the pipe and then have to wait.
    let _reader = std::fs::OpenOptions::new().read(true).write(true).open(&fifo)?;
    let gateway = GatewayConfigBuilder::new()
        .top("access_log: {file: FIFO, format: json}")
        .with("FIFO", fifo.display())
        .before(&origin)
        .await?;
    let mut client = gateway.client().await?;
    let since = Instant::now();
    for _ in 0..3000 {
        assert_eq!(client.exchange(GET).await?.status, 200);
    }
    ensure!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    gateway.stop().await
}

#[tokio::test]
async fn every_exchange_has_one_log_entry_of_valid_json() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new()
        .top("access_log: {file: DIR/access.log, format: json}")
        .before(&origin)
        .await?;
    let log = gateway.directory().join("access.log");
    let mut sent = 0;
    for byte in (0x21u8..=0xff).filter(|byte| *byte != 0x7f) {
        let raw = [
            b"GET /log HTTP/1.1\r\nHost: a\r\nUser-Agent: ",
            &[byte, b'"', b'\\'][..],
            b"\r\nReferer: ",
            &[byte],
            b"\r\n\r\n",
        ]
        .concat();
        gateway.exchange(raw).await?;
        sent += 1;
    }
    for path in ["/quote%22", "/a'b", "/%C3%A9", "/?q=%22%5c"] {
        gateway.exchange(format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n")).await?;
        sent += 1;
    }
    gateway.exchange("GET /bad HTTP/1.1\r\nHost: a\0b\r\n\r\n").await?;
    sent += 1;
    gateway.stop_and_read(&log, sent).await
}

trait StopAndRead {
    async fn stop_and_read(self, log: &std::path::Path, wanted: usize) -> Result<()>;
}

impl StopAndRead for TestGateway {
    /// Stops the gateway and checks the access log entries it left.
    async fn stop_and_read(mut self, log: &std::path::Path, wanted: usize) -> Result<()> {
        self.signal(rustix::process::Signal::TERM)?;
        let status = self.exited(eddy_e2e::wire::DEADLINE).await?;
        ensure!(status.success(), "{status}");
        let text = std::fs::read_to_string(log).context("the records are not UTF-8")?;
        let lines: Vec<&str> = text.lines().collect();
        for line in &lines {
            let record: serde_json::Value = serde_json::from_str(line).with_context(|| line.to_string())?;
            ensure!(record.get("status").is_some(), "{line}");
        }
        ensure!(lines.len() == wanted, "{} records of {wanted} exchanges", lines.len());
        Ok(())
    }
}

#[tokio::test]
async fn many_idle_connections_cost_little() -> Result<()> {
    let origin = TapOrigin::start().await?;
    let gateway = GatewayConfigBuilder::new().top("workers: 2").before(&origin).await?;
    gateway.exchange(GET).await?;
    let before = memory_of(&gateway)?;
    let mut held = Vec::new();
    for number in 0..2000u32 {
        let source = eddy_e2e::place::client_address(0x000f_0000 + number);
        let mut client = WireClient::connect_from(source, gateway.address()).await?;
        client.send("GET / HTTP/1.1\r\nHost:").await?;
        held.push(client);
    }
    gateway.until_metric("eddy_worker_connections", 2000.0).await?;
    let each = memory_of(&gateway)?.saturating_sub(before) / 2000;
    ensure!(each < 12 * 1024, "{each} bytes of memory for a connection with a stalled head");
    drop(held);
    gateway.until_metric("eddy_worker_connections", 0.0).await?;
    gateway.stop().await
}

/// Returns the resident bytes of the gateway's child processes.
fn memory_of(gateway: &TestGateway) -> Result<u64> {
    let mut sum = 0;
    for child in gateway.children()? {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.as_raw_nonzero()))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).context("no VmRSS")?;
        let kilobytes: u64 = line.split_whitespace().nth(1).context("no number")?.parse()?;
        sum += kilobytes * 1024;
    }
    Ok(sum)
}
