//! What an embedder does for its modules.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::ops::Range;
use std::time::Duration;

use crate::abi::{Answer, BufferType, LogLevel, MapType, MetricType, Pairs, Status, StreamType};
use crate::ids::{CallId, ContextId, MetricId, QueueId};
use crate::shared::SharedView;

use super::{
    CallStatus, GrpcCall, GrpcStream, HttpCall, LocalResponse, Output, PropertyPath, Rest, Scope, SharedValue,
};

/// The embedder's side of a [`Vm`](crate::Vm).
///
/// Every method has a default, most of them "unimplemented", which is a status that modules know. What a method takes
/// lies in the module's memory and is only lent; what it gives is copied once, into the module's memory. No method is
/// entered from within another, and none may call back into the module: what a call leads to is told by a callback of
/// its own, later.
pub trait Host: 'static {
    /// Takes a record. The message is of the module's making and need not be text.
    fn log(&mut self, scope: Scope, level: LogLevel, message: &[u8]) {
        let _ = (scope, level, message);
    }

    /// Takes a line that the module printed, without its end; by default a record.
    fn print(&mut self, scope: Scope, output: Output, line: &[u8]) {
        let level = match output {
            Output::Stdout => LogLevel::Info,
            Output::Stderr => LogLevel::Error,
        };
        self.log(scope, level, line);
    }

    /// The lowest level of records that are of use.
    fn log_level(&mut self, scope: Scope) -> LogLevel {
        let _ = scope;
        LogLevel::Info
    }

    /// Calls `on_tick` of the plugin of this context each time the period is over, or no longer.
    fn set_tick_period(&mut self, scope: Scope, period: Option<Duration>) -> Answer {
        let _ = (scope, period);
        Err(Status::Unimplemented)
    }

    /// Shows each pair of a map, in order; asked twice in a row it shows the same.
    fn map_visit(&mut self, scope: Scope, map: MapType, visit: &mut dyn FnMut(&[u8], &[u8])) -> Answer {
        let _ = (scope, map, visit);
        Err(Status::Unimplemented)
    }

    /// The value of a key; how several are joined is the host's choice. By default the first of those visited.
    fn map_value(&mut self, scope: Scope, map: MapType, key: &[u8]) -> Answer<Option<Cow<'_, [u8]>>> {
        let mut found = None;
        self.map_visit(scope, map, &mut |name, value| {
            if found.is_none() && name.eq_ignore_ascii_case(key) {
                found = Some(Cow::Owned(value.to_vec()));
            }
        })?;
        Ok(found)
    }

    /// Replaces a map by these pairs.
    fn map_set(&mut self, scope: Scope, map: MapType, pairs: Pairs<'_>) -> Answer {
        let _ = (scope, map, pairs);
        Err(Status::Unimplemented)
    }

    /// Adds a pair to those there are.
    fn map_add(&mut self, scope: Scope, map: MapType, key: &[u8], value: &[u8]) -> Answer {
        let _ = (scope, map, key, value);
        Err(Status::Unimplemented)
    }

    /// Puts one pair in place of all with this key.
    fn map_replace(&mut self, scope: Scope, map: MapType, key: &[u8], value: &[u8]) -> Answer {
        let _ = (scope, map, key, value);
        Err(Status::Unimplemented)
    }

    /// Removes all pairs with this key, if there are any.
    fn map_remove(&mut self, scope: Scope, map: MapType, key: &[u8]) -> Answer {
        let _ = (scope, map, key);
        Err(Status::Unimplemented)
    }

    /// How many bytes of a buffer can be read.
    fn buffer_size(&mut self, scope: Scope, buffer: BufferType) -> Answer<usize> {
        let _ = (scope, buffer);
        Err(Status::Unimplemented)
    }

    /// Fills `into` with the bytes of a buffer from `start` on; they are within the size that was told just before.
    fn buffer_read(&mut self, scope: Scope, buffer: BufferType, start: usize, into: &mut [u8]) -> Answer {
        let _ = (scope, buffer, start, into);
        Err(Status::Unimplemented)
    }

    /// Puts bytes in place of a range, which is within the size that was told just before. An empty range at the end
    /// appends.
    fn buffer_replace(
        &mut self,
        scope: Scope,
        buffer: BufferType,
        range: Range<usize>,
        bytes: &[u8],
    ) -> Answer {
        let _ = (scope, buffer, range, bytes);
        Err(Status::Unimplemented)
    }

    /// Goes on with what is paused.
    fn continue_stream(&mut self, scope: Scope, stream: StreamType) -> Answer {
        let _ = (scope, stream);
        Err(Status::Unimplemented)
    }

    /// Closes or resets a stream.
    fn close_stream(&mut self, scope: Scope, stream: StreamType) -> Answer {
        let _ = (scope, stream);
        Err(Status::Unimplemented)
    }

    /// Answers instead of upstream.
    fn send_local_response(&mut self, scope: Scope, response: LocalResponse<'_>) -> Answer {
        let _ = (scope, response);
        Err(Status::Unimplemented)
    }

    /// Chooses the route again, with what the module changed.
    fn clear_route_cache(&mut self, scope: Scope) -> Answer {
        let _ = scope;
        Err(Status::Unimplemented)
    }

    /// How the call ended whose end is being told.
    fn call_status(&mut self, scope: Scope) -> Answer<CallStatus<'_>> {
        let _ = scope;
        Err(Status::Unimplemented)
    }

    /// Sends a request; its end, even at once, is told later by `on_http_call_response`.
    fn http_call(&mut self, scope: Scope, call: HttpCall<'_>) -> Answer<CallId> {
        let _ = (scope, call);
        Err(Status::Unimplemented)
    }

    /// Sends a message and waits for one.
    fn grpc_call(&mut self, scope: Scope, call: GrpcCall<'_>) -> Answer<CallId> {
        let _ = (scope, call);
        Err(Status::Unimplemented)
    }

    /// Opens a stream of messages.
    fn grpc_stream(&mut self, scope: Scope, stream: GrpcStream<'_>) -> Answer<CallId> {
        let _ = (scope, stream);
        Err(Status::Unimplemented)
    }

    /// Sends a message on a stream.
    fn grpc_send(&mut self, scope: Scope, call: CallId, message: &[u8], rest: Rest) -> Answer {
        let _ = (scope, call, message, rest);
        Err(Status::Unimplemented)
    }

    /// Gives a call or stream up.
    fn grpc_cancel(&mut self, scope: Scope, call: CallId) -> Answer {
        let _ = (scope, call);
        Err(Status::Unimplemented)
    }

    /// Closes a call or stream.
    fn grpc_close(&mut self, scope: Scope, call: CallId) -> Answer {
        let _ = (scope, call);
        Err(Status::Unimplemented)
    }

    /// What this module shares with others; by default the six methods below use it.
    fn shared(&mut self) -> Option<&SharedView> {
        None
    }

    /// A value that modules share.
    fn shared_data(&mut self, scope: Scope, key: &[u8]) -> Answer<SharedValue<'_>> {
        let _ = scope;
        self.shared().ok_or(Status::Unimplemented)?.data(key)
    }

    /// Writes a value that modules share; with `cas` only if nobody has written since.
    fn set_shared_data(&mut self, scope: Scope, key: &[u8], value: &[u8], cas: Option<NonZeroU32>) -> Answer {
        let _ = scope;
        self.shared().ok_or(Status::Unimplemented)?.set_data(key, value, cas)
    }

    /// Makes or opens a queue of this module's; the plugin of this context is told of its items.
    fn register_queue(&mut self, scope: Scope, name: &[u8]) -> Answer<QueueId> {
        let _ = scope;
        self.shared().ok_or(Status::Unimplemented)?.register_queue(name)
    }

    /// Opens a queue of another module's.
    fn resolve_queue(&mut self, scope: Scope, vm_id: &[u8], name: &[u8]) -> Answer<QueueId> {
        let _ = scope;
        self.shared().ok_or(Status::Unimplemented)?.resolve_queue(vm_id, name)
    }

    /// Adds an item to the end of a queue.
    fn enqueue(&mut self, scope: Scope, queue: QueueId, item: &[u8]) -> Answer {
        let _ = scope;
        self.shared().ok_or(Status::Unimplemented)?.enqueue(queue, item)
    }

    /// Takes the item at the front of a queue.
    fn dequeue(&mut self, scope: Scope, queue: QueueId) -> Answer<Cow<'_, [u8]>> {
        let _ = scope;
        self.shared().ok_or(Status::Unimplemented)?.dequeue(queue).map(Cow::Owned)
    }

    /// Makes or opens a metric.
    fn define_metric(&mut self, scope: Scope, kind: MetricType, name: &[u8]) -> Answer<MetricId> {
        let _ = (scope, kind, name);
        Err(Status::Unimplemented)
    }

    /// Sets a metric, or adds a value to a histogram.
    fn record_metric(&mut self, scope: Scope, metric: MetricId, value: u64) -> Answer {
        let _ = (scope, metric, value);
        Err(Status::Unimplemented)
    }

    /// Changes a metric.
    fn increment_metric(&mut self, scope: Scope, metric: MetricId, delta: i64) -> Answer {
        let _ = (scope, metric, delta);
        Err(Status::Unimplemented)
    }

    /// What a metric says.
    fn metric(&mut self, scope: Scope, metric: MetricId) -> Answer<u64> {
        let _ = (scope, metric);
        Err(Status::Unimplemented)
    }

    /// A property; which there are is the host's choice.
    fn property(&mut self, scope: Scope, path: PropertyPath<'_>) -> Answer<Cow<'_, [u8]>> {
        let _ = (scope, path);
        Err(Status::NotFound)
    }

    /// Sets a property.
    fn set_property(&mut self, scope: Scope, path: PropertyPath<'_>, value: &[u8]) -> Answer {
        let _ = (scope, path, value);
        Err(Status::Unimplemented)
    }

    /// Calls a function that only this host has; what it gives may be empty.
    fn call_foreign_function(
        &mut self,
        scope: Scope,
        name: &[u8],
        arguments: &[u8],
    ) -> Answer<Cow<'_, [u8]>> {
        let _ = (scope, name, arguments);
        Err(Status::NotFound)
    }

    /// Learns that a context is gone, after the module has been told.
    fn context_deleted(&mut self, context: ContextId) {
        let _ = context;
    }
}
