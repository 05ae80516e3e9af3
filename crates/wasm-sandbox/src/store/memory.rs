//! Access to a module's memory from host functions.

use wasmtime::Caller;

use super::confinement::Confined;
use crate::region::{Beyond, Region};

/// Returns the module's memory; empty before the module has one.
pub fn memory_of<'a, T: Confined>(caller: &'a mut Caller<'_, T>) -> &'a mut [u8] {
    match caller.data().confinement().memory {
        Some(memory) => memory.data_mut(caller),
        None => &mut [],
    }
}

/// Writes a number to an address.
///
/// # Errors
/// The address is beyond the module's memory.
pub fn put<T: Confined, const N: usize>(
    caller: &mut Caller<'_, T>,
    start: u32,
    number: [u8; N],
) -> Result<(), Beyond> {
    let len = u32::try_from(N).map_err(|_| Beyond)?;
    Region::new(start, len).of_mut(memory_of(caller))?.copy_from_slice(&number);
    Ok(())
}
