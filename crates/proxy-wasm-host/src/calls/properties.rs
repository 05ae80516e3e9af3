//! Host functions for properties.

use wasmtime::Linker;

use crate::abi::{HostResult, wire};
use crate::host::{Host, PropertyPath};
use crate::vm::{Guest, HostCallCx, Region, ReturnPointers, VmState, cross, give};

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_get_property",
        |mut guest: Guest<'_, H>, path: u32, path_len: u32, data: u32, size: u32| {
            let path = Region::new(path, path_len);
            give(&mut guest, ReturnPointers::new(data, size), |host, scope, given| {
                host.property(scope, PropertyPath(given.bytes(path)?))
            })
            .map(wire)
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_set_property",
        |mut guest: Guest<'_, H>, path: u32, path_len: u32, value: u32, value_len: u32| {
            wire(set(&mut guest, Region::new(path, path_len), Region::new(value, value_len)))
        },
    )?;
    Ok(())
}

fn set<H: Host>(guest: &mut Guest<'_, H>, path: Region, value: Region) -> HostResult {
    let HostCallCx { host, scope, given } = cross(guest)?;
    host.set_property(scope, PropertyPath(given.bytes(path)?), given.bytes(value)?)
}
