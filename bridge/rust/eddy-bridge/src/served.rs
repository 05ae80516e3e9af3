//! Services of Rust, as Go finds them.

use std::any::Any;
use std::future::ready;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::{fmt, ptr, slice, thread};

use crate::bind::{Entry, SHORT, STARTS};
use crate::block::{CONTEXT, EXTENT, HEADER_WORDS, OUTCOME, TICKET, halves, header};
use crate::call::Later;
use crate::caught::Caught;
use crate::fault::{Fault, FaultKind};
use crate::message::{Malformed, Message};
use crate::method::{AsyncMethod, Method};
use crate::tasks;
use crate::writer::Writer;

/// An implementation of a service with its methods, to be offered to Go.
pub struct Served {
    pub(crate) name: &'static str,
    pub(crate) shape: u64,
    pub(crate) entries: Vec<Entry>,
    pub(crate) implementation: Arc<Implementation>,
    methods: Vec<Dispatch>,
}

/// How a method is called with a flat request from elsewhere.
#[derive(Clone, Copy)]
enum Dispatch {
    Waited(fn(&Implementation, &[u64]) -> Result<Vec<u64>, Fault>),
    Async(fn(&Arc<Implementation>, &[u64]) -> Later),
}

/// An implementation of whatever type.
type Implementation = dyn Any + Send + Sync;

/// Adds methods to a service in the order of the declaration. Generated code uses this.
pub struct Serving<S> {
    served: Served,
    implementation: Arc<S>,
}

impl Served {
    /// A service without methods yet.
    #[expect(clippy::new_ret_no_self, reason = "a service is whole once it has its methods")]
    pub fn new<S: Send + Sync + 'static>(name: &'static str, shape: u64, implementation: S) -> Serving<S> {
        let implementation = Arc::new(implementation);
        let any: Arc<Implementation> = Arc::<S>::clone(&implementation);
        let served = Self { name, shape, entries: Vec::new(), implementation: any, methods: Vec::new() };
        Serving { served, implementation }
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
    pub fn dispatch(&self, method: u32, request: &[u64]) -> Result<Vec<u64>, Fault> {
        match self.find(method) {
            Some(Dispatch::Waited(dispatch)) => dispatch(&*self.implementation, request),
            Some(Dispatch::Async(_)) | None => Err(self.unknown(method)),
        }
    }

    /// Calls a method with a flat request of another process, and gives its answer, which comes when it is polled. Its
    /// faults are those of [`Served::dispatch`].
    pub fn start(&self, method: u32, request: &[u64]) -> Later {
        match self.find(method) {
            Some(Dispatch::Async(start)) => start(&self.implementation, request),
            Some(Dispatch::Waited(_)) | None => Box::pin(ready(Err(self.unknown(method)))),
        }
    }

    fn find(&self, method: u32) -> Option<Dispatch> {
        self.methods.get(usize::try_from(method).ok()?).copied()
    }

    fn unknown(&self, method: u32) -> Fault {
        Fault::new(FaultKind::Unknown, format!("`{}` has no method {method}", self.name))
    }
}

impl<S: Send + Sync + 'static> Serving<S> {
    /// The next method of the declaration, which answers while Go waits.
    #[must_use]
    pub fn method<M: Method<S>>(mut self) -> Self {
        let flags = if M::IS_SHORT { SHORT } else { 0 };
        self.served.entries.push(Entry { function: enter::<S, M>, flags });
        self.served.methods.push(Dispatch::Waited(dispatch::<S, M>));
        self
    }

    /// The next method of the declaration, which answers later.
    #[must_use]
    pub fn async_method<M: AsyncMethod<S> + 'static>(mut self) -> Self {
        self.served.entries.push(Entry { function: start::<S, M>, flags: STARTS });
        self.served.methods.push(Dispatch::Async(start_apart::<S, M>));
        self
    }

    /// The service, with all of its methods.
    pub fn ready(self) -> Served {
        debug_assert!(ptr::addr_eq(
            Arc::as_ptr(&self.served.implementation),
            Arc::as_ptr(&self.implementation)
        ));
        self.served
    }
}

/// Called by Go with the block of a call.
///
/// # Safety
///
/// The block is laid out as [`crate::block`] says, nobody else uses it until this returns, and its context is an `S`
/// that lives until then. What its request points to doesn't change until then.
unsafe extern "C" fn enter<S, M: Method<S>>(block: *mut u64) -> usize {
    // SAFETY: it is a block, and ours until this returns.
    let (words, request_end) = halves(unsafe { header(block) }[EXTENT]);
    // SAFETY: the block has as many words as its header says, and they are ours until this returns.
    let block = unsafe { slice::from_raw_parts_mut(block, words) };
    let (header, rest) = block.split_at_mut(HEADER_WORDS);
    let (request, room) = rest.split_at_mut(request_end - HEADER_WORDS);
    let context = ptr::with_exposed_provenance::<S>(usize::try_from(header[CONTEXT]).unwrap_or(0));
    // SAFETY: the caller promises that it is one.
    let implementation = unsafe { &*context };
    // SAFETY: the caller promises that views in the request live until this returns.
    let request = unsafe { Message::with_addresses(request) };
    let mut reply = Writer::flat(room);
    let outcome = catch_unwind(AssertUnwindSafe(|| M::answer(implementation, request, &mut reply)));
    header[OUTCOME] = match (&outcome, reply.used()) {
        (Ok(Ok(())), Some(used)) => used as u64,
        _ => {
            let reply = reply.into_words();
            unusual(outcome, reply, room, header)
        }
    };
    0
}

/// Hands over a reply that has no room, or what there is instead of one; tells status and words.
#[cold]
fn unusual(
    outcome: thread::Result<Result<(), Malformed>>,
    reply: Vec<u64>,
    room: &mut [u64],
    header: &mut [u64],
) -> u64 {
    let (status, reply) = match outcome {
        Ok(Ok(())) => (0, reply),
        Ok(Err(wrong)) => told(&Fault::from(wrong)),
        Err(panic) => told(&Fault::caught(&*panic)),
    };
    status << 32 | hand_over(&reply, room, header) as u64
}

/// Puts a reply into the room, or into memory of its own if there is too little; tells its words.
fn hand_over(reply: &[u64], room: &mut [u64], header: &mut [u64]) -> usize {
    if reply.len() <= room.len() {
        room[..reply.len()].copy_from_slice(reply);
        return reply.len();
    }
    // SAFETY: `malloc` may be called with any size; the size isn't 0, because the room isn't smaller than nothing.
    let memory = unsafe { libc::malloc(size_of_val(reply)) }.cast::<u64>();
    assert!(!memory.is_null(), "memory for a reply");
    // SAFETY: the memory is new, so it doesn't overlap the reply, and has room for it.
    unsafe { ptr::copy_nonoverlapping(reply.as_ptr(), memory, reply.len()) };
    header[CONTEXT] = memory.expose_provenance() as u64;
    reply.len()
}

/// A fault as a status and a message.
#[cold]
fn told(fault: &Fault) -> (u64, Vec<u64>) {
    (u64::from(fault.kind as u32), crate::method::reply(fault.text.as_str()))
}

/// Called by Go with the block of a call whose answer comes later.
///
/// # Safety
///
/// As [`enter`], but the context is in an `Arc`, and the request has no views.
unsafe extern "C" fn start<S: Send + Sync + 'static, M: AsyncMethod<S> + 'static>(block: *mut u64) -> usize {
    // SAFETY: it is a block, and ours until this returns.
    let header = unsafe { header(block) };
    let (_, request_end) = halves(header[EXTENT]);
    // SAFETY: the request lies between header and room, and is ours until this returns.
    let request = unsafe { slice::from_raw_parts(block, request_end) };
    let request = request[HEADER_WORDS..].to_vec();
    let context = ptr::with_exposed_provenance::<S>(usize::try_from(header[CONTEXT]).unwrap_or(0));
    // SAFETY: the context is in an `Arc` that has one count that is never given back.
    unsafe { Arc::increment_strong_count(context) };
    // SAFETY: the count of the line before.
    let implementation = unsafe { Arc::from_raw(context) };
    tasks::run(header[TICKET], async move { Ok(M::answer(implementation, request).await?) });
    0
}

fn dispatch<S: 'static, M: Method<S>>(
    implementation: &Implementation,
    request: &[u64],
) -> Result<Vec<u64>, Fault> {
    let Some(implementation) = implementation.downcast_ref::<S>() else {
        return Err(Fault::new(FaultKind::Unknown, "an implementation of another type"));
    };
    let mut room = [0; 128];
    let mut reply = Writer::flat(&mut room);
    let outcome =
        catch_unwind(AssertUnwindSafe(|| M::answer(implementation, Message::flat(request), &mut reply)));
    match outcome {
        Ok(Ok(())) => Ok(reply.into_words()),
        Ok(Err(wrong)) => Err(wrong.into()),
        Err(panic) => Err(Fault::caught(&*panic)),
    }
}

fn start_apart<S: Send + Sync + 'static, M: AsyncMethod<S> + 'static>(
    implementation: &Arc<Implementation>,
    request: &[u64],
) -> Later {
    let implementation = Arc::clone(implementation).downcast::<S>();
    let request = request.to_vec();
    Box::pin(Caught::new(async move {
        let other = |_| Fault::new(FaultKind::Unknown, "an implementation of another type");
        Ok(M::answer(implementation.map_err(other)?, request).await?)
    }))
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served").field("name", &self.name).field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for Serving<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.served.fmt(f)
    }
}
