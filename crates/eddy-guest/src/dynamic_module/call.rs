//! Outbound requests of modules to eddy's clusters, which Envoy calls callouts and streams.
//!
//! eddy sends a whole request and delivers a whole response. A stream is thus sent when the module ends it, and its
//! response is delivered by the hooks for headers, data and end, one after the other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use eddy_filter::{CallBond, FilterOutboundRequest, Handle, HostError};
use eddy_ids::Millis;

use super::abi::{CalloutInit, EnvoyPtr};
use super::host;
use super::instance::Instance;
use super::queue::ScheduledEvent;
use super::stream;
use crate::lock::lock;

/// Outbound request whose outcome has not been delivered.
#[derive(Clone, Debug)]
pub(super) struct ModuleCall {
    pub(super) owner: CallOwner,
    pub(super) kind: CallKind,
    /// Request that the module has not ended yet.
    draft: Option<CallDraft>,
}

/// Object of the module that has made a call.
#[derive(Clone, Debug)]
pub(super) enum CallOwner {
    /// Stream with this number.
    Stream(u64),
    /// Configuration of a filter.
    Config(Weak<Instance>),
}

/// Way in which the outcome of a call is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallKind {
    /// One hook.
    Callout,
    /// A hook for each part of the response.
    Stream,
}

/// Request whose body the module sends piece by piece.
#[derive(Clone, Debug)]
struct CallDraft {
    cluster: String,
    headers: Vec<(Vec<u8>, Vec<u8>)>,
    body: Vec<u8>,
    timeout: u64,
}

/// Request of a module.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallRequest<'r> {
    pub(super) cluster: &'r [u8],
    pub(super) headers: &'r [(&'r [u8], &'r [u8])],
    pub(super) body: &'r [u8],
    pub(super) timeout_ms: u64,
    /// Whether the request is complete.
    pub(super) is_end: bool,
}

/// Calls of the process, by token. The lock is held to insert, find or remove an entry.
#[derive(Debug)]
struct Calls {
    last: u64,
    by_token: Option<HashMap<u64, ModuleCall>>,
}

static CALLS: Mutex<Calls> = Mutex::new(Calls { last: 0, by_token: None });

/// Removes and returns a call whose outcome is delivered.
pub(super) fn take(token: u64) -> Option<ModuleCall> {
    lock(&CALLS).by_token.as_mut()?.remove(&token)
}

/// Begins a call of a stream.
pub(super) fn of_stream(
    handle: EnvoyPtr,
    kind: CallKind,
    request: &CallRequest<'_>,
) -> Result<u64, CalloutInit> {
    let known = stream::of(handle, |stream| (stream.instance.id, stream.exchange));
    let (filter, exchange) = known.ok_or(CalloutInit::CannotCreateRequest)?;
    let token = begin(CallOwner::Stream(handle.number()), (filter, Some(exchange)), kind, request)?;
    stream::of(handle, |stream| stream.calls.push(token));
    Ok(token)
}

/// Begins a call of a configuration.
pub(super) fn of_config(
    handle: EnvoyPtr,
    kind: CallKind,
    request: &CallRequest<'_>,
) -> Result<u64, CalloutInit> {
    let instance = Instance::find(handle).ok_or(CalloutInit::CannotCreateRequest)?;
    let owner = || CallOwner::Config(Arc::downgrade(&instance));
    match begin(owner(), (instance.id, None), kind, request) {
        // While filters are created, the clusters of their configuration are not in force yet.
        Err(CalloutInit::ClusterNotFound) if instance.module().is_null() => {
            let later = CallRequest { is_end: false, ..*request };
            let token = begin(owner(), (instance.id, None), kind, &later)?;
            if request.is_end {
                let event = ScheduledEvent::Call { config: handle.number(), token, attempts: 0 };
                instance.queues.push(0, instance.id, event);
            }
            Ok(token)
        }
        begun => begun,
    }
}

/// Sends a call that was made while its configuration was created. `false` if its cluster is not in force yet.
pub(super) fn send_deferred(instance: &Instance, token: u64) -> bool {
    let draft = {
        let calls = lock(&CALLS);
        let known = calls.by_token.as_ref().and_then(|known| known.get(&token));
        known.and_then(|call| call.draft.clone())
    };
    // The module has cancelled it.
    let Some(draft) = draft else { return true };
    let sent = draft.send(token, (instance.id, None));
    if sent.is_ok()
        && let Some(call) = lock(&CALLS).by_token.as_mut().and_then(|known| known.get_mut(&token))
    {
        call.draft = None;
    }
    sent != Err(CalloutInit::ClusterNotFound)
}

fn begin(
    owner: CallOwner,
    (filter, exchange): (u32, Option<Handle>),
    kind: CallKind,
    request: &CallRequest<'_>,
) -> Result<u64, CalloutInit> {
    let has = |name: &[u8]| request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
    if !has(b":method") || !has(b":path") || !(has(b"host") || has(b":authority")) {
        return Err(CalloutInit::MissingRequiredHeaders);
    }
    let cluster = std::str::from_utf8(request.cluster).map_err(|_| CalloutInit::ClusterNotFound)?;
    let draft = (!request.is_end).then(|| CallDraft {
        cluster: cluster.to_owned(),
        headers: request.headers.iter().map(|(name, value)| (name.to_vec(), value.to_vec())).collect(),
        body: request.body.to_vec(),
        timeout: request.timeout_ms,
    });
    let token = {
        let mut calls = lock(&CALLS);
        let known = calls.by_token.get_or_insert_default();
        if known.len() >= CALLS_MAX {
            return Err(CalloutInit::CannotCreateRequest);
        }
        calls.last += 1;
        let token = calls.last;
        calls.by_token.get_or_insert_default().insert(token, ModuleCall { owner, kind, draft });
        token
    };
    if request.is_end {
        send(token, (filter, exchange), request).inspect_err(|_| drop(take(token)))?;
    }
    Ok(token)
}

/// Adds a piece to the body of a stream's request, and sends it with the last one. `false` if there is no such stream,
/// or it cannot be sent.
pub(super) fn push(owner: EnvoyPtr, token: u64, data: &[u8], is_end: bool) -> bool {
    let draft = {
        let mut calls = lock(&CALLS);
        let known = calls.by_token.as_mut().and_then(|known| known.get_mut(&token));
        let Some(call) = known.filter(|call| call.owner.is(owner)) else { return false };
        // Ending a request that was sent as a whole is not a mistake.
        let Some(draft) = &mut call.draft else { return is_end && data.is_empty() };
        if draft.body.len() + data.len() > BODY_BYTES_MAX {
            return false;
        }
        draft.body.extend_from_slice(data);
        if !is_end {
            return true;
        }
        call.draft.take()
    };
    let Some(draft) = draft else { return false };
    let Some(sender) = sender_of(owner) else { return false };
    draft.send(token, sender).inspect_err(|_| forget(owner, token)).is_ok()
}

impl CallDraft {
    fn send(&self, token: u64, sender: (u32, Option<Handle>)) -> Result<(), CalloutInit> {
        let headers: Vec<(&[u8], &[u8])> =
            self.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        let request = CallRequest {
            cluster: self.cluster.as_bytes(),
            headers: &headers,
            body: &self.body,
            timeout_ms: self.timeout,
            is_end: true,
        };
        send(token, sender, &request)
    }
}

/// Cancels a call.
pub(super) fn cancel(owner: EnvoyPtr, token: u64) {
    let is_own =
        |calls: &HashMap<u64, ModuleCall>| calls.get(&token).is_some_and(|call| call.owner.is(owner));
    if !lock(&CALLS).by_token.as_ref().is_some_and(is_own) {
        return;
    }
    forget(owner, token);
    if let (Some(host), Some((filter, _))) = (host::host(), sender_of(owner)) {
        // The request may not have been sent, or its outcome is on its way; it is not delivered any more.
        let _ = host.cancel(filter, token);
    }
}

fn forget(owner: EnvoyPtr, token: u64) {
    if take(token).is_some() {
        stream::of(owner, |stream| stream.calls.retain(|known| *known != token));
    }
}

/// Returns the filter and exchange of a caller.
fn sender_of(owner: EnvoyPtr) -> Option<(u32, Option<Handle>)> {
    stream::of(owner, |stream| (stream.instance.id, Some(stream.exchange)))
        .or_else(|| Instance::find(owner).map(|instance| (instance.id, None)))
}

fn send(
    token: u64,
    (filter, exchange): (u32, Option<Handle>),
    request: &CallRequest<'_>,
) -> Result<(), CalloutInit> {
    let host = host::host().ok_or(CalloutInit::CannotCreateRequest)?;
    let value = |name: &[u8]| {
        let found = request.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| *value)
    };
    let is_sent = |(name, _): &&(&[u8], &[u8])| {
        !name.starts_with(b":") && !UNSENT.iter().any(|unsent| name.eq_ignore_ascii_case(unsent))
    };
    let outbound = FilterOutboundRequest {
        filter,
        token,
        exchange,
        bond: if exchange.is_some() { CallBond::Awaited } else { CallBond::Background },
        cluster: std::str::from_utf8(request.cluster).unwrap_or_default(),
        method: value(b":method").unwrap_or_default(),
        target: value(b":path").unwrap_or_default(),
        authority: value(b":authority").or_else(|| value(b"host")).unwrap_or_default(),
        fields: request.headers.iter().filter(is_sent).copied().collect(),
        body: request.body,
        timeout: Millis::new(request.timeout_ms.max(1)),
    };
    host.send(&outbound).map_err(|error| match error {
        HostError::Unknown => CalloutInit::ClusterNotFound,
        HostError::Gone | HostError::Stale | HostError::TooLarge | HostError::Full | HostError::Invalid => {
            CalloutInit::CannotCreateRequest
        }
    })
}

impl CallOwner {
    fn is(&self, handle: EnvoyPtr) -> bool {
        match self {
            Self::Stream(number) => *number == handle.number(),
            Self::Config(instance) => {
                instance.upgrade().is_some_and(|instance| instance.handle.pointer() == handle)
            }
        }
    }
}

/// Headers that eddy writes itself.
const UNSENT: [&[u8]; 6] =
    [b"host", b"content-length", b"transfer-encoding", b"connection", b"te", b"keep-alive"];
/// Maximum number of calls of the process whose outcome is not known.
const CALLS_MAX: usize = 64 * 1024;
/// Maximum size of a request body that a module sends piece by piece, in bytes.
const BODY_BYTES_MAX: usize = 15 << 20;
