//! One connection of the tap origin.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::script::{OriginScript, ScriptStep, ScriptTrigger};
use super::tap::{Choose, Log, TapEvent, TapRequest};
use crate::wait::elapse;
use crate::wire::{ConnectionEnd, ParseOutcome, SocketDiag, WireRequest, read_request};

/// A connection, with the bytes that are not parsed into requests yet.
pub(super) struct TapConnection {
    stream: TcpStream,
    near: SocketAddr,
    far: SocketAddr,
    buffer: Vec<u8>,
    connection: usize,
    number: usize,
    is_taken: bool,
    end: Option<ConnectionEnd>,
    log: Log,
    choose: Arc<Choose>,
}

/// Whether a connection continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    On,
    Over,
}

impl TapConnection {
    pub(super) fn new(stream: TcpStream, connection: usize, log: Log, choose: Arc<Choose>) -> Self {
        let nobody = SocketAddr::from(([0, 0, 0, 0], 0));
        // Disables Nagle's algorithm, so that each write is sent as it is made.
        let _ = stream.set_nodelay(true);
        Self {
            near: stream.local_addr().unwrap_or(nobody),
            far: stream.peer_addr().unwrap_or(nobody),
            stream,
            buffer: Vec::new(),
            connection,
            number: 0,
            is_taken: false,
            end: None,
            log,
            choose,
        }
    }

    /// Serves the connection until its end.
    pub(super) async fn serve(mut self, greeting: Option<OriginScript>) {
        self.is_taken = true;
        let mut flow = Flow::On;
        if let Some(script) = greeting {
            flow = self.run(script).await;
        }
        while flow == Flow::On {
            flow = self.serve_request().await;
        }
        let rest = std::mem::take(&mut self.buffer);
        self.log.push(TapEvent::Ended { connection: self.connection, end: self.end, rest });
    }

    async fn serve_request(&mut self) -> Flow {
        self.is_taken = false;
        let Some(request) = self.read_head().await else {
            return Flow::Over;
        };
        let (connection, number) = (self.connection, self.number);
        self.number += 1;
        self.log.push(TapEvent::Head { connection, request: Box::new(request.clone()) });
        let mut script = (self.choose)(TapRequest { request: &request, connection, number });
        if script.wait == ScriptTrigger::Request {
            let Some(request) = self.take_request().await else {
                return Flow::Over;
            };
            // With the body present, the script may be different.
            script = (self.choose)(TapRequest { request: &request, connection, number });
        }
        if self.run(script).await == Flow::Over {
            return Flow::Over;
        }
        if !self.is_taken && self.take_request().await.is_none() { Flow::Over } else { Flow::On }
    }

    async fn run(&mut self, script: OriginScript) -> Flow {
        for step in script.steps {
            if self.step(step).await == Flow::Over {
                return Flow::Over;
            }
        }
        Flow::On
    }

    async fn step(&mut self, step: ScriptStep) -> Flow {
        match step {
            ScriptStep::Send(bytes) => self.send(&bytes).await,
            ScriptStep::SendIn(bytes, segments) => {
                let diag = SocketDiag::open();
                for piece in segments.of(&bytes) {
                    if self.send(piece).await == Flow::Over {
                        return Flow::Over;
                    }
                    if let Some(diag) = &diag {
                        diag.until_read(self.far, self.near).await;
                    }
                }
                Flow::On
            }
            ScriptStep::Drip { bytes, count, every } => {
                for _ in 0..count {
                    if self.send(&bytes).await == Flow::Over
                        || self.idle_until(elapse(every, "the pace of the script")).await == Flow::Over
                    {
                        return Flow::Over;
                    }
                }
                Flow::On
            }
            ScriptStep::Pause(time) => self.idle_until(elapse(time, "a pause of the script")).await,
            ScriptStep::AwaitGate(gate) => self.idle_until(gate.opened()).await,
            ScriptStep::Open(gate) => {
                gate.open();
                Flow::On
            }
            ScriptStep::AwaitRequest => {
                if !self.is_taken && self.take_request().await.is_none() {
                    Flow::Over
                } else {
                    Flow::On
                }
            }
            ScriptStep::AwaitEnd => self.idle_until(std::future::pending()).await,
            ScriptStep::Finish => {
                // A failure means that the gateway has already closed; the next read detects it.
                let _ = self.stream.shutdown().await;
                Flow::On
            }
            ScriptStep::Close => Flow::Over,
            ScriptStep::Reset => {
                let _ = self.stream.set_zero_linger();
                Flow::Over
            }
        }
    }

    async fn send(&mut self, bytes: &[u8]) -> Flow {
        match self.stream.write_all(bytes).await {
            Ok(()) => Flow::On,
            Err(error) => self.over(&error),
        }
    }

    /// Waits for `event`. Bytes that arrive meanwhile are kept; the end of the connection ends the wait.
    async fn idle_until(&mut self, event: impl Future<Output = ()>) -> Flow {
        tokio::pin!(event);
        loop {
            tokio::select! {
                () = &mut event => return Flow::On,
                flow = fill(&mut self.stream, &mut self.buffer, &mut self.end) => if flow == Flow::Over {
                    return Flow::Over;
                },
            }
        }
    }

    async fn read_head(&mut self) -> Option<WireRequest> {
        loop {
            match read_request(&self.buffer) {
                ParseOutcome::Whole { message, .. } | ParseOutcome::Partial { head: Some(message) } => {
                    return Some(*message);
                }
                ParseOutcome::Partial { head: None } => self.more().await?,
                ParseOutcome::Bad(why) => return self.bad(why).await,
            }
        }
    }

    async fn take_request(&mut self) -> Option<WireRequest> {
        loop {
            match read_request(&self.buffer) {
                ParseOutcome::Whole { message, length } => {
                    let raw: Vec<u8> = self.buffer.drain(..length).collect();
                    self.is_taken = true;
                    let (connection, request) = (self.connection, message.clone());
                    self.log.push(TapEvent::Request { connection, request, raw });
                    return Some(*message);
                }
                ParseOutcome::Partial { .. } => self.more().await?,
                ParseOutcome::Bad(why) => return self.bad(why).await,
            }
        }
    }

    async fn more(&mut self) -> Option<()> {
        (fill(&mut self.stream, &mut self.buffer, &mut self.end).await == Flow::On).then_some(())
    }

    async fn bad(&mut self, why: String) -> Option<WireRequest> {
        let raw = std::mem::take(&mut self.buffer);
        self.log.push(TapEvent::Bad { connection: self.connection, why, raw });
        self.send(b"HTTP/1.1 400 Bad\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").await;
        None
    }

    fn over(&mut self, error: &io::Error) -> Flow {
        let is_reset = matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe);
        self.end = Some(if is_reset { ConnectionEnd::Reset } else { ConnectionEnd::Closed });
        Flow::Over
    }
}

async fn fill(stream: &mut TcpStream, buffer: &mut Vec<u8>, end: &mut Option<ConnectionEnd>) -> Flow {
    match stream.read_buf(buffer).await {
        Ok(0) => *end = Some(ConnectionEnd::Closed),
        Ok(_) => return Flow::On,
        Err(_) => *end = Some(ConnectionEnd::Reset),
    }
    Flow::Over
}
