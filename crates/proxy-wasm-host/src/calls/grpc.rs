//! Host functions for gRPC calls.

use std::time::Duration;

use wasmtime::Linker;

use crate::abi::{HostResult, wire};
use crate::host::{GrpcCall, GrpcStream, Host, Rest};
use crate::ids::CallId;
use crate::vm::{Given, Guest, HostCallCx, Region, VmState, cross, put};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_grpc_call"(
            guest, upstream + upstream_len, service + service_len, method + method_len, metadata + metadata_len,
            message + message_len, timeout, place
        ) => wire(call(guest, &GrpcTargetRegions { upstream, service, method, metadata }, message, timeout, place));
        "proxy_grpc_stream"(
            guest, upstream + upstream_len, service + service_len, method + method_len, metadata + metadata_len,
            place
        ) => wire(stream(guest, &GrpcTargetRegions { upstream, service, method, metadata }, place));
        "proxy_grpc_send"(guest, call, message + message_len, is_end) =>
            wire(send(guest, CallId(call), message, Rest::of_end(is_end != 0)));
        "proxy_grpc_cancel"(guest, call) => wire(cancel(guest, CallId(call)));
        "proxy_grpc_close"(guest, call) => wire(close(guest, CallId(call)));
    });
    Ok(())
}

/// Target of a gRPC call, as regions of the module's memory.
struct GrpcTargetRegions {
    upstream: Region,
    service: Region,
    method: Region,
    metadata: Region,
}

impl GrpcTargetRegions {
    fn read<'a>(&self, given: Given<'a>) -> HostResult<GrpcStream<'a>> {
        Ok(GrpcStream {
            upstream: given.bytes(self.upstream)?,
            service: given.bytes(self.service)?,
            method: given.bytes(self.method)?,
            initial_metadata: given.pairs(self.metadata)?,
        })
    }
}

fn call<H: Host>(
    guest: &mut Guest<'_, H>,
    target: &GrpcTargetRegions,
    message: Region,
    timeout_milliseconds: u32,
    place: u32,
) -> HostResult {
    let HostCallCx { host, scope, given } = cross(guest)?;
    given.check_room(place, 4)?;
    let call = GrpcCall {
        stream: target.read(given)?,
        message: given.bytes(message)?,
        timeout: Duration::from_millis(u64::from(timeout_milliseconds)),
    };
    let id = host.grpc_call(scope, call)?;
    put(guest, place, id.0.to_le_bytes())
}

fn stream<H: Host>(guest: &mut Guest<'_, H>, target: &GrpcTargetRegions, place: u32) -> HostResult {
    let HostCallCx { host, scope, given } = cross(guest)?;
    given.check_room(place, 4)?;
    let id = host.grpc_stream(scope, target.read(given)?)?;
    put(guest, place, id.0.to_le_bytes())
}

fn send<H: Host>(guest: &mut Guest<'_, H>, call: CallId, message: Region, rest: Rest) -> HostResult {
    let HostCallCx { host, scope, given } = cross(guest)?;
    host.grpc_send(scope, call, given.bytes(message)?, rest)
}

fn cancel<H: Host>(guest: &mut Guest<'_, H>, call: CallId) -> HostResult {
    let HostCallCx { host, scope, .. } = cross(guest)?;
    host.grpc_cancel(scope, call)
}

fn close<H: Host>(guest: &mut Guest<'_, H>, call: CallId) -> HostResult {
    let HostCallCx { host, scope, .. } = cross(guest)?;
    host.grpc_close(scope, call)
}
