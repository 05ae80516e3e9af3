//! Rust services, as Go calls them.

use std::any::Any;
use std::future::ready;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::{fmt, ptr, slice, thread};

use crate::bind::MethodEntryPoint;
use crate::block::{EXTENT, HEADER_WORDS, TICKET, halves, header};
use crate::call::ReplyFuture;
use crate::caught::CatchPanic;
use crate::fault::{BridgeError, BridgeErrorKind};
use crate::message::{BridgeMessage, Malformed};
use crate::method::{AsyncMethod, ServiceMethod};
use crate::tasks;
use crate::writer::MessageWriter;

/// Implementation of a service with its methods, to be offered to Go.
pub struct ServiceImplementation {
    pub(crate) name: &'static str,
    pub(crate) shape: u64,
    pub(crate) entries: Vec<MethodEntryPoint>,
    pub(crate) implementation: Arc<Implementation>,
    methods: Vec<Dispatch>,
}

/// Function that calls a method with a flat request from elsewhere.
#[derive(Clone, Copy)]
enum Dispatch {
    Waited(fn(&Implementation, &[u64]) -> Result<Vec<u64>, BridgeError>),
    Async(fn(&Arc<Implementation>, &[u64]) -> ReplyFuture),
}

/// An implementation of any type.
type Implementation = dyn Any + Send + Sync;

/// Adds methods to a service in the order of the declaration. Used by generated code.
pub struct ServiceBuilder<S> {
    served: ServiceImplementation,
    implementation: Arc<S>,
}

impl ServiceImplementation {
    /// Creates a service without methods.
    #[expect(clippy::new_ret_no_self, reason = "a service is whole once it has its methods")]
    pub fn new<S: Send + Sync + 'static>(
        name: &'static str,
        shape: u64,
        implementation: S,
    ) -> ServiceBuilder<S> {
        let implementation = Arc::new(implementation);
        let any: Arc<Implementation> = Arc::<S>::clone(&implementation);
        let served = Self { name, shape, entries: Vec::new(), implementation: any, methods: Vec::new() };
        ServiceBuilder { served, implementation }
    }

    /// Returns the name of the service.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the shape of its declaration.
    pub fn shape(&self) -> u64 {
        self.shape
    }

    /// Whether a method is asynchronous and must be called by [`ServiceImplementation::start`].
    pub fn is_async(&self, method: u32) -> bool {
        matches!(self.find(method), Some(Dispatch::Async(_)))
    }

    /// Calls a blocking method with a flat request of another process.
    ///
    /// # Errors
    ///
    /// The method panicked, there is no blocking method of this number, or the request is invalid.
    pub fn dispatch(&self, method: u32, request: &[u64]) -> Result<Vec<u64>, BridgeError> {
        match self.find(method) {
            Some(Dispatch::Waited(dispatch)) => dispatch(&*self.implementation, request),
            Some(Dispatch::Async(_)) | None => Err(self.unknown(method)),
        }
    }

    /// Calls an async method with a flat request of another process, and returns its future result. Its errors are
    /// those of [`ServiceImplementation::dispatch`].
    pub fn start(&self, method: u32, request: &[u64]) -> ReplyFuture {
        match self.find(method) {
            Some(Dispatch::Async(start)) => start(&self.implementation, request),
            Some(Dispatch::Waited(_)) | None => Box::pin(ready(Err(self.unknown(method)))),
        }
    }

    fn find(&self, method: u32) -> Option<Dispatch> {
        self.methods.get(usize::try_from(method).ok()?).copied()
    }

    fn unknown(&self, method: u32) -> BridgeError {
        BridgeError::new(BridgeErrorKind::Unknown, format!("`{}` has no method {method}", self.name))
    }
}

impl<S: Send + Sync + 'static> ServiceBuilder<S> {
    /// Adds the next method of the declaration, a blocking one.
    #[must_use]
    pub fn method<M: ServiceMethod<S>>(mut self) -> Self {
        self.served.entries.push(enter::<S, M>);
        self.served.methods.push(Dispatch::Waited(dispatch::<S, M>));
        self
    }

    /// Adds the next method of the declaration, an async one.
    #[must_use]
    pub fn async_method<M: AsyncMethod<S> + 'static>(mut self) -> Self {
        self.served.entries.push(start::<S, M>);
        self.served.methods.push(Dispatch::Async(start_apart::<S, M>));
        self
    }

    /// Returns the service with all its methods.
    pub fn ready(self) -> ServiceImplementation {
        debug_assert!(ptr::addr_eq(
            Arc::as_ptr(&self.served.implementation),
            Arc::as_ptr(&self.implementation)
        ));
        self.served
    }
}

/// Entry point that Go calls with the words of a call: the extent (number of words in total and of the request), the
/// request, and room for the reply. Returns 0, and the number of words of the reply in place of the extent. Otherwise
/// returns the address of memory from `malloc` with a reply that does not fit or an error: status and number of
/// words, 32 bits each, then the words.
///
/// # Safety
///
/// There are as many words as the extent says, nothing else uses them until this returns, and the context is an `S`
/// that lives until then. Data that the request points to does not change until then.
unsafe extern "C" fn enter<S, M: ServiceMethod<S>>(frame: *mut u64, context: usize) -> usize {
    // SAFETY: the first word exists, and is ours until this returns.
    let (words, request_words) = halves(unsafe { frame.read() });
    // SAFETY: the request follows it.
    let first = unsafe { frame.add(1) };
    // SAFETY: the request has that many words.
    let request = unsafe { slice::from_raw_parts(first, request_words) };
    // SAFETY: the caller promises that views in the request live until this returns.
    let request = unsafe { BridgeMessage::with_addresses(request) };
    // SAFETY: the room follows the request.
    let room = unsafe { first.add(request_words) };
    // SAFETY: the room has that many words, which may be uninitialized.
    let room = unsafe { slice::from_raw_parts_mut(room.cast(), words - request_words) };
    // SAFETY: the caller promises an `S`.
    let implementation = unsafe { &*ptr::with_exposed_provenance::<S>(context) };
    let mut reply = MessageWriter::flat_in(room);
    let outcome = catch_unwind(AssertUnwindSafe(|| M::answer(implementation, request, &mut reply)));
    if let (Ok(Ok(())), Some(used)) = (&outcome, reply.used()) {
        // SAFETY: the first word is ours until this returns.
        unsafe { frame.write(used as u64) };
        return 0;
    }
    unusual(outcome, reply)
}

/// Returns a reply that does not fit, or an error, in allocated memory.
#[cold]
fn unusual(outcome: thread::Result<Result<(), Malformed>>, reply: MessageWriter<'_>) -> usize {
    let (status, reply) = match outcome {
        Ok(Ok(())) => (0, reply.into_words()),
        Ok(Err(wrong)) => told(&BridgeError::from(wrong)),
        Err(panic) => told(&BridgeError::caught(&*panic)),
    };
    // SAFETY: `malloc` may be called with any size; this one isn't 0.
    let memory = unsafe { libc::malloc(size_of::<u64>() + size_of_val(&*reply)) }.cast::<u64>();
    assert!(!memory.is_null(), "memory for a reply");
    // SAFETY: the memory has room for this word and for the reply after it.
    unsafe { memory.write(status << 32 | reply.len() as u64) };
    // SAFETY: as above.
    let first = unsafe { memory.add(1) };
    // SAFETY: the memory is new, so it doesn't overlap the reply, and has room for it.
    unsafe { ptr::copy_nonoverlapping(reply.as_ptr(), first, reply.len()) };
    memory.expose_provenance()
}

/// Encodes an error as a status and a message.
#[cold]
fn told(fault: &BridgeError) -> (u64, Vec<u64>) {
    (u64::from(fault.kind as u32), crate::method::reply(fault.text.as_str()))
}

/// Entry point that Go calls with the block of an asynchronous call, as described at [`crate::block`].
///
/// # Safety
///
/// The block is ours until this returns, its request has no views, and the context is an `S` in an `Arc`.
unsafe extern "C" fn start<S: Send + Sync + 'static, M: AsyncMethod<S> + 'static>(
    block: *mut u64,
    context: usize,
) -> usize {
    // SAFETY: it is a block that is ours until this returns.
    let header = unsafe { header(block) };
    let (_, request_end) = halves(header[EXTENT]);
    // SAFETY: the request is between header and room, and is ours until this returns.
    let request = unsafe { slice::from_raw_parts(block, request_end) };
    let request = request[HEADER_WORDS..].to_vec();
    let context = ptr::with_exposed_provenance::<S>(context);
    // SAFETY: the context is in an `Arc` with one reference that is never released.
    unsafe { Arc::increment_strong_count(context) };
    // SAFETY: the reference of the line before.
    let implementation = unsafe { Arc::from_raw(context) };
    tasks::run(header[TICKET], async move { Ok(M::answer(implementation, request).await?) });
    0
}

fn dispatch<S: 'static, M: ServiceMethod<S>>(
    implementation: &Implementation,
    request: &[u64],
) -> Result<Vec<u64>, BridgeError> {
    let Some(implementation) = implementation.downcast_ref::<S>() else {
        return Err(BridgeError::new(BridgeErrorKind::Unknown, "an implementation of another type"));
    };
    let mut room = [0; 128];
    let mut reply = MessageWriter::flat(&mut room);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        M::answer(implementation, BridgeMessage::flat(request), &mut reply)
    }));
    match outcome {
        Ok(Ok(())) => Ok(reply.into_words()),
        Ok(Err(wrong)) => Err(wrong.into()),
        Err(panic) => Err(BridgeError::caught(&*panic)),
    }
}

fn start_apart<S: Send + Sync + 'static, M: AsyncMethod<S> + 'static>(
    implementation: &Arc<Implementation>,
    request: &[u64],
) -> ReplyFuture {
    let implementation = Arc::clone(implementation).downcast::<S>();
    let request = request.to_vec();
    Box::pin(CatchPanic::new(async move {
        let other = |_| BridgeError::new(BridgeErrorKind::Unknown, "an implementation of another type");
        Ok(M::answer(implementation.map_err(other)?, request).await?)
    }))
}

impl fmt::Debug for ServiceImplementation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served").field("name", &self.name).field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for ServiceBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.served.fmt(f)
    }
}
