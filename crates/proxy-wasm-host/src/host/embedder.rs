//! What an embedder does for its modules.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::ops::Range;
use std::time::Duration;

use crate::abi::{BufferType, HostResult, LogLevel, MapType, MetricType, Pairs, Status, StreamType};
use crate::ids::{CallId, ContextId, MetricId, QueueId};
use crate::shared::SharedView;

use super::{
    CallStatus, CallerScope, GrpcCall, GrpcStream, HttpCall, LocalResponse, Output, PropertyPath, Rest,
    SharedValue,
};

/// The embedder's side of a [`Vm`](crate::Vm).
///
/// Every method has a default, most of them "unimplemented", which is a status that modules know. What a method takes
/// lies in the module's memory and is only lent; what it gives is copied once, into the module's memory. No method is
/// entered from within another, and none may call back into the module: what a call leads to is told by a callback of
/// its own, later.
pub trait Host: 'static {
    /// Takes a record. The message is of the module's making and need not be text.
    fn log(&mut self, scope: CallerScope, level: LogLevel, message: &[u8]) {
        let _ = (scope, level, message);
    }

    /// Takes a line that the module printed, without its end; by default a record.
    fn print(&mut self, scope: CallerScope, output: Output, line: &[u8]) {
        let level = match output {
            Output::Stdout => LogLevel::Info,
            Output::Stderr => LogLevel::Error,
        };
        self.log(scope, level, line);
    }

    /// The lowest level of records that are of use.
    fn log_level(&mut self, scope: CallerScope) -> LogLevel {
        let _ = scope;
        LogLevel::Info
    }

    /// Calls `on_tick` of the plugin of this context each time the period is over, or no longer.
    fn set_tick_period(&mut self, scope: CallerScope, period: Option<Duration>) -> HostResult {
        let _ = (scope, period);
        Err(Status::Unimplemented)
    }

    /// Shows each pair of a map, in order; asked twice in a row it shows the same.
    fn map_visit(
        &mut self,
        scope: CallerScope,
        map: MapType,
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> HostResult {
        let _ = (scope, map, visit);
        Err(Status::Unimplemented)
    }

    /// The value of a key; how several are joined is the host's choice. By default the first of those visited.
    fn map_value(
        &mut self,
        scope: CallerScope,
        map: MapType,
        key: &[u8],
    ) -> HostResult<Option<Cow<'_, [u8]>>> {
        let mut found = None;
        self.map_visit(scope, map, &mut |name, value| {
            if found.is_none() && name.eq_ignore_ascii_case(key) {
                found = Some(Cow::Owned(value.to_vec()));
            }
        })?;
        Ok(found)
    }

    /// Replaces a map by these pairs.
    fn map_set(&mut self, scope: CallerScope, map: MapType, pairs: Pairs<'_>) -> HostResult {
        let _ = (scope, map, pairs);
        Err(Status::Unimplemented)
    }

    /// Adds a pair to those there are.
    fn map_add(&mut self, scope: CallerScope, map: MapType, key: &[u8], value: &[u8]) -> HostResult {
        let _ = (scope, map, key, value);
        Err(Status::Unimplemented)
    }

    /// Puts one pair in place of all with this key.
    fn map_replace(&mut self, scope: CallerScope, map: MapType, key: &[u8], value: &[u8]) -> HostResult {
        let _ = (scope, map, key, value);
        Err(Status::Unimplemented)
    }

    /// Removes all pairs with this key, if there are any.
    fn map_remove(&mut self, scope: CallerScope, map: MapType, key: &[u8]) -> HostResult {
        let _ = (scope, map, key);
        Err(Status::Unimplemented)
    }

    /// How many bytes of a buffer can be read.
    fn buffer_size(&mut self, scope: CallerScope, buffer: BufferType) -> HostResult<usize> {
        let _ = (scope, buffer);
        Err(Status::Unimplemented)
    }

    /// Fills `into` with the bytes of a buffer from `start` on; they are within the size that was told just before.
    fn buffer_read(
        &mut self,
        scope: CallerScope,
        buffer: BufferType,
        start: usize,
        into: &mut [u8],
    ) -> HostResult {
        let _ = (scope, buffer, start, into);
        Err(Status::Unimplemented)
    }

    /// Puts bytes in place of a range, which is within the size that was told just before. An empty range at the end
    /// appends.
    fn buffer_replace(
        &mut self,
        scope: CallerScope,
        buffer: BufferType,
        range: Range<usize>,
        bytes: &[u8],
    ) -> HostResult {
        let _ = (scope, buffer, range, bytes);
        Err(Status::Unimplemented)
    }

    /// Goes on with what is paused.
    fn continue_stream(&mut self, scope: CallerScope, stream: StreamType) -> HostResult {
        let _ = (scope, stream);
        Err(Status::Unimplemented)
    }

    /// Closes or resets a stream.
    fn close_stream(&mut self, scope: CallerScope, stream: StreamType) -> HostResult {
        let _ = (scope, stream);
        Err(Status::Unimplemented)
    }

    /// Answers instead of upstream.
    fn send_local_response(&mut self, scope: CallerScope, response: LocalResponse<'_>) -> HostResult {
        let _ = (scope, response);
        Err(Status::Unimplemented)
    }

    /// Chooses the route again, with what the module changed.
    fn clear_route_cache(&mut self, scope: CallerScope) -> HostResult {
        let _ = scope;
        Err(Status::Unimplemented)
    }

    /// How the call ended whose end is being told.
    fn call_status(&mut self, scope: CallerScope) -> HostResult<CallStatus<'_>> {
        let _ = scope;
        Err(Status::Unimplemented)
    }

    /// Sends a request; its end, even at once, is told later by `on_http_call_response`.
    fn http_call(&mut self, scope: CallerScope, call: HttpCall<'_>) -> HostResult<CallId> {
        let _ = (scope, call);
        Err(Status::Unimplemented)
    }

    /// Sends a message and waits for one.
    fn grpc_call(&mut self, scope: CallerScope, call: GrpcCall<'_>) -> HostResult<CallId> {
        let _ = (scope, call);
        Err(Status::Unimplemented)
    }

    /// Opens a stream of messages.
    fn grpc_stream(&mut self, scope: CallerScope, stream: GrpcStream<'_>) -> HostResult<CallId> {
        let _ = (scope, stream);
        Err(Status::Unimplemented)
    }

    /// Sends a message on a stream.
    fn grpc_send(&mut self, scope: CallerScope, call: CallId, message: &[u8], rest: Rest) -> HostResult {
        let _ = (scope, call, message, rest);
        Err(Status::Unimplemented)
    }

    /// Gives a call or stream up.
    fn grpc_cancel(&mut self, scope: CallerScope, call: CallId) -> HostResult {
        let _ = (scope, call);
        Err(Status::Unimplemented)
    }

    /// Closes a call or stream.
    fn grpc_close(&mut self, scope: CallerScope, call: CallId) -> HostResult {
        let _ = (scope, call);
        Err(Status::Unimplemented)
    }

    /// What this module shares with others; by default the six methods below use it.
    fn shared(&mut self) -> Option<&SharedView> {
        None
    }

    /// A value that modules share.
    fn shared_data(&mut self, scope: CallerScope, key: &[u8]) -> HostResult<SharedValue<'_>> {
        let _ = scope;
        self.shared().ok_or(Status::Unimplemented)?.data(key)
    }

    /// Writes a value that modules share; with `cas` only if nobody has written since.
    fn set_shared_data(
        &mut self,
        scope: CallerScope,
        key: &[u8],
        value: &[u8],
        cas: Option<NonZeroU32>,
    ) -> HostResult {
        let _ = scope;
        self.shared().ok_or(Status::Unimplemented)?.set_data(key, value, cas)
    }

    /// Makes or opens a queue of this module's; the plugin of this context is told of its items.
    fn register_queue(&mut self, scope: CallerScope, name: &[u8]) -> HostResult<QueueId> {
        let _ = scope;
        self.shared().ok_or(Status::Unimplemented)?.register_queue(name)
    }

    /// Opens a queue of another module's.
    fn resolve_queue(&mut self, scope: CallerScope, vm_id: &[u8], name: &[u8]) -> HostResult<QueueId> {
        let _ = scope;
        self.shared().ok_or(Status::Unimplemented)?.resolve_queue(vm_id, name)
    }

    /// Adds an item to the end of a queue.
    fn enqueue(&mut self, scope: CallerScope, queue: QueueId, item: &[u8]) -> HostResult {
        let _ = scope;
        self.shared().ok_or(Status::Unimplemented)?.enqueue(queue, item)
    }

    /// Takes the item at the front of a queue.
    fn dequeue(&mut self, scope: CallerScope, queue: QueueId) -> HostResult<Cow<'_, [u8]>> {
        let _ = scope;
        self.shared().ok_or(Status::Unimplemented)?.dequeue(queue).map(Cow::Owned)
    }

    /// Makes or opens a metric.
    fn define_metric(&mut self, scope: CallerScope, kind: MetricType, name: &[u8]) -> HostResult<MetricId> {
        let _ = (scope, kind, name);
        Err(Status::Unimplemented)
    }

    /// Sets a metric, or adds a value to a histogram.
    fn record_metric(&mut self, scope: CallerScope, metric: MetricId, value: u64) -> HostResult {
        let _ = (scope, metric, value);
        Err(Status::Unimplemented)
    }

    /// Changes a metric.
    fn increment_metric(&mut self, scope: CallerScope, metric: MetricId, delta: i64) -> HostResult {
        let _ = (scope, metric, delta);
        Err(Status::Unimplemented)
    }

    /// What a metric says.
    fn metric(&mut self, scope: CallerScope, metric: MetricId) -> HostResult<u64> {
        let _ = (scope, metric);
        Err(Status::Unimplemented)
    }

    /// A property; which there are is the host's choice.
    fn property(&mut self, scope: CallerScope, path: PropertyPath<'_>) -> HostResult<Cow<'_, [u8]>> {
        let _ = (scope, path);
        Err(Status::NotFound)
    }

    /// Sets a property.
    fn set_property(&mut self, scope: CallerScope, path: PropertyPath<'_>, value: &[u8]) -> HostResult {
        let _ = (scope, path, value);
        Err(Status::Unimplemented)
    }

    /// Calls a function that only this host has; what it gives may be empty.
    fn call_foreign_function(
        &mut self,
        scope: CallerScope,
        name: &[u8],
        arguments: &[u8],
    ) -> HostResult<Cow<'_, [u8]>> {
        let _ = (scope, name, arguments);
        Err(Status::NotFound)
    }

    /// Learns that a context is gone, after the module has been told.
    fn context_deleted(&mut self, context: ContextId) {
        let _ = context;
    }
}
