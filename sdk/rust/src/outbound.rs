//! Outbound requests of filters to clusters of eddy.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use crate::abi;
use crate::guard;
use crate::head::Head;
use crate::host;
use crate::view::{RawHead, list};

/// An outbound request of a filter to one of eddy's clusters.
///
/// ```
/// # use eddy_sdk::Outbound;
/// let request = Outbound::new("authority", "POST", "/check").field("accept", "text/plain").body("who?");
/// ```
#[derive(Clone, Debug)]
pub struct Outbound<'r> {
    cluster: &'r str,
    method: &'r str,
    target: &'r str,
    authority: &'r str,
    fields: Vec<(&'r [u8], &'r [u8])>,
    body: &'r [u8],
    timeout: Duration,
}

/// Response to an outbound request, valid while the callback runs.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    /// Status code.
    pub status: u16,
    /// Head with its fields.
    pub head: Head<'a>,
    /// Whole body.
    pub body: &'a [u8],
}

/// A request in flight.
#[derive(Debug)]
pub struct OutboundCall {
    filter: u32,
    token: u64,
}

/// Why a request was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutboundError {
    /// The cluster does not exist.
    UnknownCluster,
    /// The filter has its maximum number of requests in flight.
    Full,
    /// The request is too large.
    TooLarge,
    /// The exchange of the request has ended.
    Gone,
    /// The request is invalid; eddy's log says why.
    Invalid,
}

/// Callback for the end of a request.
pub(crate) type OutboundCallback = Box<dyn FnOnce(Result<Answer<'_>, &str>) + Send>;

/// Requests in flight. An entry is removed by its event, or when the request is cancelled.
static IN_FLIGHT: LazyLock<Mutex<HashMap<u64, OutboundCallback>>> = LazyLock::new(Mutex::default);
static TOKEN: AtomicU64 = AtomicU64::new(1);

impl<'r> Outbound<'r> {
    /// Creates a request without fields and body.
    #[must_use]
    pub fn new(cluster: &'r str, method: &'r str, target: &'r str) -> Self {
        Self {
            cluster,
            method,
            target,
            authority: "",
            fields: Vec::new(),
            body: &[],
            timeout: Duration::ZERO,
        }
    }

    /// Sets the authority. Default: the cluster's name.
    #[must_use]
    pub fn authority(mut self, authority: &'r str) -> Self {
        self.authority = authority;
        self
    }

    /// Adds a field.
    #[must_use]
    pub fn field(
        mut self,
        name: &'r (impl AsRef<[u8]> + ?Sized),
        value: &'r (impl AsRef<[u8]> + ?Sized),
    ) -> Self {
        self.fields.push((name.as_ref(), value.as_ref()));
        self
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: &'r (impl AsRef<[u8]> + ?Sized)) -> Self {
        self.body = body.as_ref();
        self
    }

    /// Sets the timeout of the response, in whole milliseconds. Default 5 s.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub(crate) fn send(
        &self,
        filter: u32,
        exchange: u64,
        done: OutboundCallback,
    ) -> Result<OutboundCall, OutboundError> {
        let texts: Vec<abi::AbiText> = self
            .fields
            .iter()
            .flat_map(|(name, value)| [abi::AbiText::of(name), abi::AbiText::of(value)])
            .collect();
        let token = TOKEN.fetch_add(1, Ordering::Relaxed);
        let request = abi::AbiOutbound {
            size: size_of::<abi::AbiOutbound>().try_into().unwrap_or(u32::MAX),
            filter,
            token,
            exchange,
            cluster: abi::AbiText::of(self.cluster.as_bytes()),
            method: abi::AbiText::of(self.method.as_bytes()),
            target: abi::AbiText::of(self.target.as_bytes()),
            authority: abi::AbiText::of(self.authority.as_bytes()),
            fields: texts.as_ptr(),
            fields_len: u32::try_from(self.fields.len()).map_err(|_| OutboundError::TooLarge)?,
            timeout_ms: timeout_ms(self.timeout),
            body: abi::AbiText::of(self.body),
        };
        // Inserted before it is sent: its end may be reported before `send` returns.
        table().insert(token, done);
        // SAFETY: the texts and the data they point to live until the end of this function.
        let answer = unsafe { host::send(&request) };
        if answer == abi::OK {
            return Ok(OutboundCall { filter, token });
        }
        let unsent = table().remove(&token);
        drop(unsent);
        Err(OutboundError::of(answer))
    }
}

impl OutboundCall {
    /// Cancels the request. Its callback is dropped, unless it has already been called.
    pub fn cancel(self) {
        if host::cancel(self.filter, self.token) == abi::OK {
            let given_up = table().remove(&self.token);
            drop(given_up);
        }
    }
}

/// Calls the callback of an event, and catches its panics.
///
/// # Safety
/// Data that the event points to is readable while this runs.
pub(crate) unsafe fn handle_event(event: &abi::AbiEvent) {
    let Some(done) = table().remove(&event.token) else { return };
    // SAFETY: guaranteed by the caller.
    let body: &[u8] = unsafe { list(event.body.data, event.body.len) };
    // SAFETY: guaranteed by the caller.
    let head = unsafe { RawHead::of(event.head) };
    let caught = guard::catch(|| match event.kind {
        abi::EVENT_RESPONSE => done(Ok(Answer { status: event.status, head: Head::of_raw(head), body })),
        _ => done(Err(std::str::from_utf8(body).unwrap_or("failed"))),
    });
    if let Err(fault) = caught {
        host::log(event.filter, abi::ERROR, &format!("callback of an outbound request: {fault}"));
    }
}

fn timeout_ms(timeout: Duration) -> u32 {
    u32::try_from(timeout.as_millis()).unwrap_or(u32::MAX)
}

fn table() -> std::sync::MutexGuard<'static, HashMap<u64, OutboundCallback>> {
    IN_FLIGHT.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OutboundError {
    fn of(answer: i32) -> Self {
        match answer {
            abi::UNKNOWN => Self::UnknownCluster,
            abi::FULL => Self::Full,
            abi::TOO_LARGE => Self::TooLarge,
            abi::GONE => Self::Gone,
            _ => Self::Invalid,
        }
    }
}

impl fmt::Display for OutboundError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownCluster => "the cluster does not exist",
            Self::Full => "the filter has the maximum number of requests in progress",
            Self::TooLarge => "the request is too large",
            Self::Gone => "the exchange has ended",
            Self::Invalid => "the request is invalid; the log of eddy has the reason",
        })
    }
}

impl std::error::Error for OutboundError {}
