//! Host functions for buffers: bodies, TCP data, messages and configurations.

use std::ops::Range;
use std::sync::Arc;

use wasmtime::Linker;

use crate::abi::{BufferType, Callback, HostResult, Status, wire};
use crate::host::Host;
use crate::vm::{Guest, Region, ReturnPointers, VmState, call_host, put, return_bytes, return_filled};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_get_buffer_bytes"(guest, buffer, start + len_max, data, size) =>
            bytes(guest, buffer, start, ReturnPointers::new(data, size)).map(wire);
        "proxy_set_buffer_bytes"(guest, buffer, start + len, bytes + bytes_len) =>
            wire(set_bytes(guest, buffer, start, bytes));
        "proxy_get_buffer_status"(guest, buffer, size, flags) => wire(status(guest, buffer, size, flags));
        "proxy_get_configuration"(guest, data, size) =>
            configuration(guest, ReturnPointers::new(data, size)).map(wire);
    });
    Ok(())
}

fn buffer_type(number: u32) -> HostResult<BufferType> {
    BufferType::from_wire(number).ok_or(Status::BadArgument)
}

fn bytes<H: Host>(
    guest: &mut Guest<'_, H>,
    buffer: u32,
    wanted: Region,
    place: ReturnPointers,
) -> wasmtime::Result<HostResult> {
    let (buffer, range) = match find(guest, buffer, wanted) {
        Ok(found) => found,
        Err(status) => return Ok(Err(status)),
    };
    if let Some(own) = own_buffer(guest.data(), buffer) {
        return return_bytes(guest, place, own.get(range).unwrap_or_default());
    }
    return_filled(guest, place, range.len(), |host, scope, into| {
        host.buffer_read(scope, buffer, range.start, into)
    })
}

/// Clips the requested range to the part of the buffer that exists.
fn find<H: Host>(
    guest: &mut Guest<'_, H>,
    buffer: u32,
    wanted: Region,
) -> HostResult<(BufferType, Range<usize>)> {
    let buffer = buffer_type(buffer)?;
    let size = buffer_size(guest, buffer)?;
    let start = usize::try_from(wanted.start).map_err(|_| Status::BadArgument)?;
    let len = usize::try_from(wanted.len).map_err(|_| Status::BadArgument)?;
    if start > size || wanted.start.checked_add(wanted.len).is_none() && wanted.len != u32::MAX {
        return Err(Status::BadArgument);
    }
    Ok((buffer, start..start.saturating_add(len).min(size)))
}

fn buffer_size<H: Host>(guest: &mut Guest<'_, H>, buffer: BufferType) -> HostResult<usize> {
    let own = own_buffer(guest.data(), buffer).map(|own| own.len());
    call_host(guest, |host, scope, _| own.map_or_else(|| host.buffer_size(scope, buffer), Ok))
}

/// Returns a buffer that the VM itself provides.
fn own_buffer<H: Host>(state: &VmState<H>, buffer: BufferType) -> Option<Arc<[u8]>> {
    match buffer {
        BufferType::VmConfiguration => Some(Arc::clone(&state.vm_configuration)),
        BufferType::PluginConfiguration => {
            Some(state.effective.map(|context| state.contexts.configuration(context)).unwrap_or_default())
        }
        BufferType::ForeignFunctionArguments => Some(Arc::clone(&state.foreign_arguments)),
        BufferType::HttpRequestBody
        | BufferType::HttpResponseBody
        | BufferType::DownstreamData
        | BufferType::UpstreamData
        | BufferType::HttpCallResponseBody
        | BufferType::GrpcCallMessage => None,
    }
}

fn set_bytes<H: Host>(guest: &mut Guest<'_, H>, buffer: u32, replaced: Region, bytes: Region) -> HostResult {
    let buffer = buffer_type(buffer)?;
    if own_buffer(guest.data(), buffer).is_some() {
        return Err(Status::BadArgument);
    }
    call_host(guest, |host, scope, given| {
        let bytes = given.bytes(bytes)?;
        let size = host.buffer_size(scope, buffer)?;
        let start = usize::try_from(replaced.start).map_or(size, |start| start.min(size));
        let end = usize::try_from(replaced.len).map_or(size, |len| start.saturating_add(len).min(size));
        host.buffer_replace(scope, buffer, start..end, bytes)
    })
}

fn status<H: Host>(guest: &mut Guest<'_, H>, buffer: u32, place: u32, flags: u32) -> HostResult {
    let size = buffer_size(guest, buffer_type(buffer)?)?;
    let size = u32::try_from(size).map_err(|_| Status::InternalFailure)?;
    call_host(guest, |_, _, given| given.check_room(flags, 4))?;
    put(guest, place, size.to_le_bytes())?;
    put(guest, flags, 0_u32.to_le_bytes())
}

/// Returns the configuration for the current callback (0.1.0 modules only).
fn configuration<H: Host>(guest: &mut Guest<'_, H>, place: ReturnPointers) -> wasmtime::Result<HostResult> {
    if let Err(status) = call_host(guest, |_, _, _| Ok(())) {
        return Ok(Err(status));
    }
    let buffer = match guest.data().callback {
        Some(Callback::VmStart) => BufferType::VmConfiguration,
        _ => BufferType::PluginConfiguration,
    };
    let own = own_buffer(guest.data(), buffer).unwrap_or_default();
    return_bytes(guest, place, &own)
}
