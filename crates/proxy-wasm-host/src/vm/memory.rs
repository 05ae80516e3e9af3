//! Access to a module's memory from host functions.

use std::borrow::Cow;

use wasm_sandbox::{Confined, Region, memory_of};
use wasmtime::Caller;

use crate::abi::{HostResult, Pairs, PairsSize, PairsWriter, Status};
use crate::host::{CallerScope, Host};
use crate::limits::WasmVmLimits;

use super::state::VmState;

/// Caller of a host function.
pub(crate) type Guest<'a, H> = Caller<'a, VmState<H>>;

/// Memory of the calling module; every access is checked.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    memory: &'a [u8],
    limits: &'a WasmVmLimits,
}

impl<'a> Given<'a> {
    /// Returns the bytes of a region, up to the value limit.
    pub(crate) fn bytes(self, region: Region) -> HostResult<&'a [u8]> {
        let bytes = region.of(self.memory)?;
        if bytes.len() > self.limits.value_bytes_max { Err(Status::BadArgument) } else { Ok(bytes) }
    }

    /// Returns a text for people; text beyond the line limit is cut.
    pub(crate) fn line(self, region: Region) -> HostResult<&'a [u8]> {
        let bytes = region.of(self.memory)?;
        Ok(bytes.get(..self.limits.line_bytes_max).unwrap_or(bytes))
    }

    /// Parses a map.
    pub(crate) fn pairs(self, region: Region) -> HostResult<Pairs<'a>> {
        let bytes = region.of(self.memory)?;
        Pairs::parse(bytes, self.limits.map_bytes_max, self.limits.map_pairs_max)
            .map_err(|_| Status::BadArgument)
    }

    /// Checks that `len` bytes can be written at `start`.
    pub(crate) fn check_room(self, start: u32, len: u32) -> HostResult {
        Region::new(start, len).of(self.memory)?;
        Ok(())
    }
}

/// Calls the host from a function that needs an effective context.
pub(crate) fn call_host<H: Host, T>(
    guest: &mut Guest<'_, H>,
    call: impl FnOnce(&mut H, CallerScope, Given<'_>) -> HostResult<T>,
) -> HostResult<T> {
    if guest.data().effective.is_none() {
        return Err(Status::InternalFailure);
    }
    call_host_without_context(guest, call)
}

/// Calls the host from a function that modules may call while they start.
pub(crate) fn call_host_without_context<H: Host, T>(
    guest: &mut Guest<'_, H>,
    call: impl FnOnce(&mut H, CallerScope, Given<'_>) -> HostResult<T>,
) -> HostResult<T> {
    let memory = guest.data().confinement.memory.ok_or(Status::InvalidMemoryAccess)?;
    let (memory, state) = memory.data_and_store_mut(guest);
    let scope = state.scope();
    let host = state.host.as_deref_mut().ok_or(Status::InternalFailure)?;
    call(host, scope, Given { memory, limits: &state.shared.limits })
}

/// Calls the host and writes its answer to `place`, which is checked before the call.
pub(crate) fn return_number<H: Host>(
    guest: &mut Guest<'_, H>,
    place: u32,
    call: impl FnOnce(&mut H, CallerScope, Given<'_>) -> HostResult<u32>,
) -> HostResult {
    let number = call_host(guest, |host, scope, given| {
        given.check_room(place, 4)?;
        call(host, scope, given)
    })?;
    put(guest, place, number.to_le_bytes())
}

/// Writes a number to an address.
pub(crate) fn put<H: Host, const N: usize>(
    guest: &mut Guest<'_, H>,
    start: u32,
    number: [u8; N],
) -> HostResult {
    Ok(wasm_sandbox::put(guest, start, number)?)
}

/// Addresses to which the module wants a result written: the result's address and its length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReturnPointers {
    pub(crate) data: u32,
    pub(crate) size: u32,
}

impl ReturnPointers {
    pub(crate) const fn new(data: u32, size: u32) -> Self {
        Self { data, size }
    }

    fn check(self, memory: &[u8]) -> HostResult {
        Region::new(self.data, 4).of(memory)?;
        Region::new(self.size, 4).of(memory)?;
        Ok(())
    }

    fn put(self, memory: &mut [u8], region: Region) -> HostResult {
        Region::new(self.data, 4).of_mut(memory)?.copy_from_slice(&region.start.to_le_bytes());
        Region::new(self.size, 4).of_mut(memory)?.copy_from_slice(&region.len.to_le_bytes());
        Ok(())
    }
}

/// Passes a value of the host to the module.
pub(crate) fn give<H: Host>(
    guest: &mut Guest<'_, H>,
    place: ReturnPointers,
    call: impl for<'h> FnOnce(&'h mut H, CallerScope, Given<'_>) -> HostResult<Cow<'h, [u8]>>,
) -> wasmtime::Result<HostResult> {
    with_host(guest, place, |guest, host, scope| match call(host, scope, caller_memory(guest)) {
        Ok(value) => return_bytes(guest, place, &value),
        Err(status) => Ok(Err(status)),
    })
}

/// Passes a map of the host to the module.
pub(crate) fn return_map<H: Host>(
    guest: &mut Guest<'_, H>,
    place: ReturnPointers,
    visit: impl Fn(&mut H, CallerScope, &mut dyn FnMut(&[u8], &[u8])) -> HostResult,
) -> wasmtime::Result<HostResult> {
    with_host(guest, place, |guest, host, scope| {
        let mut size = PairsSize::default();
        match visit(host, scope, &mut |key, value| size.add(key, value)) {
            Ok(()) => return_pairs(guest, place, size, |write| visit(host, scope, write)),
            Err(status) => Ok(Err(status)),
        }
    })
}

/// Passes `len` bytes of a host buffer to the module.
pub(crate) fn return_filled<H: Host>(
    guest: &mut Guest<'_, H>,
    place: ReturnPointers,
    len: usize,
    fill: impl FnOnce(&mut H, CallerScope, &mut [u8]) -> HostResult,
) -> wasmtime::Result<HostResult> {
    with_host(guest, place, |guest, host, scope| {
        return_written(guest, place, len, |room| fill(host, scope, room))
    })
}

/// Passes bytes to the module.
pub(crate) fn return_bytes<H: Host>(
    guest: &mut Guest<'_, H>,
    place: ReturnPointers,
    bytes: &[u8],
) -> wasmtime::Result<HostResult> {
    return_written(guest, place, bytes.len(), |room| {
        room.copy_from_slice(bytes);
        Ok(())
    })
}

fn return_pairs<H: Host>(
    guest: &mut Guest<'_, H>,
    place: ReturnPointers,
    size: PairsSize,
    visit: impl FnOnce(&mut dyn FnMut(&[u8], &[u8])) -> HostResult,
) -> wasmtime::Result<HostResult> {
    let limits = &guest.data().shared.limits;
    if size.bytes() > limits.map_bytes_max || size.pairs > limits.map_pairs_max {
        return Ok(Err(Status::InternalFailure));
    }
    return_written(guest, place, size.bytes(), |room| {
        let mut writer = PairsWriter::new(room, size).ok_or(Status::InternalFailure)?;
        visit(&mut |key, value| writer.add(key, value))?;
        if writer.is_whole() { Ok(()) } else { Err(Status::InternalFailure) }
    })
}

/// Allocates memory in the module, fills it and writes back its region. An empty value is returned as address zero.
fn return_written<H: Host>(
    guest: &mut Guest<'_, H>,
    place: ReturnPointers,
    len: usize,
    fill: impl FnOnce(&mut [u8]) -> HostResult,
) -> wasmtime::Result<HostResult> {
    let mut region = Region::new(0, 0);
    if len > 0 {
        if len > guest.data().shared.limits.value_bytes_max {
            return Ok(Err(Status::InternalFailure));
        }
        let Ok(len) = u32::try_from(len) else { return Ok(Err(Status::InternalFailure)) };
        // Taken out meanwhile: the module's allocator must not call host functions that allocate.
        let Some(allocator) = guest.data_mut().allocator.take() else {
            return Ok(Err(Status::InternalFailure));
        };
        let start = allocator.call(&mut *guest, len);
        guest.data_mut().allocator = Some(allocator);
        region = Region::new(start?, len);
    }
    Ok(fill_at(memory_of(guest), place, region, fill))
}

fn fill_at(
    memory: &mut [u8],
    place: ReturnPointers,
    region: Region,
    fill: impl FnOnce(&mut [u8]) -> HostResult,
) -> HostResult {
    if region.len > 0 {
        if region.start == 0 {
            return Err(Status::InvalidMemoryAccess);
        }
        fill(region.of_mut(memory)?)?;
    }
    place.put(memory, region)
}

/// Calls `give`, which passes a result to the module. The host is taken out of the state meanwhile, so that its value
/// can be borrowed instead of copied.
fn with_host<H: Host>(
    guest: &mut Guest<'_, H>,
    place: ReturnPointers,
    give: impl FnOnce(&mut Guest<'_, H>, &mut H, CallerScope) -> wasmtime::Result<HostResult>,
) -> wasmtime::Result<HostResult> {
    if let Err(status) = place.check(memory_of(guest)) {
        return Ok(Err(status));
    }
    let state = guest.data_mut();
    let scope = state.scope();
    let Some(mut host) = state.host.take_if(|_| scope.context.is_some()) else {
        return Ok(Err(Status::InternalFailure));
    };
    let given = give(guest, &mut host, scope);
    let state = guest.data_mut();
    state.host = Some(host);
    state.handle_lines();
    given
}

fn caller_memory<'a, H: Host>(guest: &'a mut Guest<'_, H>) -> Given<'a> {
    let Some(memory) = guest.data().confinement.memory else {
        return Given { memory: &[], limits: &guest.data().shared.limits };
    };
    let (memory, state) = memory.data_and_store_mut(guest);
    Given { memory, limits: &state.shared.limits }
}
