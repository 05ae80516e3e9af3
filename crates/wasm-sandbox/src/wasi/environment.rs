//! WASI functions for arguments, which are always empty, and the environment.

use wasmtime::{Caller, Linker};

use crate::region::Region;
use crate::store::{Confined, memory_of, put};

use super::errno::{Errno, WasiResult, wire};

pub(super) fn define<T: Confined>(linker: &mut Linker<T>, module: &str) -> wasmtime::Result<()> {
    linker.func_wrap(module, "args_sizes_get", |mut caller: Caller<'_, T>, count: u32, bytes: u32| {
        wire(sizes(&mut caller, count, bytes, &[]))
    })?;
    linker.func_wrap(module, "args_get", |_: Caller<'_, T>, _: u32, _: u32| 0_u32)?;
    linker.func_wrap(module, "environ_sizes_get", |mut caller: Caller<'_, T>, count: u32, bytes: u32| {
        let entries = entries(caller.data());
        wire(sizes(&mut caller, count, bytes, &entries))
    })?;
    linker.func_wrap(module, "environ_get", |mut caller: Caller<'_, T>, pointers: u32, texts: u32| {
        let entries = entries(caller.data());
        wire(write(memory_of(&mut caller), pointers, texts, &entries))
    })?;
    Ok(())
}

/// Returns the environment entries as `name=value`, each terminated by a zero byte.
fn entries(confined: &impl Confined) -> Vec<String> {
    let environment = confined.confinement().sandbox.environment.iter();
    let sound = environment.filter(|(name, value)| !name.contains(['=', '\0']) && !value.contains('\0'));
    sound.map(|(name, value)| format!("{name}={value}\0")).collect()
}

fn sizes<T: Confined>(
    caller: &mut Caller<'_, T>,
    count_place: u32,
    bytes_place: u32,
    entries: &[String],
) -> WasiResult {
    let count = u32::try_from(entries.len()).map_err(|_| Errno::Invalid)?;
    let bytes: usize = entries.iter().map(String::len).sum();
    let bytes = u32::try_from(bytes).map_err(|_| Errno::Invalid)?;
    put(caller, count_place, count.to_le_bytes())?;
    Ok(put(caller, bytes_place, bytes.to_le_bytes())?)
}

fn write(memory: &mut [u8], pointers: u32, texts: u32, entries: &[String]) -> WasiResult {
    let (mut pointer, mut text) = (pointers, texts);
    for entry in entries {
        let len = u32::try_from(entry.len()).map_err(|_| Errno::Invalid)?;
        let place = Region::new(pointer, 4).of_mut(memory)?;
        place.copy_from_slice(&text.to_le_bytes());
        let place = Region::new(text, len).of_mut(memory)?;
        place.copy_from_slice(entry.as_bytes());
        pointer = pointer.checked_add(4).ok_or(Errno::Fault)?;
        text = text.checked_add(len).ok_or(Errno::Fault)?;
    }
    Ok(())
}
