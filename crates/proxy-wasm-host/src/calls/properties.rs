//! Host functions for properties.

use wasmtime::Linker;

use crate::abi::wire;
use crate::host::{Host, PropertyPath};
use crate::vm::{Guest, Region, ReturnPointers, VmState, call_host, give};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_get_property"(guest, path + path_len, data, size) =>
            give(guest, ReturnPointers::new(data, size), |host, scope, given| {
                host.property(scope, PropertyPath(given.bytes(path)?))
            })
            .map(wire);
        "proxy_set_property"(guest, path + path_len, value + value_len) =>
            wire(call_host(guest, |host, scope, given| {
                host.set_property(scope, PropertyPath(given.bytes(path)?), given.bytes(value)?)
            }));
    });
    Ok(())
}
