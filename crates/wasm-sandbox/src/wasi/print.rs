//! `fd_write` to standard output and standard error.

use wasmtime::{Caller, Linker};

use crate::region::Region;
use crate::store::{Confined, Output, put};

use super::errno::{Errno, WasiResult, wire};

pub(super) fn define<T: Confined>(linker: &mut Linker<T>, module: &str) -> wasmtime::Result<()> {
    linker.func_wrap(
        module,
        "fd_write",
        |mut caller: Caller<'_, T>, descriptor: u32, pieces: u32, count: u32, written: u32| {
            wire(write(&mut caller, descriptor, Pieces { start: pieces, count }, written))
        },
    )?;
    Ok(())
}

/// List of regions in a module's memory (`ciovec` array).
struct Pieces {
    start: u32,
    count: u32,
}

impl Pieces {
    fn read(&self, memory: &[u8]) -> WasiResult<Vec<Region>> {
        if self.count > PIECES_MAX {
            return Err(Errno::Invalid);
        }
        let list = Region::new(self.start, self.count * 8).of(memory)?;
        let (pairs, _) = list.as_chunks::<8>();
        let regions = pairs.iter().map(|[a, b, c, d, e, f, g, h]| {
            Region::new(u32::from_le_bytes([*a, *b, *c, *d]), u32::from_le_bytes([*e, *f, *g, *h]))
        });
        Ok(regions.collect())
    }
}

fn write<T: Confined>(
    caller: &mut Caller<'_, T>,
    descriptor: u32,
    pieces: Pieces,
    written_place: u32,
) -> WasiResult {
    let output = match descriptor {
        1 => Output::Stdout,
        2 => Output::Stderr,
        _ => return Err(Errno::BadDescriptor),
    };
    let Some(memory) = caller.data().confinement().memory else { return Err(Errno::Fault) };
    let (memory, confined) = memory.data_and_store_mut(&mut *caller);
    Region::new(written_place, 4).of(memory)?;
    let regions = pieces.read(memory)?;
    let mut written: u32 = 0;
    for region in &regions {
        region.of(memory)?;
        written = written.checked_add(region.len).ok_or(Errno::Invalid)?;
    }
    for region in regions {
        let bytes = region.of(memory)?;
        confined.confinement_mut().take_printed(output, bytes);
    }
    confined.handle_lines();
    Ok(put(caller, written_place, written.to_le_bytes())?)
}

/// Maximum number of buffers per write.
const PIECES_MAX: u32 = 1_024;
