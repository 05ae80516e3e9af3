//! Implementation of the host functions, which delegates to the other modules.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use eddy_filter::{Direction, FilterLogLevel, Phase, Verdict};
use eddy_ids::Millis;
use proxy_wasm_host::abi::{
    BufferType, HostResult, LogLevel, MapType, MetricType, Pairs, Status, StreamType,
};
use proxy_wasm_host::{
    CallId, CallStatus, CallerScope, ContextId, GrpcCall, GrpcStream, Host, HttpCall, LocalResponse,
    MetricId, PropertyPath, QueueId, Rest, SharedView,
};

use super::Embedding;
use super::grpc_response::GrpcForm;
use super::state::direction_of;
use crate::message_view::{MessageSection, MessageView};

impl Host for Embedding {
    fn log(&mut self, scope: CallerScope, level: LogLevel, message: &[u8]) {
        let level = match level {
            LogLevel::Trace => FilterLogLevel::Trace,
            LogLevel::Debug => FilterLogLevel::Debug,
            LogLevel::Info => FilterLogLevel::Info,
            LogLevel::Warn => FilterLogLevel::Warn,
            LogLevel::Error | LogLevel::Critical => FilterLogLevel::Error,
        };
        self.log_as(scope.context, level, message);
    }

    fn log_level(&mut self, _scope: CallerScope) -> LogLevel {
        match self.common.host.level() {
            FilterLogLevel::Trace => LogLevel::Trace,
            FilterLogLevel::Debug => LogLevel::Debug,
            FilterLogLevel::Info => LogLevel::Info,
            FilterLogLevel::Warn => LogLevel::Warn,
            FilterLogLevel::Error => LogLevel::Error,
            FilterLogLevel::Off => LogLevel::Critical,
        }
    }

    fn set_tick_period(&mut self, scope: CallerScope, period: Option<Duration>) -> HostResult {
        let plugin = self.plugin_of(scope.context).ok_or(Status::BadArgument)?.number;
        self.periods.retain(|(known, _)| *known != plugin);
        self.periods.push((plugin, period.map(|period| Millis::of(period).max(TICK_MIN))));
        Ok(())
    }

    fn map_visit(
        &mut self,
        scope: CallerScope,
        map: MapType,
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> HostResult {
        if let Some(part) = part_of(map) {
            if let Some(message_view) = self.view_of(scope.context, direction_of(part)) {
                message_view.visit(part, visit);
            }
        } else if let (MapType::HttpCallResponseHeaders, Some(answer)) = (map, &self.answer) {
            answer.visit(visit);
        } else if let MapType::GrpcCallInitialMetadata | MapType::GrpcCallTrailingMetadata = map {
            for field in self.grpc_delivery.metadata.fields().iter() {
                visit(&field.name.to_ascii_lowercase(), field.value);
            }
        }
        Ok(())
    }

    fn map_value(
        &mut self,
        scope: CallerScope,
        map: MapType,
        key: &[u8],
    ) -> HostResult<Option<Cow<'_, [u8]>>> {
        if let Some(part) = part_of(map) {
            let message_view = self.view_of(scope.context, direction_of(part));
            return Ok(message_view.and_then(|message_view| message_view.value(part, key)));
        }
        if let MapType::GrpcCallInitialMetadata | MapType::GrpcCallTrailingMetadata = map {
            let value = self.grpc_delivery.metadata.fields().first_named(key);
            return Ok(value.map(|value| value.to_vec().into()));
        }
        let answer = self.answer.as_ref().filter(|answer| answer.status > 0);
        Ok(match (map, answer) {
            (MapType::HttpCallResponseHeaders, Some(answer)) if key == b":status" => {
                Some(answer.status.to_string().into_bytes().into())
            }
            (MapType::HttpCallResponseHeaders, Some(answer)) => {
                answer.head.fields().first_named(key).map(|value| value.to_vec().into())
            }
            _ => None,
        })
    }

    fn map_set(&mut self, scope: CallerScope, map: MapType, pairs: Pairs<'_>) -> HostResult {
        let (part, message_view) = self.section_mut(scope, map)?;
        message_view.set_all(part, pairs)
    }

    fn map_add(&mut self, scope: CallerScope, map: MapType, key: &[u8], value: &[u8]) -> HostResult {
        let (part, message_view) = self.section_mut(scope, map)?;
        message_view.add(part, key, value)
    }

    fn map_replace(&mut self, scope: CallerScope, map: MapType, key: &[u8], value: &[u8]) -> HostResult {
        let (part, message_view) = self.section_mut(scope, map)?;
        message_view.replace(part, key, value)
    }

    fn map_remove(&mut self, scope: CallerScope, map: MapType, key: &[u8]) -> HostResult {
        let (part, message_view) = self.section_mut(scope, map)?;
        message_view.remove(part, key)
    }

    fn buffer_size(&mut self, scope: CallerScope, buffer: BufferType) -> HostResult<usize> {
        self.buffer(scope, buffer).map(<[u8]>::len)
    }

    fn buffer_read(
        &mut self,
        scope: CallerScope,
        buffer: BufferType,
        start: usize,
        into: &mut [u8],
    ) -> HostResult {
        let bytes = self.buffer(scope, buffer)?;
        let bytes = bytes.get(start..start + into.len()).ok_or(Status::BadArgument)?;
        into.copy_from_slice(bytes);
        Ok(())
    }

    fn buffer_replace(
        &mut self,
        scope: CallerScope,
        buffer: BufferType,
        range: Range<usize>,
        bytes: &[u8],
    ) -> HostResult {
        let (phase, direction) = body_of(buffer).ok_or(Status::BadArgument)?;
        let message_view = self.view_of_mut(scope.context, direction).ok_or(Status::BadArgument)?;
        message_view.replace_body(phase, range, bytes)
    }

    fn continue_stream(&mut self, scope: CallerScope, stream: StreamType) -> HostResult {
        let context = scope.context.ok_or(Status::BadArgument)?;
        let direction = match stream {
            StreamType::HttpRequest => Direction::Request,
            StreamType::HttpResponse => Direction::Response,
            StreamType::Downstream | StreamType::Upstream => return Err(Status::Unimplemented),
        };
        if self.stream == Some(context) {
            self.requested_actions.goes_on[direction as usize] = true;
        }
        // A stream that is not paused continues anyway.
        self.decide(context, Some(direction), Verdict::Continue);
        Ok(())
    }

    fn close_stream(&mut self, scope: CallerScope, stream: StreamType) -> HostResult {
        let context = scope.context.ok_or(Status::BadArgument)?;
        match stream {
            StreamType::HttpRequest | StreamType::HttpResponse => {}
            StreamType::Downstream | StreamType::Upstream => return Err(Status::Unimplemented),
        }
        if self.stream == Some(context) {
            self.requested_actions.is_reset = true;
        }
        self.decide(context, None, Verdict::Reset);
        Ok(())
    }

    fn send_local_response(&mut self, scope: CallerScope, response: LocalResponse<'_>) -> HostResult {
        self.reply(scope, &response)
    }

    fn clear_route_cache(&mut self, scope: CallerScope) -> HostResult {
        self.clear_route(scope)
    }

    fn call_status(&mut self, _scope: CallerScope) -> HostResult<CallStatus<'_>> {
        if let Some(outcome) = &self.grpc_delivery.outcome {
            return Ok(CallStatus { code: outcome.code, message: Cow::Borrowed(&outcome.message) });
        }
        let answer = self.answer.as_ref().ok_or(Status::BadArgument)?;
        let message = if answer.status == 0 { &*answer.body } else { b"".as_slice() };
        Ok(CallStatus { code: answer.status.into(), message: Cow::Borrowed(message) })
    }

    fn http_call(&mut self, scope: CallerScope, call: HttpCall<'_>) -> HostResult<CallId> {
        self.send(scope, &call)
    }

    fn grpc_call(&mut self, scope: CallerScope, call: GrpcCall<'_>) -> HostResult<CallId> {
        self.call_grpc(scope, &call)
    }

    fn grpc_stream(&mut self, scope: CallerScope, stream: GrpcStream<'_>) -> HostResult<CallId> {
        self.open_grpc(scope, &stream, GrpcForm::Stream, Millis::ZERO)
    }

    fn grpc_send(&mut self, _scope: CallerScope, call: CallId, message: &[u8], rest: Rest) -> HostResult {
        self.send_grpc(call, message, rest)
    }

    fn grpc_cancel(&mut self, _scope: CallerScope, call: CallId) -> HostResult {
        self.cancel_grpc(call)
    }

    fn grpc_close(&mut self, _scope: CallerScope, call: CallId) -> HostResult {
        self.close_grpc(call)
    }

    fn shared(&mut self) -> Option<&SharedView> {
        Some(&self.shared)
    }

    fn register_queue(&mut self, scope: CallerScope, name: &[u8]) -> HostResult<QueueId> {
        let plugin = self.plugin_of(scope.context).ok_or(Status::BadArgument)?.number;
        self.common.queues.register(&self.common.vm_id, name, plugin)
    }

    fn define_metric(&mut self, scope: CallerScope, kind: MetricType, name: &[u8]) -> HostResult<MetricId> {
        let filter = self.id_of(scope.context);
        self.common.metrics.define(&*self.common.host, filter, kind, name)
    }

    fn record_metric(&mut self, _scope: CallerScope, metric: MetricId, value: u64) -> HostResult {
        self.common.metrics.record(self.worker.into(), metric, value)
    }

    fn increment_metric(&mut self, _scope: CallerScope, metric: MetricId, delta: i64) -> HostResult {
        self.common.metrics.increment(self.worker.into(), metric, delta)
    }

    fn metric(&mut self, _scope: CallerScope, metric: MetricId) -> HostResult<u64> {
        self.common.metrics.value(metric)
    }

    fn property(&mut self, scope: CallerScope, path: PropertyPath<'_>) -> HostResult<Cow<'_, [u8]>> {
        self.read_property(scope, path).ok_or(Status::NotFound)
    }

    fn set_property(&mut self, scope: CallerScope, path: PropertyPath<'_>, value: &[u8]) -> HostResult {
        self.write_property(scope, path, value)
    }

    fn call_foreign_function(
        &mut self,
        scope: CallerScope,
        name: &[u8],
        arguments: &[u8],
    ) -> HostResult<Cow<'_, [u8]>> {
        self.call_by_name(scope, name, arguments)
    }

    fn set_upstream_override_host(&mut self, scope: CallerScope, address: &[u8]) -> HostResult {
        self.select_endpoint(scope, address)
    }

    fn unsupported(&mut self, scope: CallerScope, function: &'static str) -> Status {
        self.note_unknown(scope, function.as_bytes(), Status::Unimplemented)
    }

    fn context_deleted(&mut self, context: ContextId) {
        self.forget(context);
    }
}

impl Embedding {
    /// Returns the section of a map and the view in which it can be changed.
    fn section_mut(
        &mut self,
        scope: CallerScope,
        map: MapType,
    ) -> HostResult<(MessageSection, &mut MessageView)> {
        let part = part_of(map).ok_or(Status::BadArgument)?;
        let message_view = self.view_of_mut(scope.context, direction_of(part)).ok_or(Status::BadArgument)?;
        Ok((part, message_view))
    }

    fn buffer(&self, scope: CallerScope, buffer: BufferType) -> HostResult<&[u8]> {
        if buffer == BufferType::HttpCallResponseBody {
            let answer = self.answer.as_ref().filter(|answer| answer.status > 0);
            return answer.map(|answer| &*answer.body).ok_or(Status::NotFound);
        }
        if buffer == BufferType::GrpcCallMessage {
            return Ok(&self.grpc_delivery.message);
        }
        let (phase, direction) = body_of(buffer).ok_or(Status::NotFound)?;
        self.view_of(scope.context, direction).ok_or(Status::NotFound)?.body(phase)
    }
}

fn part_of(map: MapType) -> Option<MessageSection> {
    match map {
        MapType::HttpRequestHeaders => Some(MessageSection::Request),
        MapType::HttpRequestTrailers => Some(MessageSection::RequestTrailers),
        MapType::HttpResponseHeaders => Some(MessageSection::Response),
        MapType::HttpResponseTrailers => Some(MessageSection::ResponseTrailers),
        MapType::GrpcCallInitialMetadata
        | MapType::GrpcCallTrailingMetadata
        | MapType::HttpCallResponseHeaders
        | MapType::HttpCallResponseTrailers => None,
    }
}

fn body_of(buffer: BufferType) -> Option<(Phase, Direction)> {
    match buffer {
        BufferType::HttpRequestBody => Some((Phase::RequestBody, Direction::Request)),
        BufferType::HttpResponseBody => Some((Phase::ResponseBody, Direction::Response)),
        BufferType::DownstreamData
        | BufferType::UpstreamData
        | BufferType::HttpCallResponseBody
        | BufferType::GrpcCallMessage
        | BufferType::VmConfiguration
        | BufferType::PluginConfiguration
        | BufferType::ForeignFunctionArguments => None,
    }
}

/// Minimum tick period.
const TICK_MIN: Millis = Millis::new(10);
