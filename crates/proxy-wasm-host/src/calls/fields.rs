//! Host functions for maps: headers, trailers and metadata.

use std::borrow::Cow;

use wasmtime::Linker;

use crate::abi::{AbiVersion, HostResult, MapType, PairsSize, Status, wire};
use crate::host::Host;
use crate::vm::{Guest, Region, ReturnPointers, VmState, call_host, give, put, return_map};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_get_header_map_size"(guest, map, size) => wire(map_size(guest, map, size));
        "proxy_get_header_map_pairs"(guest, map, data, size) =>
            pairs(guest, map, ReturnPointers::new(data, size)).map(wire);
        "proxy_set_header_map_pairs"(guest, map, pairs + len) =>
            wire(call_host(guest, |host, scope, given| {
                host.map_set(scope, map_type(map)?, given.pairs(pairs)?)
            }));
        "proxy_get_header_map_value"(guest, map, key + key_len, data, size) =>
            value(guest, map, key, ReturnPointers::new(data, size)).map(wire);
        "proxy_add_header_map_value"(guest, map, key + key_len, value + value_len) =>
            wire(call_host(guest, |host, scope, given| {
                host.map_add(scope, map_type(map)?, given.bytes(key)?, given.bytes(value)?)
            }));
        "proxy_replace_header_map_value"(guest, map, key + key_len, value + value_len) =>
            wire(call_host(guest, |host, scope, given| {
                host.map_replace(scope, map_type(map)?, given.bytes(key)?, given.bytes(value)?)
            }));
        "proxy_remove_header_map_value"(guest, map, key + key_len) =>
            wire(call_host(guest, |host, scope, given| {
                host.map_remove(scope, map_type(map)?, given.bytes(key)?)
            }));
    });
    Ok(())
}

fn map_type(number: u32) -> HostResult<MapType> {
    MapType::from_wire(number).ok_or(Status::BadArgument)
}

fn map_size<H: Host>(guest: &mut Guest<'_, H>, map: u32, place: u32) -> HostResult {
    let size = call_host(guest, |host, scope, given| {
        let map = map_type(map)?;
        given.check_room(place, 4)?;
        let mut size = PairsSize::default();
        host.map_visit(scope, map, &mut |key, value| size.add(key, value))?;
        Ok(size)
    })?;
    let bytes = u32::try_from(size.bytes()).map_err(|_| Status::InternalFailure)?;
    put(guest, place, bytes.to_le_bytes())
}

fn pairs<H: Host>(guest: &mut Guest<'_, H>, map: u32, place: ReturnPointers) -> wasmtime::Result<HostResult> {
    match map_type(map) {
        Ok(map) => return_map(guest, place, |host, scope, visit| host.map_visit(scope, map, visit)),
        Err(status) => Ok(Err(status)),
    }
}

fn value<H: Host>(
    guest: &mut Guest<'_, H>,
    map: u32,
    key: Region,
    place: ReturnPointers,
) -> wasmtime::Result<HostResult> {
    let map = match map_type(map) {
        Ok(map) => map,
        Err(status) => return Ok(Err(status)),
    };
    // Modules built for 0.1.0 treat every status except success as a failure.
    let is_empty_if_missing = guest.data().shared.module.abi_version() == AbiVersion::V0_1_0;
    give(guest, place, |host, scope, given| match host.map_value(scope, map, given.bytes(key)?)? {
        Some(value) => Ok(value),
        None if is_empty_if_missing => Ok(Cow::Borrowed(&[])),
        None => Err(Status::NotFound),
    })
}
