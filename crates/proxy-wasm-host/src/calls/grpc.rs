//! Host functions for gRPC calls.

use std::time::Duration;

use wasmtime::Linker;

use crate::abi::{HostResult, wire};
use crate::host::{GrpcCall, GrpcStream, Host, Rest};
use crate::ids::CallId;
use crate::vm::{Given, Guest, Region, VmState, call_host, return_number};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_grpc_call"(
            guest, upstream + upstream_len, service + service_len, method + method_len, metadata + metadata_len,
            message + message_len, timeout, place
        ) => wire(return_number(guest, place, |host, scope, given| {
            let stream = target(given, [upstream, service, method, metadata])?;
            let timeout = Duration::from_millis(u64::from(timeout));
            host.grpc_call(scope, GrpcCall { stream, message: given.bytes(message)?, timeout }).map(|id| id.0)
        }));
        "proxy_grpc_stream"(
            guest, upstream + upstream_len, service + service_len, method + method_len, metadata + metadata_len,
            place
        ) => wire(return_number(guest, place, |host, scope, given| {
            let stream = target(given, [upstream, service, method, metadata])?;
            host.grpc_stream(scope, stream).map(|id| id.0)
        }));
        "proxy_grpc_send"(guest, call, message + message_len, is_end) =>
            wire(call_host(guest, |host, scope, given| {
                host.grpc_send(scope, CallId(call), given.bytes(message)?, Rest::of_end(is_end != 0))
            }));
        "proxy_grpc_cancel"(guest, call) =>
            wire(call_host(guest, |host, scope, _| host.grpc_cancel(scope, CallId(call))));
        "proxy_grpc_close"(guest, call) =>
            wire(call_host(guest, |host, scope, _| host.grpc_close(scope, CallId(call))));
    });
    Ok(())
}

/// Reads the target of a gRPC call from the module's memory.
fn target<'a>(
    given: Given<'a>,
    [upstream, service, method, metadata]: [Region; 4],
) -> HostResult<GrpcStream<'a>> {
    Ok(GrpcStream {
        upstream: given.bytes(upstream)?,
        service: given.bytes(service)?,
        method: given.bytes(method)?,
        initial_metadata: given.pairs(metadata)?,
    })
}
