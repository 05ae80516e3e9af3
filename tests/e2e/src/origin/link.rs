//! One connection of the tap origin.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::script::{Script, Step, Wait};
use super::tap::{Asked, Choose, Event, Log};
use crate::wire::{End, Reading, Request, SocketDiag, read_request};

/// A connection and what of it is not read into requests yet.
pub(super) struct Link {
    stream: TcpStream,
    near: SocketAddr,
    far: SocketAddr,
    buffer: Vec<u8>,
    connection: usize,
    number: usize,
    is_taken: bool,
    end: Option<End>,
    log: Log,
    choose: Arc<Choose>,
}

/// Whether a connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    On,
    Over,
}

impl Link {
    pub(super) fn new(stream: TcpStream, connection: usize, log: Log, choose: Arc<Choose>) -> Self {
        let nobody = SocketAddr::from(([0, 0, 0, 0], 0));
        // Without Nagle's delay each write is seen as it was made.
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

    /// Serves the connection to its end.
    pub(super) async fn serve(mut self, greeting: Option<Script>) {
        self.is_taken = true;
        let mut flow = Flow::On;
        if let Some(script) = greeting {
            flow = self.run(script).await;
        }
        while flow == Flow::On {
            flow = self.serve_request().await;
        }
        let rest = std::mem::take(&mut self.buffer);
        self.log.push(Event::Ended { connection: self.connection, end: self.end, rest });
    }

    async fn serve_request(&mut self) -> Flow {
        self.is_taken = false;
        let Some(request) = self.read_head().await else {
            return Flow::Over;
        };
        let (connection, number) = (self.connection, self.number);
        self.number += 1;
        self.log.push(Event::Head { connection, request: Box::new(request.clone()) });
        let mut script = (self.choose)(Asked { request: &request, connection, number });
        if script.wait == Wait::Request {
            let Some(request) = self.take_request().await else {
                return Flow::Over;
            };
            // Now that the body is here, the same question may have a fuller answer.
            script = (self.choose)(Asked { request: &request, connection, number });
        }
        if self.run(script).await == Flow::Over {
            return Flow::Over;
        }
        if !self.is_taken && self.take_request().await.is_none() { Flow::Over } else { Flow::On }
    }

    async fn run(&mut self, script: Script) -> Flow {
        for step in script.steps {
            if self.step(step).await == Flow::Over {
                return Flow::Over;
            }
        }
        Flow::On
    }

    async fn step(&mut self, step: Step) -> Flow {
        match step {
            Step::Send(bytes) => self.send(&bytes).await,
            Step::SendIn(bytes, segments) => {
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
            Step::Drip { bytes, count, every } => {
                for _ in 0..count {
                    if self.send(&bytes).await == Flow::Over
                        || self.idle_until(tokio::time::sleep(every)).await == Flow::Over
                    {
                        return Flow::Over;
                    }
                }
                Flow::On
            }
            Step::Pause(time) => self.idle_until(tokio::time::sleep(time)).await,
            Step::AwaitGate(gate) => self.idle_until(gate.opened()).await,
            Step::Open(gate) => {
                gate.open();
                Flow::On
            }
            Step::AwaitRequest => {
                if !self.is_taken && self.take_request().await.is_none() {
                    Flow::Over
                } else {
                    Flow::On
                }
            }
            Step::AwaitEnd => self.idle_until(std::future::pending()).await,
            Step::Finish => {
                // A failure means that the gateway was first; the next read tells.
                let _ = self.stream.shutdown().await;
                Flow::On
            }
            Step::Close => Flow::Over,
            Step::Reset => {
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

    /// Waits for `event`; bytes that come meanwhile are kept, and the end of the connection ends the waiting.
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

    async fn read_head(&mut self) -> Option<Request> {
        loop {
            match read_request(&self.buffer) {
                Reading::Whole { message, .. } | Reading::Partial { head: Some(message) } => {
                    return Some(*message);
                }
                Reading::Partial { head: None } => self.more().await?,
                Reading::Bad(why) => return self.bad(why).await,
            }
        }
    }

    async fn take_request(&mut self) -> Option<Request> {
        loop {
            match read_request(&self.buffer) {
                Reading::Whole { message, length } => {
                    let raw: Vec<u8> = self.buffer.drain(..length).collect();
                    self.is_taken = true;
                    let (connection, request) = (self.connection, message.clone());
                    self.log.push(Event::Request { connection, request, raw });
                    return Some(*message);
                }
                Reading::Partial { .. } => self.more().await?,
                Reading::Bad(why) => return self.bad(why).await,
            }
        }
    }

    async fn more(&mut self) -> Option<()> {
        (fill(&mut self.stream, &mut self.buffer, &mut self.end).await == Flow::On).then_some(())
    }

    async fn bad(&mut self, why: String) -> Option<Request> {
        let raw = std::mem::take(&mut self.buffer);
        self.log.push(Event::Bad { connection: self.connection, why, raw });
        self.send(b"HTTP/1.1 400 Bad\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").await;
        None
    }

    fn over(&mut self, error: &io::Error) -> Flow {
        let is_reset = matches!(error.kind(), io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe);
        self.end = Some(if is_reset { End::Reset } else { End::Closed });
        Flow::Over
    }
}

async fn fill(stream: &mut TcpStream, buffer: &mut Vec<u8>, end: &mut Option<End>) -> Flow {
    match stream.read_buf(buffer).await {
        Ok(0) => *end = Some(End::Closed),
        Ok(_) => return Flow::On,
        Err(_) => *end = Some(End::Reset),
    }
    Flow::Over
}
