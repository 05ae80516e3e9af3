//! Interface that an embedder implements for its modules.

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

/// Embedder's side of a [`Vm`](crate::Vm).
///
/// Every method has a default, most of them "unimplemented", a status that modules know. Arguments point into the
/// module's memory and are only borrowed; results are copied once, into the module's memory. No method is entered from
/// within another, and none may call back into the module: the outcome of a call is delivered later, by a callback of
/// its own.
#[expect(unused_variables, reason = "the defaults ignore the arguments, whose names document the methods")]
pub trait Host: 'static {
    /// Writes a log message. The module controls its bytes; it need not be text.
    fn log(&mut self, scope: CallerScope, level: LogLevel, message: &[u8]) {}

    /// Handles a line that the module printed, without its newline; by default it is logged.
    fn print(&mut self, scope: CallerScope, output: Output, line: &[u8]) {
        let level = match output {
            Output::Stdout => LogLevel::Info,
            Output::Stderr => LogLevel::Error,
        };
        self.log(scope, level, line);
    }

    /// Returns the lowest log level that is recorded.
    fn log_level(&mut self, scope: CallerScope) -> LogLevel {
        LogLevel::Info
    }

    /// Calls `on_tick` of this context's plugin periodically, or stops doing so.
    fn set_tick_period(&mut self, scope: CallerScope, period: Option<Duration>) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Visits each pair of a map, in order; two calls in a row visit the same pairs.
    fn map_visit(
        &mut self,
        scope: CallerScope,
        map: MapType,
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Returns the value of a key. The host chooses how several values are joined; by default the first one is
    /// returned.
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

    /// Replaces all pairs of a map.
    fn map_set(&mut self, scope: CallerScope, map: MapType, pairs: Pairs<'_>) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Adds a pair to a map.
    fn map_add(&mut self, scope: CallerScope, map: MapType, key: &[u8], value: &[u8]) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Replaces all pairs with this key by one.
    fn map_replace(&mut self, scope: CallerScope, map: MapType, key: &[u8], value: &[u8]) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Removes all pairs with this key, if any.
    fn map_remove(&mut self, scope: CallerScope, map: MapType, key: &[u8]) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Returns the number of bytes of a buffer that can be read.
    fn buffer_size(&mut self, scope: CallerScope, buffer: BufferType) -> HostResult<usize> {
        Err(Status::Unimplemented)
    }

    /// Fills `into` with the bytes of a buffer from `start` on; they are within the size returned just before.
    fn buffer_read(
        &mut self,
        scope: CallerScope,
        buffer: BufferType,
        start: usize,
        into: &mut [u8],
    ) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Replaces a range, which is within the size returned just before. An empty range at the end appends.
    fn buffer_replace(
        &mut self,
        scope: CallerScope,
        buffer: BufferType,
        range: Range<usize>,
        bytes: &[u8],
    ) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Continues a paused stream.
    fn continue_stream(&mut self, scope: CallerScope, stream: StreamType) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Closes or resets a stream.
    fn close_stream(&mut self, scope: CallerScope, stream: StreamType) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Sends a local reply instead of the upstream response.
    fn send_local_response(&mut self, scope: CallerScope, response: LocalResponse<'_>) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Selects the route again, with the module's changes.
    fn clear_route_cache(&mut self, scope: CallerScope) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Returns the status of the call whose end is being reported.
    fn call_status(&mut self, scope: CallerScope) -> HostResult<CallStatus<'_>> {
        Err(Status::Unimplemented)
    }

    /// Sends an HTTP request; its outcome, even an immediate one, is reported later by `on_http_call_response`.
    fn http_call(&mut self, scope: CallerScope, call: HttpCall<'_>) -> HostResult<CallId> {
        Err(Status::Unimplemented)
    }

    /// Starts a unary gRPC call.
    fn grpc_call(&mut self, scope: CallerScope, call: GrpcCall<'_>) -> HostResult<CallId> {
        Err(Status::Unimplemented)
    }

    /// Opens a gRPC stream.
    fn grpc_stream(&mut self, scope: CallerScope, stream: GrpcStream<'_>) -> HostResult<CallId> {
        Err(Status::Unimplemented)
    }

    /// Sends a message on a gRPC stream.
    fn grpc_send(&mut self, scope: CallerScope, call: CallId, message: &[u8], rest: Rest) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Cancels a gRPC call or stream.
    fn grpc_cancel(&mut self, scope: CallerScope, call: CallId) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Closes a gRPC call or stream.
    fn grpc_close(&mut self, scope: CallerScope, call: CallId) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Returns the data shared with other modules; the default of the six methods below uses it.
    fn shared(&mut self) -> Option<&SharedView> {
        None
    }

    /// Returns a shared value.
    fn shared_data(&mut self, scope: CallerScope, key: &[u8]) -> HostResult<SharedValue<'_>> {
        self.shared().ok_or(Status::Unimplemented)?.data(key)
    }

    /// Writes a shared value; with `cas`, only if it has not been written since.
    fn set_shared_data(
        &mut self,
        scope: CallerScope,
        key: &[u8],
        value: &[u8],
        cas: Option<NonZeroU32>,
    ) -> HostResult {
        self.shared().ok_or(Status::Unimplemented)?.set_data(key, value, cas)
    }

    /// Creates or opens a queue of this module; its items are announced to the plugin of this context.
    fn register_queue(&mut self, scope: CallerScope, name: &[u8]) -> HostResult<QueueId> {
        self.shared().ok_or(Status::Unimplemented)?.register_queue(name)
    }

    /// Opens a queue of another module.
    fn resolve_queue(&mut self, scope: CallerScope, vm_id: &[u8], name: &[u8]) -> HostResult<QueueId> {
        self.shared().ok_or(Status::Unimplemented)?.resolve_queue(vm_id, name)
    }

    /// Adds an item to the end of a queue.
    fn enqueue(&mut self, scope: CallerScope, queue: QueueId, item: &[u8]) -> HostResult {
        self.shared().ok_or(Status::Unimplemented)?.enqueue(queue, item)
    }

    /// Removes and returns the item at the front of a queue.
    fn dequeue(&mut self, scope: CallerScope, queue: QueueId) -> HostResult<Cow<'_, [u8]>> {
        self.shared().ok_or(Status::Unimplemented)?.dequeue(queue).map(Cow::Owned)
    }

    /// Creates or opens a metric.
    fn define_metric(&mut self, scope: CallerScope, kind: MetricType, name: &[u8]) -> HostResult<MetricId> {
        Err(Status::Unimplemented)
    }

    /// Sets a metric, or adds a value to a histogram.
    fn record_metric(&mut self, scope: CallerScope, metric: MetricId, value: u64) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Adds a difference to a metric.
    fn increment_metric(&mut self, scope: CallerScope, metric: MetricId, delta: i64) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Returns the value of a metric.
    fn metric(&mut self, scope: CallerScope, metric: MetricId) -> HostResult<u64> {
        Err(Status::Unimplemented)
    }

    /// Returns a property; the host chooses which exist.
    fn property(&mut self, scope: CallerScope, path: PropertyPath<'_>) -> HostResult<Cow<'_, [u8]>> {
        Err(Status::NotFound)
    }

    /// Sets a property.
    fn set_property(&mut self, scope: CallerScope, path: PropertyPath<'_>, value: &[u8]) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Calls a foreign function, which only this host has; the result may be empty.
    fn call_foreign_function(
        &mut self,
        scope: CallerScope,
        name: &[u8],
        arguments: &[u8],
    ) -> HostResult<Cow<'_, [u8]>> {
        Err(Status::NotFound)
    }

    /// Selects the endpoint of a request, an address with its port; the load balancer is used if the cluster has no such
    /// endpoint.
    fn set_upstream_override_host(&mut self, scope: CallerScope, address: &[u8]) -> HostResult {
        Err(Status::Unimplemented)
    }

    /// Returns the status of a call of a function that this crate [only knows by
    /// name](crate::Module::unsupported_imports).
    fn unsupported(&mut self, scope: CallerScope, function: &'static str) -> Status {
        Status::Unimplemented
    }

    /// Reports that a context was deleted, after the module's own callbacks.
    fn context_deleted(&mut self, context: ContextId) {}
}
