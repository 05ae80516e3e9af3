//! `random_get`.

use wasmtime::{Caller, Linker};

use crate::region::Region;
use crate::store::{Confined, memory_of};

use super::errno::{Errno, WasiResult, wire};

pub(super) fn define<T: Confined>(linker: &mut Linker<T>, module: &str) -> wasmtime::Result<()> {
    linker.func_wrap(module, "random_get", |mut caller: Caller<'_, T>, place: u32, len: u32| {
        wire(fill(memory_of(&mut caller), Region::new(place, len)))
    })?;
    Ok(())
}

fn fill(memory: &mut [u8], region: Region) -> WasiResult {
    if region.len > RANDOM_BYTES_MAX {
        return Err(Errno::Invalid);
    }
    let room = region.of_mut(memory)?;
    getrandom::fill(room).map_err(|_| Errno::NotSupported)
}

/// Maximum number of random bytes per call.
const RANDOM_BYTES_MAX: u32 = 64 << 10;
