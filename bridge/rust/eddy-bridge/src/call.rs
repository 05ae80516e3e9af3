//! Calls of a service on the other side.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::fault::BridgeError;
use crate::go::GoExports;
use crate::message::BridgeMessage;
use crate::promise::Promise;
use crate::wire::{BridgeRead, BridgeWrite};
use crate::writer::MessageWriter;
use crate::{thread, waited};

/// A bound service, of Go in this process or of another process. It is cheap to clone.
#[derive(Clone, Debug)]
pub struct BoundService {
    way: CallMode,
}

#[derive(Clone)]
enum CallMode {
    /// With the number of its first method.
    Go(GoExports, u64),
    /// With the number of the service.
    Other(Arc<dyn ServiceTransport>, u32),
}

/// Transport to services other than those of Go in this process.
pub trait ServiceTransport: Send + Sync {
    /// Calls a method with a request, a flat message, and waits for the reply.
    ///
    /// # Errors
    ///
    /// There was no reply.
    fn call(&self, service: u32, method: u32, request: &[u64]) -> Result<Vec<u64>, BridgeError>;

    /// Calls a method with a request, a flat message, asynchronously. The call begins at once without blocking;
    /// dropping the future cancels the call.
    fn start(&self, service: u32, method: u32, request: &[u64]) -> ReplyFuture;
}

/// Future reply, or why there is none.
pub type ReplyFuture = Pin<Box<dyn Future<Output = Result<Vec<u64>, BridgeError>> + Send>>;

impl BoundService {
    pub(crate) fn of_go(functions: GoExports, first: u64) -> Self {
        Self { way: CallMode::Go(functions, first) }
    }

    /// Returns a service behind a transport, by its number there.
    pub fn over(transport: Arc<dyn ServiceTransport>, number: u32) -> Self {
        Self { way: CallMode::Other(transport, number) }
    }

    /// Calls a method and waits for the result. Used by generated code, with the arguments as a tuple.
    ///
    /// # Errors
    ///
    /// The callee panicked, or doesn't have the method.
    ///
    /// # Cost
    ///
    /// One crossing. Strings and slices of numbers in the arguments are passed as views; only memory that the result
    /// owns is allocated.
    #[inline]
    pub fn call<A: BridgeWrite, R: for<'m> BridgeRead<'m>>(
        &self,
        method: u32,
        arguments: &A,
    ) -> Result<R, BridgeError> {
        match &self.way {
            CallMode::Go(go, first) => {
                thread::prepare();
                // SAFETY: Go's side reads and fills in blocks of our layout; `Go::open` compared the versions.
                unsafe { waited::call(go.enter, first + u64::from(method), arguments) }
            }
            CallMode::Other(transport, number) => {
                let reply = transport.call(*number, method, &flat(arguments))?;
                Ok(BridgeMessage::flat(&reply).read()?)
            }
        }
    }

    /// Calls a method asynchronously. Used by generated code.
    ///
    /// The call begins at once. Arguments are copied once.
    pub fn start<A: BridgeWrite>(&self, method: u32, arguments: &A) -> Started {
        match &self.way {
            CallMode::Go(go, first) => {
                Started(Promise::start(*go, first + u64::from(method), arguments).map(PendingCall::Promise))
            }
            CallMode::Other(transport, number) => {
                Started(Ok(PendingCall::Later(transport.start(*number, method, &flat(arguments)))))
            }
        }
    }
}

/// Encodes arguments as a self-contained message.
fn flat<A: BridgeWrite>(arguments: &A) -> Vec<u64> {
    let mut room = [0; 128];
    let mut request = MessageWriter::flat(&mut room);
    request.write(arguments);
    request.into_words()
}

/// A started call. Dropping it cancels the call.
#[must_use = "a call that is dropped is given up"]
pub struct Started(Result<PendingCall, BridgeError>);

enum PendingCall {
    Promise(Promise),
    Later(ReplyFuture),
}

impl Started {
    /// Waits for the result.
    ///
    /// # Errors
    ///
    /// As [`BoundService::call`].
    pub async fn answer<R: for<'m> BridgeRead<'m>>(self) -> Result<R, BridgeError> {
        match self.0? {
            PendingCall::Promise(promise) => promise.await?.answer(),
            PendingCall::Later(reply) => Ok(BridgeMessage::flat(&reply.await?).read()?),
        }
    }
}

impl fmt::Debug for Started {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a call under way")
    }
}

impl fmt::Debug for CallMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Go(..) => "Go of this process",
            Self::Other(..) => "a transport",
        })
    }
}
