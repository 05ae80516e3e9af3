//! Services for another process.

use std::io;
use std::sync::Arc;

use eddy_bridge::{Fault, FaultKind, Served};
use eddy_bridge_ring::{Failure, Handler, Incoming, Workers};

use crate::{ABSENT, BIND, CALL, DIFFERENT, FAULT, words};

/// Answers calls of another process from services, on threads of its own.
#[derive(Debug)]
pub struct Answers(Workers);

impl Answers {
    /// Starts as many threads as are given, each of which answers one call at a time; so many more calls wait.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(services: Vec<Served>, threads: usize, waiting_max: usize) -> io::Result<Self> {
        let services = Arc::new(services);
        let workers = Workers::start(threads, waiting_max, move |call| match call.method() {
            BIND => bind(&services, call.bytes()),
            CALL => answer(&services, call.bytes()),
            other => Err(Failure::new(Failure::UNKNOWN_METHOD, format!("the bridge has no method {other}"))),
        });
        Ok(Self(workers?))
    }
}

impl Handler for Answers {
    fn handle(&self, call: Incoming) {
        self.0.handle(call);
    }
}

fn bind(services: &[Served], question: &[u8]) -> Result<Vec<u8>, Failure> {
    let absent = || Failure::new(ABSENT, "there is no such service");
    let (shape, name) = question.split_first_chunk().ok_or_else(absent)?;
    let number = services.iter().position(|service| service.name().as_bytes() == name).ok_or_else(absent)?;
    if services[number].shape() != u64::from_ne_bytes(*shape) {
        return Err(Failure::new(DIFFERENT, "the service has another declaration"));
    }
    Ok((number as u64).to_ne_bytes().to_vec())
}

fn answer(services: &[Served], bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let malformed = || failure(&Fault::new(FaultKind::Malformed, "the request has no whole words"));
    let request = words::of(bytes).ok_or_else(malformed)?;
    let (target, request) = request.split_first().ok_or_else(malformed)?;
    let (service, method) = words::halves(*target);
    let unknown =
        || failure(&Fault::new(FaultKind::Unknown, format!("there is no service number {service}")));
    let index = usize::try_from(service).unwrap_or(usize::MAX);
    let service = services.get(index).ok_or_else(unknown)?;
    let reply = service.dispatch(method, request).map_err(|fault| failure(&fault))?;
    let mut bytes = Vec::new();
    words::append(&mut bytes, &reply);
    Ok(bytes)
}

fn failure(fault: &Fault) -> Failure {
    Failure::new(FAULT + fault.kind as u32, fault.text.clone())
}
