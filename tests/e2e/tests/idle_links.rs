//! An endpoint that closes idle connections, behind eddy, NGINX and Envoy: how soon each proxy closes its side, and the
//! fate of requests with a body that are sent at that moment.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eddy_e2e::peer::{Envoy, Nginx};
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::site::GatewayConfigBuilder;
use eddy_e2e::wait::elapse;
use eddy_e2e::wire::{WireClient, within};
use eddy_e2e::{gateway::Launch, origin::TapOrigin};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Time after which the endpoint closes an idle connection.
const IDLE_TIME: Duration = Duration::from_millis(20);
const CLOSES: usize = 300;
const POSTS: u32 = 1_000;
const GET: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/// An endpoint that closes its side of an idle connection, and reports how long the other side stayed open.
struct ClosingOrigin {
    address: SocketAddr,
    closed: UnboundedReceiver<Duration>,
}

impl ClosingOrigin {
    async fn start() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (tell, closed) = unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, tell.clone()));
            }
        });
        Ok(Self { address, closed })
    }
}

/// Responds to each request completely, and closes after the first idle time. A later request is never read: the kernel
/// answers it with a reset.
async fn serve(mut stream: TcpStream, tell: UnboundedSender<Duration>) -> Result<()> {
    let mut bytes = Vec::new();
    let mut room = [0; 4096];
    loop {
        let Ok(count) = tokio::time::timeout(IDLE_TIME, stream.read(&mut room)).await else { break };
        match count? {
            0 => return Ok(()),
            count => bytes.extend_from_slice(&room[..count]),
        }
        if is_whole(&bytes) {
            bytes.clear();
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await?;
        }
    }
    let since = Instant::now();
    stream.shutdown().await?;
    if stream.read(&mut room).await? == 0 {
        // When the receiver is gone, enough has been measured.
        let _ = tell.send(since.elapsed());
    }
    Ok(())
}

/// Whether the bytes are a complete request: its body, if any, ends with a full stop.
fn is_whole(bytes: &[u8]) -> bool {
    bytes.ends_with(if bytes.starts_with(b"POST") { b"." } else { b"\r\n\r\n" })
}

#[derive(Debug)]
struct IdleCloseOutcome {
    /// Time from the endpoint's close to the proxy's: median and maximum.
    close: (Duration, Duration),
    /// Requests of [`POSTS`] that were not answered 200.
    failed: usize,
}

async fn try_out(proxy: SocketAddr, origin: &mut ClosingOrigin) -> Result<IdleCloseOutcome> {
    while origin.closed.try_recv().is_ok() {}
    let mut times = Vec::new();
    let mut client = WireClient::connect(proxy).await?;
    for _ in 0..CLOSES {
        ensure!(client.exchange(GET).await?.status == 200);
        times.push(
            within("the close of an idle connection", origin.closed.recv())
                .await?
                .context("the origin ended")?,
        );
    }
    times.sort_unstable();
    let mut failed = 0;
    let post = format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1024\r\n\r\n{}.", "x".repeat(1023));
    for number in 0..POSTS {
        // From one millisecond before the close to three after it. Only a busy loop is precise enough for that.
        let pause = IDLE_TIME - Duration::from_millis(1) + Duration::from_micros(u64::from(number % 80) * 50);
        let since = Instant::now();
        elapse(pause - Duration::from_millis(2), "the request meets the close of the origin").await;
        while since.elapsed() < pause {
            tokio::task::yield_now().await;
        }
        if client.exchange(&post).await?.status != 200 {
            failed += 1;
            client = WireClient::connect(proxy).await?;
        }
    }
    Ok(IdleCloseOutcome { close: (times[CLOSES / 2], times[CLOSES - 1]), failed })
}

#[tokio::test]
#[ignore = "prints figures beside NGINX and Envoy, on a machine that is otherwise idle: make soak"]
async fn requests_survive_endpoints_that_close_idle_connections() -> Result<()> {
    let mut origin = ClosingOrigin::start().await?;
    let unused = TapOrigin::start().await?;
    let site = GatewayConfigBuilder::new().without_default_rule().rule("{cluster: closing}");
    let site = site.another_cluster("closing: {endpoints: [CLOSING]}").with("CLOSING", origin.address);
    let gateway = site.with("ORIGIN", unused.address()).launch(&unused, Launch::default()).await?;
    let eddy = try_out(gateway.address(), &mut origin).await?;
    println!("eddy:  {eddy:?}");
    gateway.stop().await?;
    let address = place::fixed_address()?;
    let http = format!(
        "upstream origin {{ server {}; keepalive 32; }}\n\
         server {{ listen {address}; location / {{ proxy_pass http://origin; proxy_http_version 1.1; \
         proxy_set_header Connection ''; }} }}\n",
        origin.address
    );
    if let Some(_nginx) = Nginx::start(&http, TempDir::new("nginx")?, address)? {
        println!("nginx: {:?}", try_out(address, &mut origin).await?);
    }
    if let Some(program) = Envoy::find()? {
        let address = place::fixed_address()?;
        let _envoy = Envoy::over_tcp(&program, address, origin.address)?;
        println!("Envoy: {:?}", try_out(address, &mut origin).await?);
    }
    ensure!(eddy.failed == 0 && eddy.close.1 < Duration::from_secs(1), "{eddy:?}");
    Ok(())
}
