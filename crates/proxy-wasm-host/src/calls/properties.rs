//! Host functions for properties.

use wasmtime::Linker;

use crate::abi::{HostResult, wire};
use crate::host::{Host, PropertyPath};
use crate::vm::{Guest, HostCallCx, Region, ReturnPointers, VmState, cross, give};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_get_property"(guest, path + path_len, data, size) =>
            give(guest, ReturnPointers::new(data, size), |host, scope, given| {
                host.property(scope, PropertyPath(given.bytes(path)?))
            })
            .map(wire);
        "proxy_set_property"(guest, path + path_len, value + value_len) => wire(set(guest, path, value));
    });
    Ok(())
}

fn set<H: Host>(guest: &mut Guest<'_, H>, path: Region, value: Region) -> HostResult {
    let HostCallCx { host, scope, given } = cross(guest)?;
    host.set_property(scope, PropertyPath(given.bytes(path)?), given.bytes(value)?)
}
