//! Services of another process.

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use eddy_bridge::{Fault, FaultKind, ReplyFuture, Service, Transport};
use eddy_bridge_ring::{CallError, Failure, Link};

use crate::{ABSENT, BIND, CALL, DIFFERENT, FAULT, words};

/// Another process, as a way to its services.
#[derive(Debug)]
pub struct RemoteProcess {
    link: Link,
    timeout: Duration,
}

/// Why a service of another process can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    /// The other process has no service of this name.
    Absent(String),
    /// It has one of another declaration: generate the code of both sides from the same and build again.
    Different(String),
    /// It could not be asked, or answered otherwise than it should.
    Unreachable(String),
}

impl RemoteProcess {
    /// A process at the other end of a link. Calls take no longer than the timeout.
    pub fn new(link: Link, timeout: Duration) -> Arc<Self> {
        Arc::new(Self { link, timeout })
    }

    /// Finds a service by its name and the shape of its declaration, as generated code has them.
    ///
    /// # Errors
    /// Every [`BindError`].
    pub fn bind(self: &Arc<Self>, name: &str, shape: u64) -> Result<Service, BindError> {
        let mut question = shape.to_ne_bytes().to_vec();
        question.extend(name.as_bytes());
        let unreachable = |text: &str| BindError::Unreachable(format!("`{name}` can't be asked for: {text}"));
        let answer = match self.link.call(BIND, &question, self.timeout) {
            Ok(answer) => answer,
            Err(CallError::Failed(Failure { code: ABSENT, .. })) => {
                return Err(BindError::Absent(name.to_owned()));
            }
            Err(CallError::Failed(Failure { code: DIFFERENT, .. })) => {
                return Err(BindError::Different(name.to_owned()));
            }
            Err(error) => return Err(unreachable(&error.to_string())),
        };
        let number = words::of(&answer).and_then(|words| words.first().copied());
        let number = number.and_then(|number| u32::try_from(number).ok());
        let number = number.ok_or_else(|| unreachable("the answer is no number"))?;
        let transport: Arc<dyn Transport> = Arc::<Self>::clone(self);
        Ok(Service::over(transport, number))
    }
}

impl Transport for RemoteProcess {
    fn call(&self, service: u32, method: u32, request: &[u64]) -> Result<Vec<u64>, Fault> {
        let bytes = question(service, method, request);
        words_of(self.link.call(CALL, &bytes, self.timeout))
    }

    fn start(&self, service: u32, method: u32, request: &[u64]) -> ReplyFuture {
        match self.link.call_async(CALL, question(service, method, request), self.timeout) {
            Ok(pending) => Box::pin(async { words_of(pending.await) }),
            Err(error) => Box::pin(ready(Err(fault(error)))),
        }
    }
}

/// A call as bytes: whom it is for, and the request.
fn question(service: u32, method: u32, request: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(request) + 8);
    words::append(&mut bytes, &[words::join(service, method)]);
    words::append(&mut bytes, request);
    bytes
}

/// What came back, as the bridge has it.
fn words_of(outcome: Result<Vec<u8>, CallError>) -> Result<Vec<u64>, Fault> {
    let malformed = || Fault::new(FaultKind::Malformed, "the reply has no whole words");
    words::of(&outcome.map_err(fault)?).ok_or_else(malformed)
}

/// What the bridge says of a call without an answer.
fn fault(error: CallError) -> Fault {
    let kind = match &error {
        CallError::Timeout(_) => FaultKind::Deadline,
        CallError::Busy(_) => FaultKind::Overloaded,
        CallError::TooLong { .. } => FaultKind::Malformed,
        CallError::Ended(_) | CallError::NoLink(_) | CallError::OnReader => FaultKind::Closed,
        CallError::Failed(failure) => kind_of(failure.code),
    };
    if let CallError::Failed(failure) = error {
        Fault::new(kind, failure.text)
    } else {
        Fault::new(kind, error.to_string())
    }
}

/// The kind of fault that a failure is, by its code.
fn kind_of(code: u32) -> FaultKind {
    let kinds = [
        FaultKind::Panic,
        FaultKind::Malformed,
        FaultKind::Unknown,
        FaultKind::Cancelled,
        FaultKind::Overloaded,
        FaultKind::Closed,
        FaultKind::Deadline,
    ];
    match code {
        Failure::PANICKED | Failure::UNANSWERED => FaultKind::Panic,
        Failure::BUSY => FaultKind::Overloaded,
        code => kinds.into_iter().find(|kind| FAULT + *kind as u32 == code).unwrap_or(FaultKind::Malformed),
    }
}

impl std::fmt::Display for BindError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Absent(name) => write!(formatter, "the other process has no service `{name}`"),
            Self::Different(name) => write!(
                formatter,
                "`{name}` of the other process was made from another declaration: generate both sides from the same and build again"
            ),
            Self::Unreachable(text) => formatter.write_str(text),
        }
    }
}

impl std::error::Error for BindError {}
