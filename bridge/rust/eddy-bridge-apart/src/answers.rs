//! Serves the calls of another process.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use eddy_bridge::{BridgeError, BridgeErrorKind, ReplyFuture, ServiceImplementation, spawn};
use eddy_bridge_ring::{CallFailure, CallHandler, Incoming, Workers};

use crate::{ABSENT, BIND, CALL, DIFFERENT, FAULT, words};

/// Serves calls of another process: blocking methods on threads of its own, async methods on the executor of
/// [`eddy_bridge::set_executor`].
#[derive(Debug)]
pub struct ServiceHandler {
    services: Arc<Vec<ServiceImplementation>>,
    workers: Workers,
}

impl ServiceHandler {
    /// Starts `threads` threads, each of which runs one call at a time; at most `waiting_max` further calls wait.
    /// Async methods need no thread: their limit is [`calls_max`](eddy_bridge_ring::LinkLimits::calls_max) of the link.
    ///
    /// # Errors
    /// Returns an error if no thread can be started.
    pub fn start(
        services: Vec<ServiceImplementation>,
        threads: usize,
        waiting_max: usize,
    ) -> io::Result<Self> {
        let services = Arc::new(services);
        let known = Arc::clone(&services);
        let workers = Workers::start(threads, waiting_max, move |call| match call.method() {
            BIND => bind(&known, call.bytes()),
            CALL => answer(&known, call.bytes()),
            other => Err(CallFailure::new(
                CallFailure::UNKNOWN_METHOD,
                format!("the bridge has no method {other}"),
            )),
        })?;
        Ok(Self { services, workers })
    }

    /// Returns the future reply to a call of an async method; `None` for any other call.
    fn later(&self, call: &Incoming) -> Option<ReplyFuture> {
        let (target, request) = (call.method() == CALL).then(|| call.bytes().split_first_chunk())??;
        let (service, method) = words::halves(u64::from_ne_bytes(*target));
        let service = self.services.get(usize::try_from(service).ok()?)?;
        let request = service.is_async(method).then(|| words::of(request))??;
        Some(service.start(method, &request))
    }
}

impl CallHandler for ServiceHandler {
    fn handle(&self, call: Incoming) {
        match self.later(&call) {
            Some(answer) => spawn(Box::pin(tell(call, answer))),
            None => self.workers.handle(call),
        }
    }
}

/// Answers a call when its future is ready, and drops the future when the caller has cancelled.
async fn tell(call: Incoming, answer: ReplyFuture) {
    let answer = {
        let mut answer = answer;
        let mut cancelled = pin!(call.cancellation());
        poll_fn(move |context| match answer.as_mut().poll(context) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending => cancelled.as_mut().poll(context).map(|()| None),
        })
        .await
    };
    match answer {
        Some(Ok(reply)) => call.answer(bytes(&reply)),
        Some(Err(fault)) => call.fail(failure(&fault)),
        None => drop(call),
    }
}

fn bind(services: &[ServiceImplementation], question: &[u8]) -> Result<Vec<u8>, CallFailure> {
    let absent = || CallFailure::new(ABSENT, "the service does not exist");
    let (shape, name) = question.split_first_chunk().ok_or_else(absent)?;
    let number = services.iter().position(|service| service.name().as_bytes() == name).ok_or_else(absent)?;
    if services[number].shape() != u64::from_ne_bytes(*shape) {
        return Err(CallFailure::new(DIFFERENT, "the service has another declaration"));
    }
    Ok((number as u64).to_ne_bytes().to_vec())
}

fn answer(services: &[ServiceImplementation], request: &[u8]) -> Result<Vec<u8>, CallFailure> {
    let malformed = || {
        failure(&BridgeError::new(BridgeErrorKind::Malformed, "the request does not consist of whole words"))
    };
    let request = words::of(request).ok_or_else(malformed)?;
    let (target, request) = request.split_first().ok_or_else(malformed)?;
    let (service, method) = words::halves(*target);
    let unknown = || {
        failure(&BridgeError::new(
            BridgeErrorKind::Unknown,
            format!("service number {service} does not exist"),
        ))
    };
    let index = usize::try_from(service).unwrap_or(usize::MAX);
    let service = services.get(index).ok_or_else(unknown)?;
    let reply = service.dispatch(method, request).map_err(|fault| failure(&fault))?;
    Ok(bytes(&reply))
}

fn bytes(words: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    words::append(&mut bytes, words);
    bytes
}

fn failure(fault: &BridgeError) -> CallFailure {
    CallFailure::new(FAULT + fault.kind as u32, fault.text.clone())
}
