//! gRPC calls and streams of modules to eddy's clusters.

use std::sync::Arc;

use eddy_filter::{CallBond, FilterOutboundRequest, HostError, StreamData, StreamPart};
use eddy_ids::Millis;
use proxy_wasm_host::abi::{HostResult, Pairs, Status};
use proxy_wasm_host::{CallId, CallerScope, GrpcCall, GrpcStream, Rest};

use super::call::service_of;
use super::foreign::texts;
use super::grpc_response::{GrpcForm, GrpcNews, GrpcResponse, MESSAGE_BYTES_MAX, PREFIX_BYTES};
use super::state::ModuleGrpcCall;
use super::{CallToken, Embedding, Plugin};

impl Embedding {
    /// Makes a call with one message.
    pub(super) fn call_grpc(&mut self, scope: CallerScope, call: &GrpcCall<'_>) -> HostResult<CallId> {
        let timeout = Millis::of(call.timeout).max(Millis::new(1));
        let message = framed(call.message)?;
        let id = self.open_grpc(scope, &call.stream, GrpcForm::Unary, timeout)?;
        self.push_grpc(id, StreamData { bytes: &message, is_end: true })?;
        Ok(id)
    }

    /// Opens a stream.
    pub(super) fn open_grpc(
        &mut self,
        scope: CallerScope,
        stream: &GrpcStream<'_>,
        form: GrpcForm,
        timeout: Millis,
    ) -> HostResult<CallId> {
        let caller = scope.context.ok_or(Status::BadArgument)?;
        let plugin = self.plugin_of(scope.context).map(Arc::clone).ok_or(Status::BadArgument)?;
        let number = self.next_call()?;
        let target = [b"/", stream.service, b"/", stream.method].concat();
        let deadline = format!("{}m", timeout.get().min(TIMEOUT_DIGITS_MAX));
        let mut fields: Vec<(&[u8], &[u8])> = vec![(b"content-type", b"application/grpc")];
        if timeout > Millis::ZERO {
            fields.push((b"grpc-timeout", deadline.as_bytes()));
        }
        fields.extend(sent_metadata(stream.initial_metadata.clone()));
        let mut request = FilterOutboundRequest {
            filter: plugin.id,
            token: CallToken { worker: self.worker, generation: self.generation, call: number }.number(),
            exchange: self.exchange_of(caller),
            bond: CallBond::Lasting,
            cluster: cluster_of(stream.upstream)?,
            method: b"POST",
            target: &target,
            authority: b"",
            fields,
            body: b"",
            timeout,
        };
        let mut opened = self.common.host.open_stream(&request, self.worker);
        if let (Err(HostError::Unknown), Some(service)) = (&opened, service_of(request.cluster)) {
            request.cluster = service;
            opened = self.common.host.open_stream(&request, self.worker);
        }
        opened.map_err(status_of)?;
        let call = ModuleGrpcCall { caller, plugin, response: GrpcResponse::new(form) };
        self.grpc.insert(number, call);
        Ok(CallId(number))
    }

    /// Sends a message on a stream.
    pub(super) fn send_grpc(&mut self, call: CallId, message: &[u8], rest: Rest) -> HostResult {
        self.grpc
            .get(&call.0)
            .filter(|state| state.response.form == GrpcForm::Stream)
            .ok_or(Status::NotFound)?;
        let message = framed(message)?;
        self.push_grpc(call, StreamData { bytes: &message, is_end: rest.is_end() })
    }

    /// Ends a call without further callbacks.
    pub(crate) fn cancel_grpc(&mut self, call: CallId) -> HostResult {
        let state = self.grpc.remove(&call.0).ok_or(Status::NotFound)?;
        // If it has just ended, its end is no longer delivered.
        let _ = self.common.host.cancel(state.plugin.id, self.token_of(call.0));
        Ok(())
    }

    /// Ends the module's side of a stream; a call with one message is cancelled.
    pub(super) fn close_grpc(&mut self, call: CallId) -> HostResult {
        match self.grpc.get(&call.0).map(|state| state.response.form) {
            None => Err(Status::NotFound),
            Some(GrpcForm::Unary) => self.cancel_grpc(call),
            Some(GrpcForm::Stream) => match self.push_grpc(call, StreamData { bytes: b"", is_end: true }) {
                // The module has closed its side before.
                Err(Status::BadArgument) => Ok(()),
                done => done,
            },
        }
    }

    /// Returns the plugin of a call in progress.
    pub(crate) fn grpc_plugin(&self, call: u32) -> Option<Arc<Plugin>> {
        self.grpc.get(&call).map(|state| Arc::clone(&state.plugin))
    }

    /// Whether the module still waits for parts of the response.
    pub(crate) fn has_grpc(&self, call: u32) -> bool {
        self.grpc.contains_key(&call)
    }

    /// Processes a part of the response to a call; returns what the module receives: all of a stream's response, but of
    /// a call with one message only that message, or the status if there is none, as Envoy does.
    pub(crate) fn take_grpc(&mut self, call: u32, part: StreamPart<'_>) -> Option<GrpcNews> {
        let state = self.grpc.get_mut(&call)?;
        let news = state.response.take(part);
        if news.is_last {
            // If the response is invalid, the rest of it is of no use.
            let _ = self.cancel_grpc(CallId(call));
        }
        Some(news)
    }

    fn push_grpc(&self, call: CallId, data: StreamData<'_>) -> HostResult {
        let filter = self.grpc.get(&call.0).ok_or(Status::NotFound)?.plugin.id;
        self.common.host.send_data(filter, self.token_of(call.0), data).map_err(status_of)
    }

    fn token_of(&self, call: u32) -> u64 {
        CallToken { worker: self.worker, generation: self.generation, call }.number()
    }

    /// Cancels all calls, because nothing can receive their responses any more.
    pub(super) fn cancel_all_grpc(&mut self) {
        let calls: Vec<u32> = self.grpc.keys().copied().collect();
        for call in calls {
            let _ = self.cancel_grpc(CallId(call));
        }
    }
}

/// Writes a message with its prefix.
fn framed(message: &[u8]) -> HostResult<Vec<u8>> {
    let length = u32::try_from(message.len()).map_err(|_| Status::BadArgument)?;
    if message.len() > MESSAGE_BYTES_MAX - PREFIX_BYTES {
        return Err(Status::BadArgument);
    }
    let mut bytes = Vec::with_capacity(PREFIX_BYTES + message.len());
    bytes.push(0);
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(message);
    Ok(bytes)
}

/// Returns the cluster that a module names: plain, as most SDKs do, or in Envoy's message `GrpcService` with an
/// `envoy_grpc`.
fn cluster_of(upstream: &[u8]) -> HostResult<&str> {
    let within = texts(upstream).and_then(|[_, envoy_grpc, ..]| texts(envoy_grpc)).map(|[_, name, ..]| name);
    let name = within.filter(|name| !name.is_empty()).unwrap_or(upstream);
    std::str::from_utf8(name).map_err(|_| Status::BadArgument)
}

/// Returns the metadata that is sent: not what eddy writes itself.
fn sent_metadata(metadata: Pairs<'_>) -> impl Iterator<Item = (&[u8], &[u8])> {
    metadata.filter(|(name, _)| {
        !name.starts_with(b":") && !UNSENT.iter().any(|unsent| name.eq_ignore_ascii_case(unsent))
    })
}

/// Returns the status of a host function. SDKs accept an internal failure of a call that cannot be made; other statuses
/// abort most modules.
fn status_of(error: HostError) -> Status {
    match error {
        HostError::Invalid => Status::BadArgument,
        HostError::Unknown | HostError::Gone | HostError::Stale | HostError::TooLarge | HostError::Full => {
            Status::InternalFailure
        }
    }
}

/// A timeout of gRPC has at most eight digits.
const TIMEOUT_DIGITS_MAX: u64 = 99_999_999;
/// Headers that eddy writes itself.
const UNSENT: [&[u8]; 9] = [
    b"host",
    b"content-length",
    b"content-type",
    b"transfer-encoding",
    b"connection",
    b"te",
    b"keep-alive",
    b"grpc-timeout",
    b"grpc-encoding",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_a_prefix_and_a_limit() {
        assert_eq!(framed(b"ab").unwrap(), b"\0\0\0\0\x02ab");
        assert_eq!(framed(&vec![0; MESSAGE_BYTES_MAX]), Err(Status::BadArgument));
    }

    #[test]
    fn a_cluster_is_named_in_two_ways() {
        assert_eq!(cluster_of(b"service"), Ok("service"));
        assert_eq!(cluster_of(b"\x0a\x09\x0a\x07service"), Ok("service"));
        assert_eq!(cluster_of(b"\x0a\x0d\x0a\x07service\x12\x02ab\x1a\x02\x08\x01"), Ok("service"));
        assert_eq!(cluster_of(b"\xff"), Err(Status::BadArgument));
    }
}
