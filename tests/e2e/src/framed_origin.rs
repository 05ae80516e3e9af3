//! An endpoint of HTTP/2 that sends the frames it is told to, right or wrong, and keeps those that come.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::framed::{RawHttp2Frame, frame, kind, take_frame};
use crate::place;
use crate::wire::within;

/// What a client of HTTP/2 begins with.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A frame that has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    /// The number of its connection, from 0 in the order of acceptance.
    pub connection: usize,
    /// The frame.
    pub frame: RawHttp2Frame,
}

/// What is said to that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameReply {
    /// What is sent.
    pub bytes: Vec<u8>,
    /// Whether the connection ends after it.
    pub is_last: bool,
}

impl FrameReply {
    /// Nothing.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// These bytes.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), is_last: false }
    }

    /// These bytes, and the end of the connection.
    pub fn last(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), is_last: true }
    }
}

type FrameHandler = dyn Fn(&Heard) -> FrameReply + Send + Sync;

/// A running endpoint; ends when it goes out of scope.
#[derive(Debug)]
pub struct FramedOrigin {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Heard>>>,
    changes: watch::Receiver<()>,
    task: JoinHandle<()>,
}

impl FramedOrigin {
    /// An endpoint that begins with settings of this payload and answers each frame as `answer` says. Settings and pings are
    /// acknowledged by itself.
    ///
    /// # Errors
    /// When nobody can listen.
    pub async fn with(
        settings: &[u8],
        answer: impl Fn(&Heard) -> FrameReply + Send + Sync + 'static,
    ) -> Result<Self> {
        let listener = TcpListener::bind(place::free_address()?).await?;
        let address = listener.local_addr()?;
        let heard = Arc::<Mutex<Vec<Heard>>>::default();
        let (changed, changes) = watch::channel(());
        let (kept, answer): (_, Arc<FrameHandler>) = (Arc::clone(&heard), Arc::new(answer));
        let (settings, changed) = (settings.to_vec(), Arc::new(changed));
        let task = tokio::spawn(async move {
            let mut connection = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let serving = FramedOriginConnection {
                    stream,
                    connection,
                    answer: Arc::clone(&answer),
                    kept: Arc::clone(&kept),
                    changed: Arc::clone(&changed),
                };
                tokio::spawn(serving.run(settings.clone()));
                connection += 1;
            }
        });
        Ok(Self { address, heard, changes, task })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All that has come so far.
    pub fn heard(&self) -> Vec<Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until what has come is enough.
    ///
    /// # Errors
    /// When it does not in time.
    pub async fn until(&self, what: &str, is_enough: impl Fn(&[Heard]) -> bool) -> Result<Vec<Heard>> {
        let mut changes = self.changes.clone();
        let waiting = async {
            loop {
                let heard = self.heard();
                if is_enough(&heard) || changes.changed().await.is_err() {
                    return heard;
                }
            }
        };
        within(what, waiting).await.with_context(|| format!("heard until then: {:?}", self.heard()))
    }
}

impl Drop for FramedOrigin {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct FramedOriginConnection {
    stream: TcpStream,
    connection: usize,
    answer: Arc<FrameHandler>,
    kept: Arc<Mutex<Vec<Heard>>>,
    changed: Arc<watch::Sender<()>>,
}

impl FramedOriginConnection {
    async fn run(mut self, settings: Vec<u8>) -> Result<()> {
        self.stream.set_nodelay(true)?;
        self.stream.write_all(&frame(kind::SETTINGS, 0, 0, &settings)).await?;
        let mut input = Vec::new();
        let mut is_begun = false;
        loop {
            if !is_begun && input.starts_with(PREFACE) {
                input.drain(..PREFACE.len());
                is_begun = true;
            }
            while let Some(frame) = take_frame(&mut input).filter(|_| is_begun) {
                if !self.answer(frame).await? {
                    return Ok(());
                }
            }
            if self.stream.read_buf(&mut input).await? == 0 {
                return Ok(());
            }
        }
    }

    /// Answers a frame; whether the connection goes on.
    async fn answer(&mut self, heard: RawHttp2Frame) -> Result<bool> {
        let acknowledged = match heard.kind {
            kind::SETTINGS | kind::PING if heard.flags & 1 == 0 => {
                let payload = if heard.kind == kind::PING { heard.payload.clone() } else { Vec::new() };
                frame(heard.kind, 1, 0, &payload)
            }
            _ => Vec::new(),
        };
        let heard = Heard { connection: self.connection, frame: heard };
        let said = (self.answer)(&heard);
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(heard);
        self.changed.send_replace(());
        self.stream.write_all(&[acknowledged, said.bytes].concat()).await?;
        Ok(!said.is_last)
    }
}
