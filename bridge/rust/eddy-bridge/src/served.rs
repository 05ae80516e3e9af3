//! Services of Rust, as Go finds them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::{fmt, ptr, slice};

use crate::bind::{Entry, SHORT, STARTS};
use crate::block::{CONTEXT, EXTENT, HEADER_WORDS, OUTCOME, TICKET, halves, header};
use crate::fault::{Fault, FaultKind};
use crate::message::Message;
use crate::method::{AsyncMethod, Method};
use crate::tasks;
use crate::writer::{Writer, Written};

/// An implementation of a service with its methods, to be offered to Go.
pub struct Served {
    pub(crate) name: &'static str,
    pub(crate) shape: u64,
    pub(crate) entries: Vec<Entry>,
    pub(crate) implementation: Arc<dyn Any + Send + Sync>,
    methods: Vec<Dispatch>,
}

/// How a method is called with a flat request from elsewhere.
type Dispatch = fn(&(dyn Any + Send + Sync), &[u64]) -> Result<Vec<u64>, Fault>;

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
        let any: Arc<dyn Any + Send + Sync> = Arc::<S>::clone(&implementation);
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

    /// Calls a method with a flat request of another process.
    ///
    /// # Errors
    ///
    /// The method panicked, there is none of this number, or the request is wrong.
    pub fn dispatch(&self, method: u32, request: &[u64]) -> Result<Vec<u64>, Fault> {
        let index = usize::try_from(method).unwrap_or(usize::MAX);
        let Some(dispatch) = self.methods.get(index) else {
            return Err(Fault::new(FaultKind::Unknown, format!("`{}` has no method {method}", self.name)));
        };
        dispatch(&*self.implementation, request)
    }
}

impl<S: Send + Sync + 'static> Serving<S> {
    /// The next method of the declaration, which answers while Go waits.
    #[must_use]
    pub fn method<M: Method<S>>(mut self) -> Self {
        let flags = if M::IS_SHORT { SHORT } else { 0 };
        self.served.entries.push(Entry { function: enter::<S, M>, flags });
        self.served.methods.push(dispatch::<S, M>);
        self
    }

    /// The next method of the declaration, which answers later.
    #[must_use]
    pub fn async_method<M: AsyncMethod<S> + 'static>(mut self) -> Self {
        self.served.entries.push(Entry { function: start::<S, M>, flags: STARTS });
        self.served.methods.push(dispatch_async);
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
    let room_words = room.len();
    let mut reply = Writer::flat(room);
    let outcome = catch_unwind(AssertUnwindSafe(|| M::answer(implementation, request, &mut reply)));
    let (status, written) = match outcome {
        Ok(Ok(())) => (0, reply.finish()),
        Ok(Err(wrong)) => told(&Fault::from(wrong)),
        Err(panic) => told(&Fault::caught(&*panic)),
    };
    let length = match written {
        Written::Room(used) => used,
        Written::Own(reply) => hand_over(&reply, room, room_words, header),
    };
    header[OUTCOME] = status << 32 | length as u64;
    0
}

/// Puts a reply into the room, or into memory of its own if there is too little; tells its words.
fn hand_over(reply: &[u64], room: &mut [u64], room_words: usize, header: &mut [u64]) -> usize {
    if reply.len() <= room_words {
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
fn told(fault: &Fault) -> (u64, Written) {
    (u64::from(fault.kind as u32), Written::Own(crate::method::reply(fault.text.as_str())))
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
    implementation: &(dyn Any + Send + Sync),
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

/// Methods that answer later have no place in a transport without a later.
fn dispatch_async(_implementation: &(dyn Any + Send + Sync), _request: &[u64]) -> Result<Vec<u64>, Fault> {
    Err(Fault::new(FaultKind::Unknown, "async methods are not served to other processes"))
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
