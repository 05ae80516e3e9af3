//! Host functions for gRPC calls.

use std::time::Duration;

use wasmtime::Linker;

use crate::abi::{HostResult, wire};
use crate::host::{GrpcCall, GrpcStream, Host, Rest};
use crate::ids::CallId;
use crate::vm::{Given, Guest, HostCallCx, Region, VmState, cross, put};

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_grpc_call",
        |mut guest: Guest<'_, H>,
         upstream: u32,
         upstream_len: u32,
         service: u32,
         service_len: u32,
         method: u32,
         method_len: u32,
         metadata: u32,
         metadata_len: u32,
         message: u32,
         message_len: u32,
         timeout: u32,
         place: u32| {
            let target = GrpcTargetRegions {
                upstream: Region::new(upstream, upstream_len),
                service: Region::new(service, service_len),
                method: Region::new(method, method_len),
                metadata: Region::new(metadata, metadata_len),
            };
            wire(call(&mut guest, &target, Region::new(message, message_len), timeout, place))
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_grpc_stream",
        |mut guest: Guest<'_, H>,
         upstream: u32,
         upstream_len: u32,
         service: u32,
         service_len: u32,
         method: u32,
         method_len: u32,
         metadata: u32,
         metadata_len: u32,
         place: u32| {
            let target = GrpcTargetRegions {
                upstream: Region::new(upstream, upstream_len),
                service: Region::new(service, service_len),
                method: Region::new(method, method_len),
                metadata: Region::new(metadata, metadata_len),
            };
            wire(stream(&mut guest, &target, place))
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_grpc_send",
        |mut guest: Guest<'_, H>, call: u32, message: u32, message_len: u32, is_end: u32| {
            let rest = Rest::of_end(is_end != 0);
            wire(send(&mut guest, CallId(call), Region::new(message, message_len), rest))
        },
    )?;
    linker.func_wrap("env", "proxy_grpc_cancel", |mut guest: Guest<'_, H>, call: u32| {
        wire(cancel(&mut guest, CallId(call)))
    })?;
    linker.func_wrap("env", "proxy_grpc_close", |mut guest: Guest<'_, H>, call: u32| {
        wire(close(&mut guest, CallId(call)))
    })?;
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
