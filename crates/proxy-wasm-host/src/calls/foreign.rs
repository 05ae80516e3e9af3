//! Host function that calls foreign functions, which only some hosts have.

use wasmtime::Linker;

use crate::abi::{HostResult, wire};
use crate::host::Host;
use crate::vm::{Guest, Region, ReturnPointers, VmState, give};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_call_foreign_function"(guest, name + name_len, arguments + arguments_len, data, size) =>
            call(guest, name, arguments, ReturnPointers::new(data, size)).map(wire);
    });
    Ok(())
}

fn call<H: Host>(
    guest: &mut Guest<'_, H>,
    name: Region,
    arguments: Region,
    place: ReturnPointers,
) -> wasmtime::Result<HostResult> {
    give(guest, place, |host, scope, given| {
        host.call_foreign_function(scope, given.bytes(name)?, given.bytes(arguments)?)
    })
}
