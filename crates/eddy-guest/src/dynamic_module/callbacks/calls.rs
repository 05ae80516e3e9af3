//! Callbacks for outbound requests to eddy's clusters.

use super::table::callbacks;
use crate::dynamic_module::abi::{AbiBuffer, Array, CalloutInit, EnvoyPtr, Flag, Header, Out};
use crate::dynamic_module::call::{self, CallKind, CallRequest};
use crate::dynamic_module::host;

type BeginCall = fn(EnvoyPtr, CallKind, &CallRequest<'_>) -> Result<u64, CalloutInit>;

/// Arguments that describe a request.
struct RequestArguments {
    cluster: AbiBuffer,
    headers: Array<Header>,
    headers_len: usize,
    body: AbiBuffer,
    timeout_ms: u64,
    is_end: bool,
}

impl RequestArguments {
    fn begin(&self, owner: EnvoyPtr, kind: CallKind, id: Out<u64>, begin: BeginCall) -> CalloutInit {
        let headers: Vec<(&[u8], &[u8])> =
            self.headers.values(self.headers_len).iter().map(Header::pair).collect();
        let request = CallRequest {
            cluster: self.cluster.bytes(),
            headers: &headers,
            body: self.body.bytes(),
            timeout_ms: self.timeout_ms,
            is_end: self.is_end,
        };
        match begin(owner, kind, &request) {
            Ok(token) => {
                id.set(token);
                CalloutInit::Success
            }
            Err(failure) => failure,
        }
    }
}

/// Ends a stream's request with trailers, which eddy does not send.
fn end_with_trailers(owner: EnvoyPtr, id: u64, trailers_len: usize) -> bool {
    if trailers_len > 0 {
        host::log_error("the outbound request of a module has no trailers in eddy: it is not sent");
        call::cancel(owner, id);
        return false;
    }
    call::push(owner, id, b"", true)
}

callbacks! {
    fn envoy_dynamic_module_callback_http_filter_http_callout(
        filter: EnvoyPtr, id: Out<u64>, cluster: AbiBuffer, headers: Array<Header>, headers_len: usize, body: AbiBuffer,
        timeout_ms: u64,
    ) -> CalloutInit {
        let request = RequestArguments { cluster, headers, headers_len, body, timeout_ms, is_end: true };
        request.begin(filter, CallKind::Callout, id, call::of_stream)
    }

    fn envoy_dynamic_module_callback_http_filter_start_http_stream(
        filter: EnvoyPtr, id: Out<u64>, cluster: AbiBuffer, headers: Array<Header>, headers_len: usize, body: AbiBuffer,
        is_end: Flag, timeout_ms: u64,
    ) -> CalloutInit {
        let is_end = is_end.is_set();
        let request = RequestArguments { cluster, headers, headers_len, body, timeout_ms, is_end };
        request.begin(filter, CallKind::Stream, id, call::of_stream)
    }

    fn envoy_dynamic_module_callback_http_filter_config_http_callout(
        config: EnvoyPtr, id: Out<u64>, cluster: AbiBuffer, headers: Array<Header>, headers_len: usize, body: AbiBuffer,
        timeout_ms: u64,
    ) -> CalloutInit {
        let request = RequestArguments { cluster, headers, headers_len, body, timeout_ms, is_end: true };
        request.begin(config, CallKind::Callout, id, call::of_config)
    }

    fn envoy_dynamic_module_callback_http_filter_config_start_http_stream(
        config: EnvoyPtr, id: Out<u64>, cluster: AbiBuffer, headers: Array<Header>, headers_len: usize, body: AbiBuffer,
        is_end: Flag, timeout_ms: u64,
    ) -> CalloutInit {
        let is_end = is_end.is_set();
        let request = RequestArguments { cluster, headers, headers_len, body, timeout_ms, is_end };
        request.begin(config, CallKind::Stream, id, call::of_config)
    }

    fn envoy_dynamic_module_callback_http_stream_send_data(
        filter: EnvoyPtr, id: u64, data: AbiBuffer, is_end: Flag,
    ) -> bool {
        call::push(filter, id, data.bytes(), is_end.is_set())
    }

    fn envoy_dynamic_module_callback_http_filter_config_stream_send_data(
        config: EnvoyPtr, id: u64, data: AbiBuffer, is_end: Flag,
    ) -> bool {
        call::push(config, id, data.bytes(), is_end.is_set())
    }

    fn envoy_dynamic_module_callback_http_stream_send_trailers(
        filter: EnvoyPtr, id: u64, _trailers: Array<Header>, len: usize,
    ) -> bool {
        end_with_trailers(filter, id, len)
    }

    fn envoy_dynamic_module_callback_http_filter_config_stream_send_trailers(
        config: EnvoyPtr, id: u64, _trailers: Array<Header>, len: usize,
    ) -> bool {
        end_with_trailers(config, id, len)
    }

    fn envoy_dynamic_module_callback_http_filter_reset_http_stream(filter: EnvoyPtr, id: u64) {
        call::cancel(filter, id);
    }

    fn envoy_dynamic_module_callback_http_filter_config_reset_http_stream(config: EnvoyPtr, id: u64) {
        call::cancel(config, id);
    }
}
