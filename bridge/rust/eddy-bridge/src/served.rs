//! Services of Rust, as Go finds them.

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

/// An implementation of a service with its methods, to be offered to Go.
pub struct ServiceImplementation {
    pub(crate) name: &'static str,
    pub(crate) shape: u64,
    pub(crate) entries: Vec<MethodEntryPoint>,
    pub(crate) implementation: Arc<Implementation>,
    methods: Vec<Dispatch>,
}

/// How a method is called with a flat request from elsewhere.
#[derive(Clone, Copy)]
enum Dispatch {
    Waited(fn(&Implementation, &[u64]) -> Result<Vec<u64>, BridgeError>),
    Async(fn(&Arc<Implementation>, &[u64]) -> ReplyFuture),
}

/// An implementation of whatever type.
type Implementation = dyn Any + Send + Sync;

/// Adds methods to a service in the order of the declaration. Generated code uses this.
pub struct ServiceBuilder<S> {
    served: ServiceImplementation,
    implementation: Arc<S>,
}

impl ServiceImplementation {
    /// A service without methods yet.
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

    /// The name of the service.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The shape of its declaration.
    pub fn shape(&self) -> u64 {
        self.shape
    }

    /// Whether a method answers later, so that it is to be called by [`Served::start`].
    pub fn is_async(&self, method: u32) -> bool {
        matches!(self.find(method), Some(Dispatch::Async(_)))
    }

    /// Calls a method with a flat request of another process.
    ///
    /// # Errors
    ///
    /// The method panicked, there is none of this number that answers at once, or the request is wrong.
    pub fn dispatch(&self, method: u32, request: &[u64]) -> Result<Vec<u64>, BridgeError> {
        match self.find(method) {
            Some(Dispatch::Waited(dispatch)) => dispatch(&*self.implementation, request),
            Some(Dispatch::Async(_)) | None => Err(self.unknown(method)),
        }
    }

    /// Calls a method with a flat request of another process, and gives its answer, which comes when it is polled. Its
    /// faults are those of [`Served::dispatch`].
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
    /// The next method of the declaration, which answers while Go waits.
    #[must_use]
    pub fn method<M: ServiceMethod<S>>(mut self) -> Self {
        self.served.entries.push(enter::<S, M>);
        self.served.methods.push(Dispatch::Waited(dispatch::<S, M>));
        self
    }

    /// The next method of the declaration, which answers later.
    #[must_use]
    pub fn async_method<M: AsyncMethod<S> + 'static>(mut self) -> Self {
        self.served.entries.push(start::<S, M>);
        self.served.methods.push(Dispatch::Async(start_apart::<S, M>));
        self
    }

    /// The service, with all of its methods.
    pub fn ready(self) -> ServiceImplementation {
        debug_assert!(ptr::addr_eq(
            Arc::as_ptr(&self.served.implementation),
            Arc::as_ptr(&self.implementation)
        ));
        self.served
    }
}

/// Called by Go with the words of a call: the extent, which is how many words there are in all and of the request, the
/// request, and room for the reply. Gives 0, and the words of the reply instead of the extent; or the address of what
/// there is instead of a reply that has room, in memory of `malloc`: status and words, 32 bits each, and the words.
///
/// # Safety
///
/// The words are as many as the extent says, nobody else uses them until this returns, and the context is an `S` that lives
/// until then. What the request points to doesn't change until then.
unsafe extern "C" fn enter<S, M: ServiceMethod<S>>(frame: *mut u64, context: usize) -> usize {
    // SAFETY: the first word is there, and ours until this returns.
    let (words, request_words) = halves(unsafe { frame.read() });
    // SAFETY: the request is behind it.
    let first = unsafe { frame.add(1) };
    // SAFETY: as many words are of the request.
    let request = unsafe { slice::from_raw_parts(first, request_words) };
    // SAFETY: the caller promises that views in the request live until this returns.
    let request = unsafe { BridgeMessage::with_addresses(request) };
    // SAFETY: the room is behind the request.
    let room = unsafe { first.add(request_words) };
    // SAFETY: as many words are room; nobody says that anything was written to them.
    let room = unsafe { slice::from_raw_parts_mut(room.cast(), words - request_words) };
    // SAFETY: the caller promises that it is one.
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

/// Hands over a reply that has no room, or what there is instead of one.
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
    // SAFETY: the memory has room for this word and for the reply behind it.
    unsafe { memory.write(status << 32 | reply.len() as u64) };
    // SAFETY: as above.
    let first = unsafe { memory.add(1) };
    // SAFETY: the memory is new, so it doesn't overlap the reply, and has room for it.
    unsafe { ptr::copy_nonoverlapping(reply.as_ptr(), first, reply.len()) };
    memory.expose_provenance()
}

/// A fault as a status and a message.
#[cold]
fn told(fault: &BridgeError) -> (u64, Vec<u64>) {
    (u64::from(fault.kind as u32), crate::method::reply(fault.text.as_str()))
}

/// Called by Go with the block of a call whose answer comes later, as [`crate::block`] describes it.
///
/// # Safety
///
/// The block is ours until this returns, its request has no views, and the context is an `S` in an `Arc`.
unsafe extern "C" fn start<S: Send + Sync + 'static, M: AsyncMethod<S> + 'static>(
    block: *mut u64,
    context: usize,
) -> usize {
    // SAFETY: it is a block, and ours until this returns.
    let header = unsafe { header(block) };
    let (_, request_end) = halves(header[EXTENT]);
    // SAFETY: the request lies between header and room, and is ours until this returns.
    let request = unsafe { slice::from_raw_parts(block, request_end) };
    let request = request[HEADER_WORDS..].to_vec();
    let context = ptr::with_exposed_provenance::<S>(context);
    // SAFETY: the context is in an `Arc` that has one count that is never given back.
    unsafe { Arc::increment_strong_count(context) };
    // SAFETY: the count of the line before.
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
