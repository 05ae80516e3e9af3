//! WASI functions for the three standard file descriptors.

use wasmtime::{Caller, Linker};

use crate::region::Region;
use crate::store::{Confined, memory_of, put};

use super::errno::{Errno, WasiResult, wire};

pub(super) fn define<T: Confined>(linker: &mut Linker<T>, module: &str) -> wasmtime::Result<()> {
    linker.func_wrap(module, "fd_close", |_: Caller<'_, T>, descriptor: u32| wire(check(descriptor)))?;
    linker.func_wrap(module, "fd_fdstat_get", |mut caller: Caller<'_, T>, descriptor: u32, place: u32| {
        wire(describe(memory_of(&mut caller), descriptor, place))
    })?;
    linker.func_wrap(module, "fd_fdstat_set_flags", |_: Caller<'_, T>, descriptor: u32, _: u32| {
        wire(check(descriptor))
    })?;
    linker.func_wrap(
        module,
        "fd_filestat_get",
        |mut caller: Caller<'_, T>, descriptor: u32, place: u32| {
            wire(describe_file(memory_of(&mut caller), descriptor, place))
        },
    )?;
    linker.func_wrap(
        module,
        "fd_read",
        |mut caller: Caller<'_, T>, descriptor: u32, _: u32, _: u32, read: u32| {
            wire(read_nothing(&mut caller, descriptor, read))
        },
    )?;
    linker.func_wrap(module, "fd_seek", |_: Caller<'_, T>, descriptor: u32, _: i64, _: u32, _: u32| {
        wire(check(descriptor).and(Err(Errno::NoSeek)))
    })?;
    linker.func_wrap(module, "fd_tell", |_: Caller<'_, T>, descriptor: u32, _: u32| {
        wire(check(descriptor).and(Err(Errno::NoSeek)))
    })?;
    Ok(())
}

/// Checks that a descriptor is standard input, output or error; there are no others.
pub(super) fn check(descriptor: u32) -> WasiResult {
    if descriptor <= 2 { Ok(()) } else { Err(Errno::BadDescriptor) }
}

fn describe(memory: &mut [u8], descriptor: u32, place: u32) -> WasiResult {
    check(descriptor)?;
    let room = Region::new(place, 24).of_mut(memory)?;
    let rights = if descriptor == 0 { RIGHT_READ } else { RIGHT_WRITE };
    room.fill(0);
    if let [kind, _, _, _, _, _, _, _, base, ..] = room {
        *kind = CHARACTER_DEVICE;
        *base = rights;
    }
    Ok(())
}

fn describe_file(memory: &mut [u8], descriptor: u32, place: u32) -> WasiResult {
    check(descriptor)?;
    let room = Region::new(place, 64).of_mut(memory)?;
    room.fill(0);
    if let Some(kind) = room.get_mut(16) {
        *kind = CHARACTER_DEVICE;
    }
    Ok(())
}

/// Reads from standard input, which is always at its end.
fn read_nothing<T: Confined>(caller: &mut Caller<'_, T>, descriptor: u32, place: u32) -> WasiResult {
    if descriptor != 0 {
        return Err(Errno::BadDescriptor);
    }
    Ok(put(caller, place, 0_u32.to_le_bytes())?)
}

const CHARACTER_DEVICE: u8 = 2;
const RIGHT_READ: u8 = 1 << 1;
const RIGHT_WRITE: u8 = 1 << 6;
