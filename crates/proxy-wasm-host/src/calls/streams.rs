//! Host functions that continue or close streams and send local replies.

use wasmtime::Linker;

use crate::abi::{HostResult, Status, StreamType, wire};
use crate::host::{Host, LocalResponse};
use crate::vm::{Guest, Region, VmState, call_host};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_continue_stream"(guest, stream) => wire(resume(guest, StreamType::from_wire(stream)));
        "proxy_continue_request"(guest) => wire(resume(guest, Some(StreamType::HttpRequest)));
        "proxy_continue_response"(guest) => wire(resume(guest, Some(StreamType::HttpResponse)));
        "proxy_close_stream"(guest, stream) =>
            wire(call_host(guest, |host, scope, _| {
                host.close_stream(scope, StreamType::from_wire(stream).ok_or(Status::BadArgument)?)
            }));
        "proxy_clear_route_cache"(guest) =>
            wire(call_host(guest, |host, scope, _| host.clear_route_cache(scope)));
        "proxy_send_local_response"(
            guest, status, details + details_len, body + body_len, headers + headers_len, grpc_status
        ) => wire(call_host(guest, |host, scope, given| {
            let response = LocalResponse {
                status,
                details: given.line(details)?,
                body: given.bytes(body)?,
                headers: given.pairs(headers)?,
                // SDKs pass -1 for no gRPC status.
                grpc_status: (grpc_status != u32::MAX).then_some(grpc_status),
            };
            host.send_local_response(scope, response)
        }));
    });
    Ok(())
}

fn resume<H: Host>(guest: &mut Guest<'_, H>, stream: Option<StreamType>) -> HostResult {
    call_host(guest, |host, scope, _| host.continue_stream(scope, stream.ok_or(Status::BadArgument)?))
}
