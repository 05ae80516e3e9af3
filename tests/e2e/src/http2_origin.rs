//! An HTTP/2 endpoint that sends arbitrary frames, valid or not, and records the frames it receives.

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

/// Connection preface of an HTTP/2 client.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A received frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedFrame {
    /// Number of the connection, from 0 in the order of acceptance.
    pub connection: usize,
    /// The received frame.
    pub frame: RawHttp2Frame,
}

/// Reply to a frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameReply {
    /// Bytes to send.
    pub bytes: Vec<u8>,
    /// Whether the connection is closed afterwards.
    pub is_last: bool,
}

impl FrameReply {
    /// Replies with nothing.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// Replies with these bytes.
    pub fn bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), is_last: false }
    }

    /// Replies with these bytes and closes the connection.
    pub fn last(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into(), is_last: true }
    }
}

type FrameHandler = dyn Fn(&ReceivedFrame) -> FrameReply + Send + Sync;

/// A running endpoint, stopped on drop.
#[derive(Debug)]
pub struct Http2Origin {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<ReceivedFrame>>>,
    changes: watch::Receiver<()>,
    task: JoinHandle<()>,
}

impl Http2Origin {
    /// Starts an endpoint that sends this SETTINGS payload and replies to each frame as `answer` decides. SETTINGS and
    /// PING frames are acknowledged automatically.
    ///
    /// # Errors
    /// When no socket can be bound.
    pub async fn with(
        settings: &[u8],
        answer: impl Fn(&ReceivedFrame) -> FrameReply + Send + Sync + 'static,
    ) -> Result<Self> {
        let listener = TcpListener::bind(place::any_port()).await?;
        let address = listener.local_addr()?;
        let heard = Arc::<Mutex<Vec<ReceivedFrame>>>::default();
        let (changed, changes) = watch::channel(());
        let (kept, answer): (_, Arc<FrameHandler>) = (Arc::clone(&heard), Arc::new(answer));
        let (settings, changed) = (settings.to_vec(), Arc::new(changed));
        let task = tokio::spawn(async move {
            let mut connection = 0;
            while let Ok((stream, _)) = listener.accept().await {
                let serving = Http2OriginConnection {
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

    /// Returns the listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the frames received so far.
    pub fn heard(&self) -> Vec<ReceivedFrame> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until `is_enough` accepts the received frames.
    ///
    /// # Errors
    /// When it does not in time.
    pub async fn until(
        &self,
        what: &str,
        is_enough: impl Fn(&[ReceivedFrame]) -> bool,
    ) -> Result<Vec<ReceivedFrame>> {
        let mut changes = self.changes.clone();
        let waiting = async {
            loop {
                let heard = self.heard();
                if is_enough(&heard) || changes.changed().await.is_err() {
                    return heard;
                }
            }
        };
        within(what, waiting).await.with_context(|| format!("received until then: {:?}", self.heard()))
    }
}

impl Drop for Http2Origin {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Http2OriginConnection {
    stream: TcpStream,
    connection: usize,
    answer: Arc<FrameHandler>,
    kept: Arc<Mutex<Vec<ReceivedFrame>>>,
    changed: Arc<watch::Sender<()>>,
}

impl Http2OriginConnection {
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

    /// Replies to a frame. Returns whether the connection continues.
    async fn answer(&mut self, heard: RawHttp2Frame) -> Result<bool> {
        let acknowledged = match heard.kind {
            kind::SETTINGS | kind::PING if heard.flags & 1 == 0 => {
                let payload = if heard.kind == kind::PING { heard.payload.clone() } else { Vec::new() };
                frame(heard.kind, 1, 0, &payload)
            }
            _ => Vec::new(),
        };
        let heard = ReceivedFrame { connection: self.connection, frame: heard };
        let said = (self.answer)(&heard);
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(heard);
        self.changed.send_replace(());
        self.stream.write_all(&[acknowledged, said.bytes].concat()).await?;
        Ok(!said.is_last)
    }
}
