//! Script of an origin for a request: its trigger, its steps, and predefined responses.

use std::time::Duration;

use tokio::sync::watch;

use crate::wire::{Segments, WireRequest};

/// Reaction of an origin to one request, or to a connection as soon as it is accepted.
#[derive(Clone, Debug, Default)]
pub struct OriginScript {
    /// Trigger of the first step.
    pub wait: ScriptTrigger,
    /// Steps in order; afterwards the connection serves the next request.
    pub steps: Vec<ScriptStep>,
}

/// Event that a script waits for before its first step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScriptTrigger {
    /// The whole request.
    #[default]
    Request,
    /// The request head; the body is read when a step asks for it, or after the last step.
    Head,
}

/// One step of a script.
#[derive(Clone, Debug)]
pub enum ScriptStep {
    /// Send these bytes.
    Send(Vec<u8>),
    /// Send these bytes in pieces, each after the gateway has read the previous one.
    SendIn(Vec<u8>, Segments),
    /// Send these bytes repeatedly, with a pause after each.
    Drip {
        /// Bytes of each repetition.
        bytes: Vec<u8>,
        /// Number of repetitions.
        count: u32,
        /// Pause after each repetition.
        every: Duration,
    },
    /// Wait for this duration.
    Pause(Duration),
    /// Wait until the test opens the gate.
    AwaitGate(Gate),
    /// Open a gate, so that the test knows how far the script has progressed.
    Open(Gate),
    /// Wait for the end of the request.
    AwaitRequest,
    /// Wait until the gateway ends the connection.
    AwaitEnd,
    /// Shut down the sending side only.
    Finish,
    /// Close the connection in order (FIN).
    Close,
    /// Reset the connection.
    Reset,
}

/// A gate that a test opens; steps that wait at it then continue.
#[derive(Clone, Debug)]
pub struct Gate {
    sender: watch::Sender<bool>,
}

impl Default for Gate {
    fn default() -> Self {
        Self { sender: watch::Sender::new(false) }
    }
}

impl Gate {
    /// Opens the gate permanently.
    pub fn open(&self) {
        self.sender.send_replace(true);
    }

    /// Waits until the gate is open.
    pub async fn opened(&self) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.sender.subscribe().wait_for(|is_open| *is_open).await;
    }
}

impl OriginScript {
    /// Sends `bytes` after the whole request.
    pub fn send(bytes: impl Into<Vec<u8>>) -> Self {
        Self::steps([ScriptStep::Send(bytes.into())])
    }

    /// Runs `steps` after the whole request.
    pub fn steps(steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        Self { wait: ScriptTrigger::Request, steps: steps.into_iter().collect() }
    }

    /// Runs `steps` as soon as the request head has arrived.
    pub fn at_head(steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        Self { wait: ScriptTrigger::Head, steps: steps.into_iter().collect() }
    }
}

/// Returns a complete response with `status`, extra field lines (each with its CRLF) and `body`.
pub fn response(status: u16, fields: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut bytes =
        format!("HTTP/1.1 {status} Tap\r\n{fields}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// Returns a response that reports the received request.
///
/// `X-Tap-Client` repeats `X-Forwarded-For`; the body is the method, the target and the request body.
pub fn echo(request: &WireRequest) -> Vec<u8> {
    let fields = format!("X-Tap-Client: {}\r\n", request.fields.text("x-forwarded-for"));
    let mut body = request.method.clone();
    body.push(b' ');
    body.extend_from_slice(&request.target);
    body.push(b'\n');
    body.extend_from_slice(&request.body);
    if request.method == b"HEAD" {
        return format!("HTTP/1.1 200 Tap\r\n{fields}Content-Length: {}\r\n\r\n", body.len()).into_bytes();
    }
    response(200, &fields, body)
}
