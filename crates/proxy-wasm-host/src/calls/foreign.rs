//! Host function that calls foreign functions, which only some hosts have.

use wasmtime::Linker;

use crate::abi::wire;
use crate::host::Host;
use crate::vm::{Guest, Region, ReturnPointers, VmState, give};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_call_foreign_function"(guest, name + name_len, arguments + arguments_len, data, size) =>
            give(guest, ReturnPointers::new(data, size), |host, scope, given| {
                host.call_foreign_function(scope, given.bytes(name)?, given.bytes(arguments)?)
            })
            .map(wire);
    });
    Ok(())
}
