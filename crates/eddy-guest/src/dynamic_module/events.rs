//! Events outside of crossings: responses to outbound requests, and scheduled calls.

use eddy_filter::{EventKind, FilterEvent, Verdict};

use super::abi::{AbiBuffer, CalloutResult, EnvoyPtr, Flag, Header, ModulePtr};
use super::call::{CallKind, CallOwner, ModuleCall, take};
use super::hooks::CallHooks;
use super::instance::Instance;
use super::queue::ScheduledEvent;
use super::{call, host, stream};
use crate::thread::prepare_thread;

/// Object for which a hook is called.
#[derive(Clone, Copy)]
struct Receiver {
    hooks: CallHooks,
    handle: EnvoyPtr,
    module: ModulePtr,
}

/// Response to an outbound request, as the hooks get it.
struct CallResponse {
    status: String,
    headers: Vec<(Vec<u8>, Vec<u8>)>,
    body: Vec<u8>,
    is_failed: bool,
}

/// Delivers the outcome of an outbound request.
pub(super) fn deliver(event: &FilterEvent<'_>) {
    prepare_thread();
    let Some(call) = take(event.token) else { return };
    let response = CallResponse::of(event);
    match &call.owner {
        CallOwner::Config(instance) => {
            let Some(instance) = instance.upgrade() else { return };
            let _entry = host::enter(instance.id);
            let receiver = Receiver {
                hooks: instance.hooks.of_config,
                handle: instance.handle.pointer(),
                module: instance.module(),
            };
            receiver.deliver(&call, event.token, &response);
        }
        CallOwner::Stream(number) => {
            let known = stream::with(*number, |stream| {
                stream.calls.retain(|known| *known != event.token);
                (stream.instance.hooks.of_filter, stream.instance.id, stream.module)
            });
            let Some((hooks, id, module)) = known else { return };
            let _entry = host::enter(id);
            let receiver = Receiver { hooks, handle: EnvoyPtr::of(*number), module };
            receiver.deliver(&call, event.token, &response);
            resume(*number);
        }
    }
}

/// Delivers the failure of an outbound request that was never sent.
fn fail(token: u64) {
    deliver(&FilterEvent {
        kind: EventKind::Failed,
        filter: 0,
        token,
        worker: 0,
        status: 0,
        fields: eddy_http::Fields::default(),
        body: b"",
    });
}

/// Calls the hook for a scheduled event of a stream.
pub(super) fn scheduled(number: u64, event: u64) {
    prepare_thread();
    let known =
        stream::with(number, |stream| (stream.instance.hooks.scheduled, stream.instance.id, stream.module));
    let Some((Some(hook), id, module)) = known else { return };
    let _entry = host::enter(id);
    // SAFETY: the module's own object, and the handle of its stream.
    unsafe { hook(EnvoyPtr::of(number), module, event) };
    resume(number);
}

/// Sends a call that was made while its configuration was created, once its cluster is in force.
pub(super) fn send_deferred(config: u64, token: u64, attempts: u32, worker: u16) {
    let Some(instance) = Instance::find(EnvoyPtr::of(config)) else { return };
    if call::send_deferred(&instance, token) {
        return;
    }
    if attempts < ATTEMPTS_MAX {
        let retry = ScheduledEvent::Call { config, token, attempts: attempts + 1 };
        instance.queues.push(worker, instance.id, retry);
    } else {
        fail(token);
    }
}

/// Calls the hook for a scheduled event of a configuration.
pub(super) fn config_scheduled(config: u64, event: u64) {
    prepare_thread();
    let Some(instance) = Instance::find(EnvoyPtr::of(config)) else { return };
    let Some(hook) = instance.hooks.config_scheduled else { return };
    let _entry = host::enter(instance.id);
    // SAFETY: the module's own object, and the handle of its configuration.
    unsafe { hook(instance.handle.pointer(), instance.module(), event) };
}

/// Resumes the messages of a stream for which the module has decided, after its hook.
pub(super) fn resume(number: u64) {
    let Some(host) = host::host() else { return };
    for direction in 0..2 {
        let decided = stream::with(number, |stream| {
            stream.take_back();
            let decision = stream.paused.get(direction)?.as_ref()?.decision?;
            let mut paused = stream.paused.get_mut(direction)?.take()?;
            if let Some(why) = stream.failure.take() {
                paused.view.edits.clear();
                // A log that was just cleared has room.
                let _ =
                    paused.view.edits.push(paused.view.step, &eddy_filter::FilterEdit::Fault(why.as_bytes()));
                return Some((stream.exchange, paused, Verdict::Fault));
            }
            Some((stream.exchange, paused, decision))
        });
        if let Some((exchange, mut paused, verdict)) = decided.flatten() {
            // This fails if the exchange has ended or its pause has timed out; nothing remains to be done then.
            let _ = host.resume(exchange, paused.turn, verdict, paused.view.edits.bytes_mut());
        }
    }
}

impl CallResponse {
    fn of(event: &FilterEvent<'_>) -> Self {
        let is_failed = event.kind != EventKind::Response;
        let headers =
            event.fields.iter().map(|field| (field.name.to_ascii_lowercase(), field.value.to_vec()));
        Self {
            status: event.status.to_string(),
            headers: headers.collect(),
            body: if is_failed { Vec::new() } else { event.body.to_vec() },
            is_failed,
        }
    }

    fn headers(&self) -> Vec<Header> {
        let header =
            |name: &[u8], value: &[u8]| Header { name: AbiBuffer::of(name), value: AbiBuffer::of(value) };
        let status = header(b":status", self.status.as_bytes());
        let fields = self.headers.iter().map(|(name, value)| header(name, value));
        std::iter::once(status).chain(fields).collect()
    }
}

impl Receiver {
    fn deliver(self, call: &ModuleCall, id: u64, response: &CallResponse) {
        match call.kind {
            CallKind::Callout => self.callout_done(id, response),
            CallKind::Stream => self.stream_done(id, response),
        }
    }

    fn callout_done(self, id: u64, response: &CallResponse) {
        let Some(hook) = self.hooks.callout_done else { return };
        let (headers, chunk) = (response.headers(), [AbiBuffer::of(&response.body)]);
        let chunks: &[AbiBuffer] = if response.body.is_empty() { &[] } else { &chunk };
        let (result, headers, chunks): (_, &[Header], &[AbiBuffer]) = match response.is_failed {
            true => (CalloutResult::Reset, &[], &[]),
            false => (CalloutResult::Success, &headers, chunks),
        };
        // SAFETY: the module's own object, its handle, and arrays that stay until the hook returns.
        unsafe {
            hook(
                self.handle,
                self.module,
                id,
                result as u32,
                headers.as_ptr(),
                headers.len(),
                chunks.as_ptr(),
                chunks.len(),
            );
        }
    }

    /// Calls the hooks of a stream to an endpoint: headers, data, and its end.
    fn stream_done(self, id: u64, response: &CallResponse) {
        if response.is_failed {
            if let Some(hook) = self.hooks.reset {
                // SAFETY: the module's own object, and its handle.
                unsafe { hook(self.handle, self.module, id, RESET_CONNECTION_FAILURE) };
            }
            return;
        }
        let (headers, chunk) = (response.headers(), [AbiBuffer::of(&response.body)]);
        if let Some(hook) = self.hooks.headers {
            let is_end = Flag::of(response.body.is_empty());
            // SAFETY: as above, and an array that stays until the hook returns.
            unsafe { hook(self.handle, self.module, id, headers.as_ptr(), headers.len(), is_end) };
        }
        if let Some(hook) = self.hooks.data.filter(|_| !response.body.is_empty()) {
            // SAFETY: as above.
            unsafe { hook(self.handle, self.module, id, chunk.as_ptr(), chunk.len(), Flag::TRUE) };
        }
        if let Some(hook) = self.hooks.complete {
            // SAFETY: as above.
            unsafe { hook(self.handle, self.module, id) };
        }
    }
}

/// Maximum number of attempts to send a call, a tenth of a second apart.
const ATTEMPTS_MAX: u32 = 50;
/// `envoy_dynamic_module_type_http_stream_reset_reason_ConnectionFailure`.
const RESET_CONNECTION_FAILURE: u32 = 0;
