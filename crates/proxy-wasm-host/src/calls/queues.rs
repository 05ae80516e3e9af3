//! Host functions for shared queues.

use wasmtime::Linker;

use crate::abi::wire;
use crate::host::Host;
use crate::ids::QueueId;
use crate::vm::{Guest, Region, ReturnPointers, VmState, call_host, give, return_number};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_register_shared_queue"(guest, name + name_len, place) =>
            wire(return_number(guest, place, |host, scope, given| {
                host.register_queue(scope, given.bytes(name)?).map(|queue| queue.0)
            }));
        "proxy_resolve_shared_queue"(guest, vm_id + vm_id_len, name + name_len, place) =>
            wire(return_number(guest, place, |host, scope, given| {
                host.resolve_queue(scope, given.bytes(vm_id)?, given.bytes(name)?).map(|queue| queue.0)
            }));
        "proxy_enqueue_shared_queue"(guest, queue, item + item_len) =>
            wire(call_host(guest, |host, scope, given| {
                host.enqueue(scope, QueueId(queue), given.bytes(item)?)
            }));
        "proxy_dequeue_shared_queue"(guest, queue, data, size) =>
            give(guest, ReturnPointers::new(data, size), |host, scope, _| host.dequeue(scope, QueueId(queue)))
                .map(wire);
    });
    Ok(())
}
