//! Large bodies of known length without inspection: moved inside the kernel, unchanged, and not a byte beyond their
//! end.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::wire::within;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const CONFIG: &str = "\
workers: 1
admin: {address: ADMIN}
listeners: [{address: LISTEN, name: it, routes: site}]
routes:
  site:
    - cluster: origin
clusters: {origin: {endpoints: ['ORIGIN']}}
";

struct BulkSetup {
    gateway: TestGateway,
    origin: TcpListener,
}

impl BulkSetup {
    async fn start() -> Result<Self> {
        let origin = TcpListener::bind("127.0.0.1:0").await?;
        let address: SocketAddr = origin.local_addr()?;
        let gateway = TestGateway::start(CONFIG, &[("ORIGIN", &address)]).await?;
        Ok(Self { gateway, origin })
    }

    async fn connect(&self) -> Result<TcpStream> {
        let stream = within("a connection", TcpStream::connect(self.gateway.address())).await??;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    async fn accept(&self) -> Result<TcpStream> {
        Ok(within("a connection at the origin", self.origin.accept()).await??.0)
    }

    async fn spliced(&self) -> Result<f64> {
        self.gateway.metric("eddy_spliced_bytes_total").await
    }
}

fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|index| u8::try_from((index * 31 + index / 251 + seed) % 256).unwrap_or(0)).collect()
}

async fn read_head(stream: &mut TcpStream) -> Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(within("a head", stream.read_u8()).await??);
    }
    Ok(String::from_utf8(head)?)
}

async fn read_exactly(stream: &mut TcpStream, count: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    within("a body", stream.read_exact(&mut bytes))
        .await?
        .with_context(|| format!("{count} bytes were due"))?;
    Ok(bytes)
}

/// Requests and responses follow one another on the same two connections, so a missing or extra byte is detected at
/// once.
#[tokio::test]
async fn bodies_of_all_sizes_arrive_as_sent() -> Result<()> {
    let place = BulkSetup::start().await?;
    let mut client = place.connect().await?;
    let mut server = None;
    let (mut sent_up, mut sent_down) = (0, 0);
    let sizes = [0, 1, 4095, 131_071, 131_072, 131_073, 200_000, 262_144, 262_145, 1_048_576, 5_000_001];
    for (number, up) in sizes.into_iter().enumerate() {
        let down = sizes[sizes.len() - 1 - number];
        let (body_up, body_down) = (pattern(up, number), pattern(down, number + 100));
        // The body arrives with its head, or later and in pieces.
        let is_late = number % 2 == 1;
        let head = format!("POST /{number} HTTP/1.1\r\nHost: a\r\nContent-Length: {up}\r\n\r\n");
        let client_side = async {
            if is_late {
                client.write_all(head.as_bytes()).await?;
                for piece in body_up.chunks(50_001) {
                    client.write_all(piece).await?;
                }
            } else {
                client.write_all(&[head.as_bytes(), &body_up].concat()).await?;
            }
            let head = read_head(&mut client).await?;
            ensure!(head.starts_with("HTTP/1.1 200 "), "{head}");
            read_exactly(&mut client, down).await
        };
        let server_side = async {
            let stream = match &mut server {
                Some(stream) => stream,
                empty => empty.insert(place.accept().await?),
            };
            let head = read_head(stream).await?;
            ensure!(head.starts_with(&format!("POST /{number} ")), "{head}");
            let body = read_exactly(stream, up).await?;
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {down}\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            for piece in body_down.chunks(70_003) {
                stream.write_all(piece).await?;
            }
            Ok(body)
        };
        let (got_down, got_up) = tokio::join!(client_side, server_side);
        ensure!(got_up? == body_up, "the body of {up} bytes changed on its way up");
        ensure!(got_down? == body_down, "the body of {down} bytes changed on its way down");
        (sent_up, sent_down) = (sent_up + up, sent_down + down);
    }
    let bytes_in = place.gateway.metric("eddy_body_bytes_in_total{listener=\"it\"}").await?;
    let bytes_out = place.gateway.metric("eddy_body_bytes_out_total{listener=\"it\"}").await?;
    ensure!(format!("{bytes_in} {bytes_out}") == format!("{sent_up} {sent_down}"), "{bytes_in} {bytes_out}");
    ensure!(
        place.spliced().await? > 8_000_000.0,
        "only {} bytes stayed in the kernel",
        place.spliced().await?
    );
    Ok(())
}

/// Chunked bodies, which cannot be moved in the kernel, are copied.
#[tokio::test]
async fn chunk_framing_is_parsed_in_bulk_transfers() -> Result<()> {
    let place = BulkSetup::start().await?;
    let mut client = place.connect().await?;
    client.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    let mut server = place.accept().await?;
    read_head(&mut server).await?;
    let body = pattern(600_000, 1);
    let wire = [b"927c0\r\n".as_slice(), &body, b"\r\n0\r\n\r\n"].concat();
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let send = async {
        server.write_all(head).await?;
        server.write_all(&wire).await?;
        anyhow::Ok(())
    };
    let take = async {
        let mut got = Vec::new();
        while !got.ends_with(b"\r\n0\r\n\r\n") {
            ensure!(within("a body", client.read_buf(&mut got)).await?? > 0);
        }
        Ok(got)
    };
    let (sent, got) = tokio::join!(send, take);
    sent?;
    ensure!(got?.len() > body.len());
    ensure!(place.spliced().await? == 0.0);
    Ok(())
}

/// When one side aborts in the middle of a large body, the other side can detect it, and the next exchange is
/// unaffected.
#[tokio::test]
async fn a_truncated_large_body_does_not_look_complete() -> Result<()> {
    let place = BulkSetup::start().await?;
    let half = pattern(500_000, 7);
    // The endpoint closes, or resets, in the middle.
    for is_reset in [false, true] {
        let mut client = place.connect().await?;
        client.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await?;
        let mut server = place.accept().await?;
        read_head(&mut server).await?;
        let send = async {
            server.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n").await?;
            server.write_all(&half).await?;
            if is_reset {
                server.set_zero_linger()?;
            }
            drop(server);
            anyhow::Ok(())
        };
        let take = async {
            let mut got = Vec::new();
            let end = within("the end", client.read_to_end(&mut got)).await?;
            anyhow::Ok((got.len(), end.is_err()))
        };
        let (sent, got) = tokio::join!(send, take);
        sent?;
        let (count, is_cut) = got?;
        ensure!(is_cut || count < 1_000_000, "{count} bytes came, and then an orderly end");
        ensure!(is_cut, "a body that was cut after {count} bytes ended in order");
    }
    // The client disconnects in the middle of its upload.
    let mut client = place.connect().await?;
    client.write_all(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n").await?;
    client.write_all(&half).await?;
    let mut server = place.accept().await?;
    read_head(&mut server).await?;
    read_exactly(&mut server, 400_000).await?;
    drop(client);
    let mut rest = Vec::new();
    let _ = within("the end", server.read_to_end(&mut rest)).await?;
    ensure!(rest.len() <= 100_000, "{} bytes", rest.len());
    // An early response from the endpoint ends the upload, and the response arrives.
    let mut client = place.connect().await?;
    client.write_all(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n").await?;
    let mut server = place.accept().await?;
    read_head(&mut server).await?;
    server.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").await?;
    let (mut client_in, mut client_out) = client.into_split();
    let sending = tokio::spawn(async move {
        let block = vec![1; 100_000];
        while client_out.write_all(&block).await.is_ok() {}
    });
    let mut status = [0; 12];
    within("the answer", client_in.read_exact(&mut status)).await??;
    ensure!(&status == b"HTTP/1.1 413", "{}", String::from_utf8_lossy(&status));
    drop(server);
    drop(client_in);
    within("the sender", sending).await??;
    Ok(())
}

/// A client that reads nothing holds no more than its pipe and the socket buffers; a slow client receives everything.
#[tokio::test]
async fn a_slow_client_slows_down_the_endpoint() -> Result<()> {
    let place = BulkSetup::start().await?;
    let mut client = place.connect().await?;
    client.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await?;
    let mut server = place.accept().await?;
    read_head(&mut server).await?;
    const TOTAL: usize = 64 * 1024 * 1024;
    server.write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {TOTAL}\r\n\r\n").as_bytes()).await?;
    let block = vec![3_u8; 1 << 20];
    let mut sent = 0;
    // Until the buffers are full.
    while let Ok(count) =
        tokio::time::timeout(std::time::Duration::from_millis(300), server.write(&block)).await
    {
        sent += count?;
        ensure!(sent < TOTAL, "all was taken, though the client took nothing");
    }
    let finish = async {
        let mut left = TOTAL - sent;
        while left > 0 {
            let count = server.write(&block[..left.min(block.len())]).await?;
            left -= count;
        }
        anyhow::Ok(())
    };
    let take = async {
        read_head(&mut client).await?;
        let mut left = TOTAL;
        let mut room = vec![0; 1 << 20];
        while left > 0 {
            let len = left.min(room.len());
            let count = within("a body", client.read(&mut room[..len])).await??;
            ensure!(count > 0 && room[..count].iter().all(|byte| *byte == 3));
            left -= count;
        }
        anyhow::Ok(())
    };
    let (finished, taken) = tokio::join!(finish, take);
    finished?;
    taken
}
