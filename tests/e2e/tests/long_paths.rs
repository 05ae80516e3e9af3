//! Downloads from endpoints behind a long path, over HTTP/1.1 and HTTP/2.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::long_path::{LongPath, PathLimits};
use eddy_e2e::origin::{OriginScript, TapOrigin, response};
use eddy_e2e::place;
use eddy_e2e::wire::within_for;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const CONFIG: &str = "\
workers: 1
admin: {address: ADMIN}
listeners:
  - {address: LISTEN, name: front, routes: front}
  - {address: BACK, name: back, routes: back}
routes:
  front:
    - {match: {path: {prefix: /http1}}, cluster: http1}
    - {match: {path: {prefix: /http2}}, cluster: http2}
    - {match: {path: {prefix: /fixed}}, cluster: fixed}
  back: [{cluster: origin}]
clusters:
  http1: {endpoints: [PATH]}
  http2: {endpoints: [PATH], protocol: http2}
  fixed: {endpoints: [PATH], protocol: http2, http2: {stream_window_max: 64KiB}}
  origin: {endpoints: [ORIGIN]}
";

/// A gateway that reaches its own second listener over a long path, and an origin behind that.
struct LongPathSetup {
    gateway: TestGateway,
    _path: LongPath,
    _origin: TapOrigin,
}

impl LongPathSetup {
    async fn start(limits: PathLimits) -> Result<Self> {
        let origin = TapOrigin::with(|asked| {
            let bytes = asked.request.target_text().rsplit('/').next().and_then(|number| number.parse().ok());
            OriginScript::send(response(200, "", vec![b'x'; bytes.unwrap_or(0)]))
        });
        let origin = origin.await?;
        let back = place::fixed_address()?;
        let path = LongPath::start(back, limits).await?;
        let words = [("BACK", back), ("PATH", path.address()), ("ORIGIN", origin.address())];
        let substitutes = words.map(|(word, address)| (word.to_owned(), address.to_string())).to_vec();
        let gateway = TestGateway::launch(CONFIG, Launch { substitutes, ..Launch::default() }).await?;
        Ok(Self { gateway, _path: path, _origin: origin })
    }

    /// Bytes per second in the second half of a download.
    async fn rate(&self, cluster: &str, bytes: usize) -> Result<f64> {
        let mut stream = TcpStream::connect(self.gateway.address()).await?;
        let request = format!("GET /{cluster}/{bytes} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut room = vec![0; 256 * 1024];
        let (mut received, mut half) = (0, None);
        let download = async {
            loop {
                match stream.read(&mut room).await? {
                    0 => return Ok::<_, std::io::Error>(()),
                    count => received += count,
                }
                if received >= bytes / 2 {
                    half.get_or_insert_with(|| (received, Instant::now()));
                }
            }
        };
        within_for(Duration::from_secs(60), "a download", download).await??;
        ensure!(received > bytes, "{received} bytes of {bytes} came");
        let (before, began) = half.context("half of a download")?;
        Ok((received - before) as f64 / began.elapsed().as_secs_f64())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn windows_grow_to_fill_a_high_latency_path() -> Result<()> {
    let setup =
        LongPathSetup::start(PathLimits { delay: Duration::from_millis(40), rate: 12_500_000 }).await?;
    // The path is as long as it says: 64 KiB every 80 ms.
    let fixed = setup.rate("fixed", 800_000).await?;
    ensure!(fixed < 1_000_000.0, "{fixed}");
    let (http1, http2) = (setup.rate("http1", 20_000_000).await?, setup.rate("http2", 20_000_000).await?);
    ensure!(http2 > http1 / 2.0, "HTTP/2 {http2}, HTTP/1.1 {http1} bytes per second");
    setup.gateway.stop().await
}

/// Prints the rates for the guide, on a path of 1 Gbit/s with a round trip of 80 ms.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "moves gigabytes; its figures are in docs/guide/http2.md"]
async fn rates_over_a_high_latency_path() -> Result<()> {
    let setup =
        LongPathSetup::start(PathLimits { delay: Duration::from_millis(40), rate: 125_000_000 }).await?;
    for _ in 0..5 {
        for (cluster, bytes) in [("fixed", 4_000_000), ("http1", 400_000_000), ("http2", 400_000_000)] {
            let rate = setup.rate(cluster, bytes).await? * 8.0 / 1e6;
            println!("{cluster}: {rate:.1} Mbit/s over {bytes} bytes");
        }
    }
    setup.gateway.stop().await
}
