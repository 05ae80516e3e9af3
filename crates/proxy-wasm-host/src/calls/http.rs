//! Host functions for HTTP calls and for the status of finished calls.

use std::time::Duration;

use wasmtime::Linker;

use crate::abi::{HostResult, Status, wire};
use crate::host::{Host, HttpCall};
use crate::vm::{Guest, HostCallCx, Region, ReturnPointers, VmState, cross, give, put};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_http_call"(
            guest, upstream + upstream_len, headers + headers_len, body + body_len, trailers + trailers_len,
            timeout, place
        ) => {
            let timeout = Duration::from_millis(u64::from(timeout));
            wire(http_call(guest, &HttpCallRegions { upstream, headers, body, trailers, timeout }, place))
        };
        "proxy_get_status"(guest, code, data, size) =>
            call_status(guest, code, ReturnPointers::new(data, size)).map(wire);
    });
    Ok(())
}

/// Arguments of an HTTP call, as regions of the module's memory.
struct HttpCallRegions {
    upstream: Region,
    headers: Region,
    body: Region,
    trailers: Region,
    timeout: Duration,
}

fn http_call<H: Host>(guest: &mut Guest<'_, H>, call: &HttpCallRegions, place: u32) -> HostResult {
    let HostCallCx { host, scope, given } = cross(guest)?;
    given.check_room(place, 4)?;
    let call = HttpCall {
        upstream: given.bytes(call.upstream)?,
        headers: given.pairs(call.headers)?,
        body: given.bytes(call.body)?,
        trailers: given.pairs(call.trailers)?,
        timeout: call.timeout,
    };
    if [&b":method"[..], b":path", b":authority"].iter().any(|name| call.headers.get(name).is_none()) {
        return Err(Status::BadArgument);
    }
    let id = host.http_call(scope, call)?;
    put(guest, place, id.0.to_le_bytes())
}

fn call_status<H: Host>(
    guest: &mut Guest<'_, H>,
    code_place: u32,
    place: ReturnPointers,
) -> wasmtime::Result<HostResult> {
    let mut code = 0;
    let given = give(guest, place, |host, scope, given| {
        given.check_room(code_place, 4)?;
        let status = host.call_status(scope)?;
        code = status.code;
        Ok(status.message)
    })?;
    Ok(given.and_then(|()| put(guest, code_place, code.to_le_bytes())))
}
