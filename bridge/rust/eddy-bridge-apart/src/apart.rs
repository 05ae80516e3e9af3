//! Calls services of another process.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use eddy_bridge::{BoundService, BridgeError, BridgeErrorKind, ReplyFuture, ServiceTransport};
use eddy_bridge_ring::{CallError, CallFailure, ProcessLink};

use crate::{ABSENT, BIND, CALL, DIFFERENT, FAULT, words};

/// A connection to another process that calls its services.
#[derive(Debug)]
pub struct RemoteProcess {
    link: ProcessLink,
    timeout: Duration,
}

/// Why a service of another process can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RemoteBindError {
    /// The other process has no service of this name.
    Absent(String),
    /// The service has another declaration: generate the code of both sides from the same declaration and build
    /// again.
    Different(String),
    /// It could not be reached, or its response was invalid.
    Unreachable(String),
}

impl RemoteProcess {
    /// Creates a client for the process at the other end of a link. Calls fail after the timeout.
    pub fn new(link: ProcessLink, timeout: Duration) -> Arc<Self> {
        Arc::new(Self { link, timeout })
    }

    /// Finds a service by its name and the shape of its declaration, as given by generated code.
    ///
    /// # Errors
    /// Every [`RemoteBindError`].
    pub fn bind(self: &Arc<Self>, name: &str, shape: u64) -> Result<BoundService, RemoteBindError> {
        let mut question = shape.to_ne_bytes().to_vec();
        question.extend(name.as_bytes());
        let unreachable =
            |text: &str| RemoteBindError::Unreachable(format!("`{name}` can't be bound: {text}"));
        let answer = match self.link.call(BIND, &question, self.timeout) {
            Ok(answer) => answer,
            Err(CallError::Failed(CallFailure { code: ABSENT, .. })) => {
                return Err(RemoteBindError::Absent(name.to_owned()));
            }
            Err(CallError::Failed(CallFailure { code: DIFFERENT, .. })) => {
                return Err(RemoteBindError::Different(name.to_owned()));
            }
            Err(error) => return Err(unreachable(&error.to_string())),
        };
        let number = words::of(&answer).and_then(|words| words.first().copied());
        let number = number.and_then(|number| u32::try_from(number).ok());
        let number = number.ok_or_else(|| unreachable("the answer is not a number"))?;
        let transport: Arc<dyn ServiceTransport> = Arc::<Self>::clone(self);
        Ok(BoundService::over(transport, number))
    }
}

impl ServiceTransport for RemoteProcess {
    fn call(&self, service: u32, method: u32, request: &[u64]) -> Result<Vec<u64>, BridgeError> {
        let bytes = question(service, method, request);
        decode_reply(self.link.call(CALL, &bytes, self.timeout))
    }

    fn start(&self, service: u32, method: u32, request: &[u64]) -> ReplyFuture {
        match self.link.call_async(CALL, question(service, method, request), self.timeout) {
            Ok(pending) => Box::pin(async { decode_reply(pending.await) }),
            Err(error) => Box::pin(ready(Err(fault(error)))),
        }
    }
}

/// Encodes a call: service, method and request.
fn question(service: u32, method: u32, request: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(request) + 8);
    words::append(&mut bytes, &[words::join(service, method)]);
    words::append(&mut bytes, request);
    bytes
}

/// Decodes a reply.
fn decode_reply(outcome: Result<Vec<u8>, CallError>) -> Result<Vec<u64>, BridgeError> {
    let malformed = || {
        BridgeError::new(
            BridgeErrorKind::Malformed,
            "the reply does not consist of whole \
                                                                     words",
        )
    };
    words::of(&outcome.map_err(fault)?).ok_or_else(malformed)
}

/// Converts the error of a call without a reply.
fn fault(error: CallError) -> BridgeError {
    let kind = match &error {
        CallError::Timeout(_) => BridgeErrorKind::Deadline,
        CallError::Busy(_) => BridgeErrorKind::Overloaded,
        CallError::TooLong { .. } => BridgeErrorKind::Malformed,
        CallError::Ended(_) | CallError::NoLink(_) | CallError::OnReader => BridgeErrorKind::Closed,
        CallError::Failed(failure) => kind_of(failure.code),
    };
    if let CallError::Failed(failure) = error {
        BridgeError::new(kind, failure.text)
    } else {
        BridgeError::new(kind, error.to_string())
    }
}

/// Returns the fault kind for the code of a failure.
fn kind_of(code: u32) -> BridgeErrorKind {
    let kinds = [
        BridgeErrorKind::Panic,
        BridgeErrorKind::Malformed,
        BridgeErrorKind::Unknown,
        BridgeErrorKind::Cancelled,
        BridgeErrorKind::Overloaded,
        BridgeErrorKind::Closed,
        BridgeErrorKind::Deadline,
    ];
    match code {
        CallFailure::PANICKED | CallFailure::UNANSWERED => BridgeErrorKind::Panic,
        CallFailure::BUSY => BridgeErrorKind::Overloaded,
        code => {
            kinds.into_iter().find(|kind| FAULT + *kind as u32 == code).unwrap_or(BridgeErrorKind::Malformed)
        }
    }
}

impl std::fmt::Display for RemoteBindError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Absent(name) => write!(formatter, "the other process has no service `{name}`"),
            Self::Different(name) => write!(
                formatter,
                "`{name}` of the other process was generated from another declaration: generate both sides \
                 from the same one and build again"
            ),
            Self::Unreachable(text) => formatter.write_str(text),
        }
    }
}

impl std::error::Error for RemoteBindError {}
