//! Host functions that the SDKs of Higress add to proxy-wasm.

use wasmtime::Linker;

use crate::abi::{HostResult, wire};
use crate::host::Host;
use crate::vm::{Guest, Region, VmState, call_host};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_set_upstream_override_host"(guest, address + address_len) =>
            wire(call_host(guest, |host, scope, given| {
                host.set_upstream_override_host(scope, given.bytes(address)?)
            }));
        "proxy_get_upstream_hosts"(guest, _data, _size) =>
            wire(unsupported(guest, "proxy_get_upstream_hosts"));
        "proxy_inject_encoded_data_to_filter_chain"(guest, _body, _body_len, _is_end) =>
            wire(unsupported(guest, "proxy_inject_encoded_data_to_filter_chain"));
        "proxy_redis_init"(guest, _upstream, _upstream_len, _user, _user_len, _password, _password_len, _timeout) =>
            wire(unsupported(guest, "proxy_redis_init"));
        "proxy_redis_call"(guest, _upstream, _upstream_len, _query, _query_len, _place) =>
            wire(unsupported(guest, "proxy_redis_call"));
    });
    Ok(())
}

fn unsupported<H: Host>(guest: &mut Guest<'_, H>, function: &'static str) -> HostResult {
    call_host(guest, |host, scope, _| Err(host.unsupported(scope, function)))
}
