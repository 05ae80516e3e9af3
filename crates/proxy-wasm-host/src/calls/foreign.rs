//! Host function that calls foreign functions, which only some hosts have.

use wasmtime::Linker;

use crate::abi::{HostResult, wire};
use crate::host::Host;
use crate::vm::{Guest, Region, ReturnPointers, VmState, give};

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_call_foreign_function",
        |mut guest: Guest<'_, H>,
         name: u32,
         name_len: u32,
         arguments: u32,
         arguments_len: u32,
         data: u32,
         size: u32| {
            let (name, arguments) = (Region::new(name, name_len), Region::new(arguments, arguments_len));
            call(&mut guest, name, arguments, ReturnPointers::new(data, size)).map(wire)
        },
    )?;
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
