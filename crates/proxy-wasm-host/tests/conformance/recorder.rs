//! Host that records all calls in a journal.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use proxy_wasm_host::abi::{
    BufferType, HostResult, LogLevel, MapType, MetricType, Pairs, Status, StreamType,
};
use proxy_wasm_host::{
    CallId, CallStatus, CallerScope, ContextId, GrpcCall, GrpcStream, Host, HttpCall, LocalResponse,
    MetricId, Output, PropertyPath, Rest, SharedServices, SharedView, WasiClock,
};

/// Host that records all calls and returns fixed results.
pub(crate) struct Recorder {
    pub(crate) journal: Vec<String>,
    shared: SharedView,
    metrics: Vec<(MetricType, u64)>,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        let shared = SharedView::new(Arc::new(SharedServices::default()), b"conformance", None);
        Self { journal: Vec::new(), shared, metrics: Vec::new() }
    }

    fn note(&mut self, scope: CallerScope, what: String) {
        let context = scope.context.map_or(0, |context| context.0);
        self.journal.push(format!("{context}: {what}"));
    }

    fn metric_mut(&mut self, metric: MetricId) -> HostResult<&mut (MetricType, u64)> {
        self.metrics.get_mut(metric.0 as usize).ok_or(Status::NotFound)
    }
}

impl Host for Recorder {
    fn log(&mut self, scope: CallerScope, level: LogLevel, message: &[u8]) {
        match (level, message) {
            (LogLevel::Trace, [a, b, c, d]) => {
                self.journal.push(format!("tell {}", i32::from_le_bytes([*a, *b, *c, *d])));
            }
            (LogLevel::Trace, [a, b, c, d, e, f, g, h]) => {
                self.journal.push(format!("tell {}", i64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h])));
            }
            (LogLevel::Debug, _) => self.journal.push(format!("show {}", text(message))),
            _ => self.note(scope, format!("log {level:?} {}", text(message))),
        }
    }

    fn print(&mut self, scope: CallerScope, output: Output, line: &[u8]) {
        self.note(scope, format!("print {output:?} {}", text(line)));
    }

    fn log_level(&mut self, _: CallerScope) -> LogLevel {
        LogLevel::Warn
    }

    fn set_tick_period(&mut self, scope: CallerScope, period: Option<Duration>) -> HostResult {
        self.note(scope, format!("set_tick_period {period:?}"));
        Ok(())
    }

    fn map_visit(&mut self, _: CallerScope, map: MapType, visit: &mut dyn FnMut(&[u8], &[u8])) -> HostResult {
        if map == MapType::HttpRequestHeaders {
            visit(b":path", b"/hello");
            visit(b"x-two", b"a");
            visit(b"x-two", b"b");
        } else {
            visit(b"map", format!("{map:?}").as_bytes());
        }
        Ok(())
    }

    fn map_value(
        &mut self,
        scope: CallerScope,
        map: MapType,
        key: &[u8],
    ) -> HostResult<Option<Cow<'_, [u8]>>> {
        let mut found: Vec<u8> = Vec::new();
        self.map_visit(scope, map, &mut |name, value| {
            if name.eq_ignore_ascii_case(key) {
                found.extend_from_slice(if found.is_empty() { b"" } else { b"," });
                found.extend_from_slice(value);
            }
        })?;
        Ok((!found.is_empty()).then_some(Cow::Owned(found)))
    }

    fn map_set(&mut self, scope: CallerScope, map: MapType, pairs: Pairs<'_>) -> HostResult {
        self.note(scope, format!("map_set {map:?} {}", list(pairs)));
        Ok(())
    }

    fn map_add(&mut self, scope: CallerScope, map: MapType, key: &[u8], value: &[u8]) -> HostResult {
        self.note(scope, format!("map_add {map:?} {}={}", text(key), text(value)));
        Ok(())
    }

    fn map_replace(&mut self, scope: CallerScope, map: MapType, key: &[u8], value: &[u8]) -> HostResult {
        self.note(scope, format!("map_replace {map:?} {}={}", text(key), text(value)));
        Ok(())
    }

    fn map_remove(&mut self, scope: CallerScope, map: MapType, key: &[u8]) -> HostResult {
        self.note(scope, format!("map_remove {map:?} {}", text(key)));
        Ok(())
    }

    fn buffer_size(&mut self, _: CallerScope, buffer: BufferType) -> HostResult<usize> {
        Ok(format!("{buffer:?}").len())
    }

    fn buffer_read(
        &mut self,
        _: CallerScope,
        buffer: BufferType,
        start: usize,
        into: &mut [u8],
    ) -> HostResult {
        into.copy_from_slice(&format!("{buffer:?}").as_bytes()[start..start + into.len()]);
        Ok(())
    }

    fn buffer_replace(
        &mut self,
        scope: CallerScope,
        buffer: BufferType,
        range: Range<usize>,
        bytes: &[u8],
    ) -> HostResult {
        self.note(scope, format!("buffer_replace {buffer:?} {range:?} {}", text(bytes)));
        Ok(())
    }

    fn continue_stream(&mut self, scope: CallerScope, stream: StreamType) -> HostResult {
        self.note(scope, format!("continue_stream {stream:?}"));
        Ok(())
    }

    fn close_stream(&mut self, scope: CallerScope, stream: StreamType) -> HostResult {
        self.note(scope, format!("close_stream {stream:?}"));
        Ok(())
    }

    fn send_local_response(&mut self, scope: CallerScope, response: LocalResponse<'_>) -> HostResult {
        let LocalResponse { status, details, body, headers, grpc_status } = response;
        let (details, body, headers) = (text(details), text(body), list(headers));
        self.note(scope, format!("send_local_response {status} {details} {body} {headers} {grpc_status:?}"));
        Ok(())
    }

    fn clear_route_cache(&mut self, scope: CallerScope) -> HostResult {
        self.note(scope, "clear_route_cache".to_owned());
        Ok(())
    }

    fn call_status(&mut self, _: CallerScope) -> HostResult<CallStatus<'_>> {
        Ok(CallStatus { code: 14, message: Cow::Borrowed(b"unavailable") })
    }

    fn http_call(&mut self, scope: CallerScope, call: HttpCall<'_>) -> HostResult<CallId> {
        let HttpCall { upstream, headers, body, trailers, timeout } = call;
        let (upstream, body) = (text(upstream), text(body));
        let (headers, trailers) = (list(headers), list(trailers));
        self.note(scope, format!("http_call {upstream} {headers} {body} {trailers} {timeout:?}"));
        Ok(CallId(7))
    }

    fn grpc_call(&mut self, scope: CallerScope, call: GrpcCall<'_>) -> HostResult<CallId> {
        let message = text(call.message);
        self.note(scope, format!("grpc_call {} {message} {:?}", target(&call.stream), call.timeout));
        Ok(CallId(8))
    }

    fn grpc_stream(&mut self, scope: CallerScope, stream: GrpcStream<'_>) -> HostResult<CallId> {
        self.note(scope, format!("grpc_stream {}", target(&stream)));
        Ok(CallId(9))
    }

    fn grpc_send(&mut self, scope: CallerScope, call: CallId, message: &[u8], rest: Rest) -> HostResult {
        self.note(scope, format!("grpc_send {} {} {rest:?}", call.0, text(message)));
        known(call)
    }

    fn grpc_cancel(&mut self, scope: CallerScope, call: CallId) -> HostResult {
        self.note(scope, format!("grpc_cancel {}", call.0));
        known(call)
    }

    fn grpc_close(&mut self, scope: CallerScope, call: CallId) -> HostResult {
        self.note(scope, format!("grpc_close {}", call.0));
        known(call)
    }

    fn shared(&mut self) -> Option<&SharedView> {
        Some(&self.shared)
    }

    fn define_metric(&mut self, scope: CallerScope, kind: MetricType, name: &[u8]) -> HostResult<MetricId> {
        self.note(scope, format!("define_metric {kind:?} {}", text(name)));
        self.metrics.push((kind, 0));
        Ok(MetricId(u32::try_from(self.metrics.len() - 1).unwrap()))
    }

    fn record_metric(&mut self, _: CallerScope, metric: MetricId, value: u64) -> HostResult {
        self.metric_mut(metric)?.1 = value;
        Ok(())
    }

    fn increment_metric(&mut self, _: CallerScope, metric: MetricId, delta: i64) -> HostResult {
        let (kind, value) = self.metric_mut(metric)?;
        if *kind == MetricType::Counter && delta < 0 {
            return Err(Status::BadArgument);
        }
        *value = value.saturating_add_signed(delta);
        Ok(())
    }

    fn metric(&mut self, _: CallerScope, metric: MetricId) -> HostResult<u64> {
        Ok(self.metric_mut(metric)?.1)
    }

    fn property(&mut self, _: CallerScope, path: PropertyPath<'_>) -> HostResult<Cow<'_, [u8]>> {
        let is_known = path.segments().eq([&b"plugin"[..], b"name"]);
        if is_known { Ok(Cow::Borrowed(b"conformance")) } else { Err(Status::NotFound) }
    }

    fn set_property(&mut self, scope: CallerScope, path: PropertyPath<'_>, value: &[u8]) -> HostResult {
        let path: Vec<String> = path.segments().map(text).collect();
        self.note(scope, format!("set_property {} {}", path.join("."), text(value)));
        Ok(())
    }

    fn call_foreign_function(
        &mut self,
        _: CallerScope,
        name: &[u8],
        arguments: &[u8],
    ) -> HostResult<Cow<'_, [u8]>> {
        if name != b"reverse" {
            return Err(Status::NotFound);
        }
        Ok(arguments.iter().rev().copied().collect())
    }

    fn set_upstream_override_host(&mut self, scope: CallerScope, address: &[u8]) -> HostResult {
        self.note(scope, format!("set_upstream_override_host {}", text(address)));
        Ok(())
    }

    fn unsupported(&mut self, scope: CallerScope, function: &'static str) -> Status {
        self.note(scope, format!("unsupported {function}"));
        Status::Unimplemented
    }

    fn context_deleted(&mut self, context: ContextId) {
        self.journal.push(format!("{}: context_deleted", context.0));
    }
}

/// Clock that always returns the same time.
#[derive(Debug)]
pub(crate) struct StillClock;

impl WasiClock for StillClock {
    fn realtime(&self) -> Duration {
        Duration::new(1_700_000_000, 5)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_nanos(2_500)
    }

    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }
}

fn known(call: CallId) -> HostResult {
    if call == CallId(9) { Ok(()) } else { Err(Status::NotFound) }
}

fn target(stream: &GrpcStream<'_>) -> String {
    let parts = [stream.upstream, stream.service, stream.method].map(text);
    format!("{} {}", parts.join(" "), list(stream.initial_metadata.clone()))
}

fn list(pairs: Pairs<'_>) -> String {
    let pairs: Vec<String> = pairs.map(|(key, value)| format!("{}={}", text(key), text(value))).collect();
    format!("[{}]", pairs.join(" "))
}

fn text(bytes: &[u8]) -> String {
    format!("\"{}\"", bytes.escape_ascii())
}
