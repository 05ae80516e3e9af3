//! A network path with a delay and a limited rate, as a relay of TCP connections on this machine.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep_until};

use crate::place;

/// The properties of a path, the same in both directions.
#[derive(Clone, Copy, Debug)]
pub struct PathLimits {
    /// Time from one end to the other.
    pub delay: Duration,
    /// Bytes per second.
    pub rate: u32,
}

/// A running path; ends when it goes out of scope.
#[derive(Debug)]
pub struct LongPath {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

impl LongPath {
    /// Starts a path to `target`.
    ///
    /// # Errors
    /// When no socket can be bound.
    pub async fn start(target: SocketAddr, limits: PathLimits) -> Result<Self> {
        let listener = TcpListener::bind(place::any_port()).await?;
        let address = listener.local_addr()?;
        let accepting = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((near, _)) = listener.accept().await {
                connections.spawn(carry(near, target, limits));
            }
        });
        Ok(Self { address, accepting })
    }

    /// The address of its near end.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for LongPath {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn carry(near: TcpStream, target: SocketAddr, limits: PathLimits) -> Result<()> {
    let far = TcpStream::connect(target).await?;
    near.set_nodelay(true)?;
    far.set_nodelay(true)?;
    let ((near_read, near_write), (far_read, far_write)) = (near.into_split(), far.into_split());
    let (to_far, at_far) = channel(PIECES_MAX);
    let (to_near, at_near) = channel(PIECES_MAX);
    tokio::try_join!(
        enter(near_read, to_far, limits),
        leave(at_far, far_write),
        enter(far_read, to_near, limits),
        leave(at_near, near_write),
    )?;
    Ok(())
}

/// Bytes under way, and when they arrive.
struct Piece {
    arrival: Instant,
    bytes: Vec<u8>,
}

/// Takes bytes in as fast as the path carries them.
async fn enter(mut read: OwnedReadHalf, path: Sender<Piece>, limits: PathLimits) -> Result<()> {
    let mut free_at = Instant::now();
    loop {
        let mut bytes = vec![0; PIECE_BYTES];
        let count = read.read(&mut bytes).await?;
        if count == 0 {
            return Ok(());
        }
        bytes.truncate(count);
        let time = Duration::from_secs_f64(count as f64 / f64::from(limits.rate));
        free_at = free_at.max(Instant::now()) + time;
        if path.send(Piece { arrival: free_at + limits.delay, bytes }).await.is_err() {
            return Ok(());
        }
        // A short queue before the path: it is never idle because this task came late.
        sleep_until(free_at.checked_sub(QUEUE_TIME).unwrap_or(free_at)).await;
    }
}

async fn leave(mut path: Receiver<Piece>, mut write: OwnedWriteHalf) -> Result<()> {
    while let Some(Piece { arrival, bytes }) = path.recv().await {
        sleep_until(arrival).await;
        write.write_all(&bytes).await?;
    }
    write.shutdown().await?;
    Ok(())
}

const PIECE_BYTES: usize = 64 * 1024;
/// Pieces under way in one direction: more than a path of 1 Gbit/s and 40 ms holds, if pieces are not tiny.
const PIECES_MAX: usize = 1024;
const QUEUE_TIME: Duration = Duration::from_millis(10);
