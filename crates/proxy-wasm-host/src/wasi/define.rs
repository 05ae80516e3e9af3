//! All functions of WASI, one family after the other.

use wasmtime::Linker;

use crate::fault::Exit;
use crate::host::Host;
use crate::vm::{Guest, State};

use super::{clocks, descriptors, environment, poll, print, random, refusals};

/// Defines every function under a module's name.
pub(crate) fn define<H: Host>(linker: &mut Linker<State<H>>, module: &str) -> wasmtime::Result<()> {
    environment::define(linker, module)?;
    clocks::define(linker, module)?;
    random::define(linker, module)?;
    print::define(linker, module)?;
    descriptors::define(linker, module)?;
    poll::define(linker, module)?;
    refusals::define(linker, module)?;
    linker.func_wrap(module, "sched_yield", |_: Guest<'_, H>| 0_u32)?;
    linker.func_wrap(module, "proc_exit", |_: Guest<'_, H>, code: u32| -> wasmtime::Result<()> {
        Err(wasmtime::Error::from(Exit(code)))
    })?;
    Ok(())
}
