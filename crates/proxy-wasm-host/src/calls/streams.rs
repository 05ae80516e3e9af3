//! Host functions that continue or close streams and send local replies.

use wasmtime::Linker;

use crate::abi::{HostResult, Status, StreamType, wire};
use crate::host::{Host, LocalResponse};
use crate::vm::{Guest, HostCallCx, Region, VmState, cross};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_continue_stream"(guest, stream) => wire(go_on(guest, StreamType::from_wire(stream)));
        "proxy_continue_request"(guest) => wire(go_on(guest, Some(StreamType::HttpRequest)));
        "proxy_continue_response"(guest) => wire(go_on(guest, Some(StreamType::HttpResponse)));
        "proxy_close_stream"(guest, stream) => wire(close(guest, StreamType::from_wire(stream)));
        "proxy_clear_route_cache"(guest) => wire(clear_route_cache(guest));
        "proxy_send_local_response"(
            guest, status, details + details_len, body + body_len, headers + headers_len, grpc_status
        ) => wire(respond(guest, &LocalResponseRegions { status, details, body, headers, grpc_status }));
    });
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
