//! Host functions for shared queues.

use wasmtime::Linker;

use crate::abi::{HostResult, wire};
use crate::host::Host;
use crate::ids::QueueId;
use crate::vm::{Guest, HostCallCx, Region, ReturnPointers, VmState, cross, give, put};

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_register_shared_queue",
        |mut guest: Guest<'_, H>, name: u32, name_len: u32, place: u32| {
            wire(register(&mut guest, Region::new(name, name_len), place))
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_resolve_shared_queue",
        |mut guest: Guest<'_, H>, vm_id: u32, vm_id_len: u32, name: u32, name_len: u32, place: u32| {
            wire(resolve(&mut guest, Region::new(vm_id, vm_id_len), Region::new(name, name_len), place))
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_enqueue_shared_queue",
        |mut guest: Guest<'_, H>, queue: u32, item: u32, item_len: u32| {
            wire(enqueue(&mut guest, QueueId(queue), Region::new(item, item_len)))
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_dequeue_shared_queue",
        |mut guest: Guest<'_, H>, queue: u32, data: u32, size: u32| {
            give(&mut guest, ReturnPointers::new(data, size), |host, scope, _| {
                host.dequeue(scope, QueueId(queue))
            })
            .map(wire)
        },
    )?;
    Ok(())
}

fn register<H: Host>(guest: &mut Guest<'_, H>, name: Region, place: u32) -> HostResult {
    let HostCallCx { host, scope, given } = cross(guest)?;
    given.check_room(place, 4)?;
    let queue = host.register_queue(scope, given.bytes(name)?)?;
    put(guest, place, queue.0.to_le_bytes())
}

fn resolve<H: Host>(guest: &mut Guest<'_, H>, vm_id: Region, name: Region, place: u32) -> HostResult {
    let HostCallCx { host, scope, given } = cross(guest)?;
    given.check_room(place, 4)?;
    let queue = host.resolve_queue(scope, given.bytes(vm_id)?, given.bytes(name)?)?;
    put(guest, place, queue.0.to_le_bytes())
}

fn enqueue<H: Host>(guest: &mut Guest<'_, H>, queue: QueueId, item: Region) -> HostResult {
    let HostCallCx { host, scope, given } = cross(guest)?;
    host.enqueue(scope, queue, given.bytes(item)?)
}
