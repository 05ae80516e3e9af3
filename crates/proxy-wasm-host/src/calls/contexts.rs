//! Host functions that select the effective context and finish contexts.

use wasmtime::Linker;

use crate::abi::{HostResult, Status, wire};
use crate::host::Host;
use crate::ids::ContextId;
use crate::vm::{Guest, VmState};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_set_effective_context"(guest, context) =>
            wire(set_effective(guest.data_mut(), ContextId(context)));
        "proxy_done"(guest) => wire(done(guest.data_mut()));
    });
    Ok(())
}

fn set_effective<H>(state: &mut VmState<H>, context: ContextId) -> HostResult {
    if !state.contexts.has(context) {
        return Err(Status::BadArgument);
    }
    // While the module starts there is no effective context, and no context ID that the module could know.
    state.effective = Some(context);
    Ok(())
}

fn done<H>(state: &mut VmState<H>) -> HostResult {
    let context = state.effective.ok_or(Status::NotFound)?;
    if state.contexts.finish(context) { Ok(()) } else { Err(Status::NotFound) }
}
