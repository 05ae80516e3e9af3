//! Host functions that continue or close streams and send local replies.

use wasmtime::Linker;

use crate::abi::{HostResult, Status, StreamType, wire};
use crate::host::{Host, LocalResponse};
use crate::vm::{Guest, HostCallCx, Region, VmState, cross};

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    linker.func_wrap("env", "proxy_continue_stream", |mut guest: Guest<'_, H>, stream: u32| {
        wire(go_on(&mut guest, StreamType::from_wire(stream)))
    })?;
    linker.func_wrap("env", "proxy_continue_request", |mut guest: Guest<'_, H>| {
        wire(go_on(&mut guest, Some(StreamType::HttpRequest)))
    })?;
    linker.func_wrap("env", "proxy_continue_response", |mut guest: Guest<'_, H>| {
        wire(go_on(&mut guest, Some(StreamType::HttpResponse)))
    })?;
    linker.func_wrap("env", "proxy_close_stream", |mut guest: Guest<'_, H>, stream: u32| {
        wire(close(&mut guest, StreamType::from_wire(stream)))
    })?;
    linker.func_wrap("env", "proxy_clear_route_cache", |mut guest: Guest<'_, H>| {
        wire(clear_route_cache(&mut guest))
    })?;
    linker.func_wrap(
        "env",
        "proxy_send_local_response",
        |mut guest: Guest<'_, H>,
         status: u32,
         details: u32,
         details_len: u32,
         body: u32,
         body_len: u32,
         headers: u32,
         headers_len: u32,
         grpc_status: u32| {
            let response = LocalResponseRegions {
                status,
                details: Region::new(details, details_len),
                body: Region::new(body, body_len),
                headers: Region::new(headers, headers_len),
                grpc_status,
            };
            wire(respond(&mut guest, &response))
        },
    )?;
    Ok(())
}

fn go_on<H: Host>(guest: &mut Guest<'_, H>, stream: Option<StreamType>) -> HostResult {
    let HostCallCx { host, scope, .. } = cross(guest)?;
    host.continue_stream(scope, stream.ok_or(Status::BadArgument)?)
}

fn close<H: Host>(guest: &mut Guest<'_, H>, stream: Option<StreamType>) -> HostResult {
    let HostCallCx { host, scope, .. } = cross(guest)?;
    host.close_stream(scope, stream.ok_or(Status::BadArgument)?)
}

fn clear_route_cache<H: Host>(guest: &mut Guest<'_, H>) -> HostResult {
    let HostCallCx { host, scope, .. } = cross(guest)?;
    host.clear_route_cache(scope)
}

/// Local reply, as regions of the module's memory.
struct LocalResponseRegions {
    status: u32,
    details: Region,
    body: Region,
    headers: Region,
    grpc_status: u32,
}

fn respond<H: Host>(guest: &mut Guest<'_, H>, response: &LocalResponseRegions) -> HostResult {
    let HostCallCx { host, scope, given } = cross(guest)?;
    let response = LocalResponse {
        status: response.status,
        details: given.line(response.details)?,
        body: given.bytes(response.body)?,
        headers: given.pairs(response.headers)?,
        // SDKs pass -1 for no gRPC status.
        grpc_status: (response.grpc_status != u32::MAX).then_some(response.grpc_status),
    };
    host.send_local_response(scope, response)
}
