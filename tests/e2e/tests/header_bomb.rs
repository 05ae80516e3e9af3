//! HPACK bomb attack on eddy and other proxies: memory use of a few connections, bytes that reach the endpoint, and
//! when the connections are closed.
//!
//! Each connection sends a header of 3.9 KB once. Its further requests reference that header repeatedly, at one byte
//! each, as often as the target accepts. The endpoint reads requests and never responds, so that all requests remain in
//! flight.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eddy_e2e::framed::{ENDS, bomb, frame, kind, repeated, take_frame};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::peer::{Envoy, Nginx, bootstrap};
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::wait::elapse;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;

/// Connections of the attacker.
const CONNECTIONS: usize = 8;
/// Concurrent requests per connection, below the default limit of each target.
const STREAMS: u32 = 100;
/// Duration of the attack; a connection that is still open then was not closed by the target.
const ATTACK_TIME: Duration = Duration::from_secs(4);
/// Time between two rounds of requests on a connection.
const ROUND_TIME: Duration = Duration::from_millis(50);

/// An endpoint on a Unix socket that reads requests, counts their bytes and never answers.
struct RequestSink {
    folder: TempDir,
    bytes: Arc<AtomicU64>,
}

impl RequestSink {
    fn start() -> Result<Self> {
        let sink = Self { folder: TempDir::new("sink")?, bytes: Arc::default() };
        let listener = UnixListener::bind(sink.path())?;
        let bytes = Arc::clone(&sink.bytes);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let bytes = Arc::clone(&bytes);
                tokio::spawn(async move {
                    let mut room = vec![0; 64 * 1024];
                    while let Ok(count) = stream.read(&mut room).await
                        && count > 0
                    {
                        bytes.fetch_add(count as u64, Relaxed);
                    }
                });
            }
        });
        Ok(sink)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("sink.sock")
    }
}

/// Figures of one target.
#[derive(Debug, Default)]
struct HeaderBombFigures {
    /// Bytes of requests sent, including the first one of each connection.
    sent: u64,
    forwarded: u64,
    /// Maximum growth of the target's memory.
    grown: u64,
    ended: usize,
    /// Time until the last of the closed connections was closed.
    ended_after: Duration,
}

impl HeaderBombFigures {
    fn row(&self, target: &str) -> String {
        let ended = match self.ended {
            0 => format!("none within {ATTACK_TIME:?}"),
            count => {
                format!("{count} of {CONNECTIONS}, after {:.2} s at most", self.ended_after.as_secs_f64())
            }
        };
        let kib = |bytes: u64| bytes / 1024;
        format!("| {target} | {} | {} | {} | {ended} |", kib(self.sent), kib(self.grown), kib(self.forwarded))
    }
}

/// Returns the memory of a process, bytes.
fn memory(process: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("VmRSS")?;
    Ok(line.split_whitespace().next().context("a number")?.parse::<u64>()? * 1024)
}

/// Reads frames until the target closes the connection, and counts down the open streams.
async fn read(mut input: ReadHalf<UnixStream>, is_over: Arc<AtomicBool>, open: Arc<AtomicU64>) {
    let mut held = Vec::new();
    while let Ok(count) = input.read_buf(&mut held).await
        && count > 0
    {
        while let Some(frame) = take_frame(&mut held) {
            if frame.kind == kind::GOAWAY {
                is_over.store(true, Relaxed);
            }
            if frame.kind == kind::RST_STREAM || frame.ends() {
                open.fetch_sub(1, Relaxed);
            }
        }
    }
    is_over.store(true, Relaxed);
}

/// Keeps requests in flight on one connection, each with this many references. Returns the bytes sent and when the
/// connection was closed.
async fn attack(socket: PathBuf, references: usize) -> Result<(u64, Option<Duration>)> {
    let begun = Instant::now();
    let stream = UnixStream::connect(&socket).await?;
    let (input, mut output): (_, WriteHalf<UnixStream>) = tokio::io::split(stream);
    let (is_over, open) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let reader = tokio::spawn(read(input, Arc::clone(&is_over), Arc::clone(&open)));
    output.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await?;
    output.write_all(&frame(kind::SETTINGS, 0, 0, &[])).await?;
    let head = [(":method", "GET"), (":scheme", "http"), (":path", "/"), (":authority", "a.test")];
    let (mut sent, mut id) = (0, 1);
    while begun.elapsed() < ATTACK_TIME && !is_over.load(Relaxed) {
        while open.load(Relaxed) < STREAMS.into() && !is_over.load(Relaxed) {
            let fields = if id == 1 { bomb(&head, references - 1) } else { repeated(&head, references) };
            let request = frame(kind::HEADERS, ENDS, id, &fields);
            open.fetch_add(1, Relaxed);
            sent += request.len() as u64;
            id += 2;
            if output.write_all(&request).await.is_err() {
                is_over.store(true, Relaxed);
            }
            // Lets the reader process the responses.
            tokio::task::yield_now().await;
        }
        elapse(ROUND_TIME.min(ATTACK_TIME / 8), "the pace of the attack").await;
    }
    let ended = is_over.load(Relaxed).then(|| begun.elapsed());
    reader.abort();
    Ok((sent, ended))
}

/// Attacks the process `process`, which listens at a socket.
async fn measure(
    socket: &Path,
    process: u32,
    sink: &RequestSink,
    references: usize,
) -> Result<HeaderBombFigures> {
    let (before, forwarded) = (memory(process)?, sink.bytes.load(Relaxed));
    let mut attackers = JoinSet::new();
    for _ in 0..CONNECTIONS {
        attackers.spawn(attack(socket.to_owned(), references));
    }
    let mut figures = HeaderBombFigures::default();
    while !attackers.is_empty() {
        figures.grown = figures.grown.max(memory(process)?.saturating_sub(before));
        let next = tokio::time::timeout(Duration::from_millis(5), attackers.join_next()).await;
        let Ok(Some(attacker)) = next else { continue };
        let (sent, ended) = attacker??;
        figures.sent += sent;
        if let Some(after) = ended {
            figures.ended += 1;
            figures.ended_after = figures.ended_after.max(after);
        }
    }
    figures.forwarded = sink.bytes.load(Relaxed) - forwarded;
    Ok(figures)
}

/// Number of references that keep a request below the head limit of a target, which is in bytes.
fn references(head_bytes_max: usize) -> usize {
    (head_bytes_max - 512) / (3_900 + 64)
}

async fn eddy() -> Result<HeaderBombFigures> {
    let (sink, folder) = (RequestSink::start()?, TempDir::new("listen")?);
    let socket = folder.path().join("eddy.sock");
    let config = format!(
        "workers: 1\nadmin: {{address: ADMIN}}\nlisteners: [{{address: LISTEN, routes: site}}, {{address: 'unix:{}', name: attacked, routes: site}}]\n\
         routes: {{site: [{{cluster: sink}}]}}\nclusters: {{sink: {{endpoints: ['unix:{}']}}}}\n",
        socket.display(),
        sink.path().display()
    );
    let gateway = TestGateway::start(&config, &[]).await?;
    let child = gateway.children()?.first().copied().context("a child")?;
    let process = u32::try_from(child.as_raw_nonzero().get())?;
    let figures = measure(&socket, process, &sink, references(64 * 1024)).await?;
    gateway.stop().await?;
    Ok(figures)
}

async fn nginx() -> Result<Option<HeaderBombFigures>> {
    let (sink, folder, address) = (RequestSink::start()?, TempDir::new("nginx")?, place::fixed_address()?);
    let socket = folder.path().join("nginx.sock");
    let http = format!(
        "server {{ listen {address}; listen unix:DIR/nginx.sock http2; location / {{ proxy_pass http://unix:{}:; }} }}",
        sink.path().display()
    );
    let Some(nginx) = Nginx::start(&http, folder, address)? else { return Ok(None) };
    // Four buffers of 8 KiB (`large_client_header_buffers`).
    Ok(Some(measure(&socket, nginx.process(), &sink, references(32 * 1024)).await?))
}

async fn envoy() -> Result<Option<HeaderBombFigures>> {
    let Some(program) = Envoy::find()? else { return Ok(None) };
    let sink = RequestSink::start()?;
    let routes = json!({"virtual_hosts": [{
        "name": "all", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": {"cluster": "sink", "timeout": "0s"}}]
    }]});
    let mut config: serde_json::Value = serde_json::from_str(&bootstrap(&routes, &json!({}), &["sink"]))?;
    let breakers = json!({"thresholds": [{"max_connections": 10_000, "max_pending_requests": 10_000, "max_requests": 10_000}]});
    let cluster =
        config.pointer_mut("/static_resources/clusters/0").and_then(|cluster| cluster.as_object_mut());
    cluster.context("a cluster")?.insert("circuit_breakers".into(), breakers);
    let envoy = Envoy::start(&program, &config.to_string(), &sink.path())?;
    // The default of `max_request_headers_kb` is 60.
    Ok(Some(measure(&envoy.socket(), envoy.process(), &sink, references(60 * 1024)).await?))
}

#[tokio::test]
#[ignore = "prints figures beside NGINX and Envoy, on a machine that is otherwise idle: make soak"]
async fn a_header_bomb_ends_its_connections() -> Result<()> {
    let own = eddy().await?;
    let mut rows = vec![own.row("eddy")];
    rows.extend(nginx().await?.map(|figures| figures.row("NGINX")));
    rows.extend(envoy().await?.map(|figures| figures.row("Envoy")));
    println!(
        "| target | sent, KiB | memory, KiB | forwarded, KiB | connections ended |\n|---|--:|--:|--:|---|"
    );
    rows.iter().for_each(|row| println!("{row}"));
    ensure!(own.ended == CONNECTIONS, "{own:?}");
    ensure!(own.ended_after < Duration::from_secs(1), "{own:?}");
    // Each connection had at most four such heads in flight.
    ensure!(own.forwarded <= CONNECTIONS as u64 * 4 * 64 * 1024, "{own:?}");
    ensure!(own.grown <= CONNECTIONS as u64 * 1024 * 1024, "{own:?}");
    Ok(())
}
