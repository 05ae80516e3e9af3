//! WASI clock functions.

use std::time::Duration;

use wasmtime::{Caller, Linker};

use crate::store::{Confined, put};

use super::errno::{Errno, WasiResult, wire};
use super::sandbox::WasiClock;

pub(super) fn define<T: Confined>(linker: &mut Linker<T>, module: &str) -> wasmtime::Result<()> {
    linker.func_wrap(
        module,
        "clock_time_get",
        |mut caller: Caller<'_, T>, clock: u32, _: u64, place: u32| {
            let time = time(&*caller.data().confinement().sandbox.clock, clock);
            wire(tell(&mut caller, time, place))
        },
    )?;
    linker.func_wrap(module, "clock_res_get", |mut caller: Caller<'_, T>, clock: u32, place: u32| {
        let clocks = &caller.data().confinement().sandbox.clock;
        let resolution = time(&**clocks, clock).map(|_| clocks.resolution());
        wire(tell(&mut caller, resolution, place))
    })?;
    Ok(())
}

fn time(clocks: &dyn WasiClock, clock: u32) -> WasiResult<Duration> {
    match clock {
        0 => Ok(clocks.realtime()),
        1 => Ok(clocks.monotonic()),
        _ => Err(Errno::NotSupported),
    }
}

fn tell<T: Confined>(caller: &mut Caller<'_, T>, time: WasiResult<Duration>, place: u32) -> WasiResult {
    let nanoseconds = u64::try_from(time?.as_nanos()).map_err(|_| Errno::Invalid)?;
    Ok(put(caller, place, nanoseconds.to_le_bytes())?)
}
