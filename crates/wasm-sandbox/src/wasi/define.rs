//! Registration of all WASI functions.

use wasmtime::{Caller, Linker};

use crate::ending::Exit;
use crate::store::Confined;

use super::{clocks, descriptors, environment, poll, print, random, refusals};

/// Defines every function of WASI preview 1 under a module name.
///
/// # Errors
/// The linker already has one of them.
pub fn define<T: Confined>(linker: &mut Linker<T>, module: &str) -> wasmtime::Result<()> {
    environment::define(linker, module)?;
    clocks::define(linker, module)?;
    random::define(linker, module)?;
    print::define(linker, module)?;
    descriptors::define(linker, module)?;
    poll::define(linker, module)?;
    refusals::define(linker, module)?;
    linker.func_wrap(module, "sched_yield", |_: Caller<'_, T>| 0_u32)?;
    linker.func_wrap(module, "proc_exit", |_: Caller<'_, T>, code: u32| -> wasmtime::Result<()> {
        Err(wasmtime::Error::from(Exit(code)))
    })?;
    Ok(())
}
