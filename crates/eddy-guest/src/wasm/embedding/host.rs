//! The host functions, each passed on to what does it.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use eddy_filter::{Direction, Level, Phase, Verdict};
use proxy_wasm_host::abi::{Answer, BufferType, LogLevel, MapType, MetricType, Pairs, Status, StreamType};
use proxy_wasm_host::{
    CallId, CallStatus, ContextId, GrpcCall, GrpcStream, Host, HttpCall, LocalResponse, MetricId,
    PropertyPath, QueueId, Scope, SharedView,
};

use super::Embedding;
use super::state::direction_of;
use crate::wasm::message_view::Part;

impl Host for Embedding {
    fn log(&mut self, scope: Scope, level: LogLevel, message: &[u8]) {
        let level = match level {
            LogLevel::Trace => Level::Trace,
            LogLevel::Debug => Level::Debug,
            LogLevel::Info => Level::Info,
            LogLevel::Warn => Level::Warn,
            LogLevel::Error | LogLevel::Critical => Level::Error,
        };
        self.log_as(scope.context, level, message);
    }

    fn log_level(&mut self, _scope: Scope) -> LogLevel {
        match self.common.host.level() {
            Level::Trace => LogLevel::Trace,
            Level::Debug => LogLevel::Debug,
            Level::Info => LogLevel::Info,
            Level::Warn => LogLevel::Warn,
            Level::Error => LogLevel::Error,
            Level::Off => LogLevel::Critical,
        }
    }

    fn set_tick_period(&mut self, scope: Scope, period: Option<Duration>) -> Answer {
        let plugin = self.plugin_of(scope.context).ok_or(Status::BadArgument)?.number;
        let millis =
            |period: Duration| u32::try_from(period.as_millis()).unwrap_or(u32::MAX).max(TICK_MS_LEAST);
        self.periods.retain(|(known, _)| *known != plugin);
        self.periods.push((plugin, period.map(millis)));
        Ok(())
    }

    fn map_visit(&mut self, scope: Scope, map: MapType, visit: &mut dyn FnMut(&[u8], &[u8])) -> Answer {
        match part_of(map) {
            Some(part) => {
                if let Some(message_view) = self.sight_of(scope.context, direction_of(part)) {
                    message_view.visit(part, visit);
                }
                Ok(())
            }
            None => {
                if let (MapType::HttpCallResponseHeaders, Some(answer)) = (map, &self.answer) {
                    answer.visit(visit);
                }
                Ok(())
            }
        }
    }

    fn map_value(&mut self, scope: Scope, map: MapType, key: &[u8]) -> Answer<Option<Cow<'_, [u8]>>> {
        if let Some(part) = part_of(map) {
            let message_view = self.sight_of(scope.context, direction_of(part));
            return Ok(message_view.and_then(|message_view| message_view.value(part, key)));
        }
        let answer = self.answer.as_ref().filter(|answer| answer.status > 0);
        Ok(match (map, answer) {
            (MapType::HttpCallResponseHeaders, Some(answer)) if key == b":status" => {
                Some(answer.status.to_string().into_bytes().into())
            }
            (MapType::HttpCallResponseHeaders, Some(answer)) => {
                answer.fields().first_named(key).map(|value| value.to_vec().into())
            }
            _ => None,
        })
    }

    fn map_set(&mut self, scope: Scope, map: MapType, pairs: Pairs<'_>) -> Answer {
        let part = part_of(map).ok_or(Status::BadArgument)?;
        let message_view = self.sight_of_mut(scope.context, direction_of(part)).ok_or(Status::BadArgument)?;
        message_view.set_all(part, pairs)
    }

    fn map_add(&mut self, scope: Scope, map: MapType, key: &[u8], value: &[u8]) -> Answer {
        let part = part_of(map).ok_or(Status::BadArgument)?;
        let message_view = self.sight_of_mut(scope.context, direction_of(part)).ok_or(Status::BadArgument)?;
        message_view.add(part, key, value)
    }

    fn map_replace(&mut self, scope: Scope, map: MapType, key: &[u8], value: &[u8]) -> Answer {
        let part = part_of(map).ok_or(Status::BadArgument)?;
        let message_view = self.sight_of_mut(scope.context, direction_of(part)).ok_or(Status::BadArgument)?;
        message_view.replace(part, key, value)
    }

    fn map_remove(&mut self, scope: Scope, map: MapType, key: &[u8]) -> Answer {
        let part = part_of(map).ok_or(Status::BadArgument)?;
        let message_view = self.sight_of_mut(scope.context, direction_of(part)).ok_or(Status::BadArgument)?;
        message_view.remove(part, key)
    }

    fn buffer_size(&mut self, scope: Scope, buffer: BufferType) -> Answer<usize> {
        self.buffer(scope, buffer).map(<[u8]>::len)
    }

    fn buffer_read(&mut self, scope: Scope, buffer: BufferType, start: usize, into: &mut [u8]) -> Answer {
        let bytes = self.buffer(scope, buffer)?;
        let bytes = bytes.get(start..start + into.len()).ok_or(Status::BadArgument)?;
        into.copy_from_slice(bytes);
        Ok(())
    }

    fn buffer_replace(
        &mut self,
        scope: Scope,
        buffer: BufferType,
        range: Range<usize>,
        bytes: &[u8],
    ) -> Answer {
        let (phase, direction) = body_of(buffer).ok_or(Status::BadArgument)?;
        let message_view = self.sight_of_mut(scope.context, direction).ok_or(Status::BadArgument)?;
        message_view.replace_body(phase, range, bytes)
    }

    fn continue_stream(&mut self, scope: Scope, stream: StreamType) -> Answer {
        let context = scope.context.ok_or(Status::BadArgument)?;
        let direction = match stream {
            StreamType::HttpRequest => Direction::Request,
            StreamType::HttpResponse => Direction::Response,
            StreamType::Downstream | StreamType::Upstream => return Err(Status::Unimplemented),
        };
        if let Some(goes_on) = self.wishes.goes_on.get_mut(direction as usize)
            && self.stream == Some(context)
        {
            *goes_on = true;
        }
        // One that does not wait goes on anyway.
        self.decide(context, Some(direction), Verdict::Continue);
        Ok(())
    }

    fn close_stream(&mut self, scope: Scope, stream: StreamType) -> Answer {
        let context = scope.context.ok_or(Status::BadArgument)?;
        match stream {
            StreamType::HttpRequest | StreamType::HttpResponse => {}
            StreamType::Downstream | StreamType::Upstream => return Err(Status::Unimplemented),
        }
        if self.stream == Some(context) {
            self.wishes.is_reset = true;
        }
        self.decide(context, None, Verdict::Reset);
        Ok(())
    }

    fn send_local_response(&mut self, scope: Scope, response: LocalResponse<'_>) -> Answer {
        self.reply(scope, &response)
    }

    fn clear_route_cache(&mut self, scope: Scope) -> Answer {
        self.clear_route(scope)
    }

    fn call_status(&mut self, _scope: Scope) -> Answer<CallStatus<'_>> {
        let answer = self.answer.as_ref().ok_or(Status::BadArgument)?;
        let message = if answer.status == 0 { &*answer.body } else { b"".as_slice() };
        Ok(CallStatus { code: answer.status.into(), message: Cow::Borrowed(message) })
    }

    fn http_call(&mut self, scope: Scope, call: HttpCall<'_>) -> Answer<CallId> {
        self.send(scope, &call)
    }

    // eddy does not speak to servers by HTTP/2 yet. This is the answer that kits take for a call that cannot be made;
    // another would end the module.
    fn grpc_call(&mut self, _scope: Scope, _call: GrpcCall<'_>) -> Answer<CallId> {
        Err(Status::InternalFailure)
    }

    fn grpc_stream(&mut self, _scope: Scope, _stream: GrpcStream<'_>) -> Answer<CallId> {
        Err(Status::InternalFailure)
    }

    fn shared(&mut self) -> Option<&SharedView> {
        Some(&self.shared)
    }

    fn register_queue(&mut self, scope: Scope, name: &[u8]) -> Answer<QueueId> {
        let plugin = self.plugin_of(scope.context).ok_or(Status::BadArgument)?.number;
        self.common.queues.register(&self.common.vm_id, name, plugin)
    }

    fn define_metric(&mut self, scope: Scope, kind: MetricType, name: &[u8]) -> Answer<MetricId> {
        let filter = self.id_of(scope.context);
        self.common.metrics.define(&*self.common.host, filter, kind, name)
    }

    fn record_metric(&mut self, _scope: Scope, metric: MetricId, value: u64) -> Answer {
        self.common.metrics.record(self.worker.into(), metric, value)
    }

    fn increment_metric(&mut self, _scope: Scope, metric: MetricId, delta: i64) -> Answer {
        self.common.metrics.increment(self.worker.into(), metric, delta)
    }

    fn metric(&mut self, _scope: Scope, metric: MetricId) -> Answer<u64> {
        self.common.metrics.value(metric)
    }

    fn property(&mut self, scope: Scope, path: PropertyPath<'_>) -> Answer<Cow<'_, [u8]>> {
        self.read_property(scope, path).ok_or(Status::NotFound)
    }

    fn set_property(&mut self, scope: Scope, path: PropertyPath<'_>, value: &[u8]) -> Answer {
        self.write_property(scope, path, value)
    }

    fn call_foreign_function(
        &mut self,
        scope: Scope,
        name: &[u8],
        arguments: &[u8],
    ) -> Answer<Cow<'_, [u8]>> {
        self.call_by_name(scope, name, arguments)
    }

    fn context_deleted(&mut self, context: ContextId) {
        self.forget(context);
    }
}

impl Embedding {
    fn buffer(&self, scope: Scope, buffer: BufferType) -> Answer<&[u8]> {
        if buffer == BufferType::HttpCallResponseBody {
            let answer = self.answer.as_ref().filter(|answer| answer.status > 0);
            return answer.map(|answer| &*answer.body).ok_or(Status::NotFound);
        }
        let (phase, direction) = body_of(buffer).ok_or(Status::NotFound)?;
        self.sight_of(scope.context, direction).ok_or(Status::NotFound)?.body(phase)
    }
}

fn part_of(map: MapType) -> Option<Part> {
    match map {
        MapType::HttpRequestHeaders => Some(Part::Request),
        MapType::HttpRequestTrailers => Some(Part::RequestTrailers),
        MapType::HttpResponseHeaders => Some(Part::Response),
        MapType::HttpResponseTrailers => Some(Part::ResponseTrailers),
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

/// The shortest period of ticks, milliseconds.
const TICK_MS_LEAST: u32 = 10;
