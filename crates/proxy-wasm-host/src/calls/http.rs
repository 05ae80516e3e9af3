//! Host functions for HTTP calls and for the status of finished calls.

use std::time::Duration;

use wasmtime::Linker;

use crate::abi::{HostResult, Status, wire};
use crate::host::{CallerScope, Host, HttpCall};
use crate::ids::CallId;
use crate::vm::{Guest, Region, ReturnPointers, VmState, give, put, return_number};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_http_call"(
            guest, upstream + upstream_len, headers + headers_len, body + body_len, trailers + trailers_len,
            timeout, place
        ) => wire(return_number(guest, place, |host, scope, given| {
            let call = HttpCall {
                upstream: given.bytes(upstream)?,
                headers: given.pairs(headers)?,
                body: given.bytes(body)?,
                trailers: given.pairs(trailers)?,
                timeout: Duration::from_millis(u64::from(timeout)),
            };
            http_call(host, scope, call).map(|id| id.0)
        }));
        "proxy_get_status"(guest, code, data, size) =>
            call_status(guest, code, ReturnPointers::new(data, size)).map(wire);
    });
    Ok(())
}

fn http_call<H: Host>(host: &mut H, scope: CallerScope, call: HttpCall<'_>) -> HostResult<CallId> {
    if [&b":method"[..], b":path", b":authority"].iter().any(|name| call.headers.get(name).is_none()) {
        return Err(Status::BadArgument);
    }
    host.http_call(scope, call)
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
