//! Host functions for shared data.

use std::num::NonZeroU32;

use wasmtime::Linker;

use crate::abi::{HostResult, wire};
use crate::host::Host;
use crate::vm::{Guest, Region, ReturnPointers, VmState, call_host, give, put};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_get_shared_data"(guest, key + key_len, data, size, cas) =>
            value(guest, key, ReturnPointers::new(data, size), cas).map(wire);
        "proxy_set_shared_data"(guest, key + key_len, value + value_len, cas) =>
            wire(call_host(guest, |host, scope, given| {
                host.set_shared_data(scope, given.bytes(key)?, given.bytes(value)?, NonZeroU32::new(cas))
            }));
    });
    Ok(())
}

fn value<H: Host>(
    guest: &mut Guest<'_, H>,
    key: Region,
    place: ReturnPointers,
    cas_place: u32,
) -> wasmtime::Result<HostResult> {
    let mut cas = 0;
    let given = give(guest, place, |host, scope, given| {
        given.check_room(cas_place, 4)?;
        let found = host.shared_data(scope, given.bytes(key)?)?;
        cas = found.cas.get();
        Ok(found.value)
    })?;
    Ok(given.and_then(|()| put(guest, cas_place, cas.to_le_bytes())))
}
