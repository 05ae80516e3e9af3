//! Host functions for shared queues.

use wasmtime::Linker;

use crate::abi::{HostResult, wire};
use crate::host::Host;
use crate::ids::QueueId;
use crate::vm::{Guest, HostCallCx, Region, ReturnPointers, VmState, cross, give, put};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_register_shared_queue"(guest, name + name_len, place) => wire(register(guest, name, place));
        "proxy_resolve_shared_queue"(guest, vm_id + vm_id_len, name + name_len, place) =>
            wire(resolve(guest, vm_id, name, place));
        "proxy_enqueue_shared_queue"(guest, queue, item + item_len) =>
            wire(enqueue(guest, QueueId(queue), item));
        "proxy_dequeue_shared_queue"(guest, queue, data, size) =>
            give(guest, ReturnPointers::new(data, size), |host, scope, _| host.dequeue(scope, QueueId(queue)))
                .map(wire);
    });
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
