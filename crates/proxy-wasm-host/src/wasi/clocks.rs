//! What time it is.

use std::time::Duration;

use wasmtime::Linker;

use crate::host::Host;
use crate::vm::{Guest, State, put};

use super::clock::Clock;
use super::errno::{Done, Errno, wire};

pub(super) fn define<H: Host>(linker: &mut Linker<State<H>>, module: &str) -> wasmtime::Result<()> {
    linker.func_wrap(
        module,
        "clock_time_get",
        |mut guest: Guest<'_, H>, clock: u32, _: u64, place: u32| {
            let time = time(&*guest.data().shared.sandbox.clock, clock);
            wire(tell(&mut guest, time, place))
        },
    )?;
    linker.func_wrap(module, "clock_res_get", |mut guest: Guest<'_, H>, clock: u32, place: u32| {
        let clocks = &guest.data().shared.sandbox.clock;
        let resolution = time(&**clocks, clock).map(|_| clocks.resolution());
        wire(tell(&mut guest, resolution, place))
    })?;
    Ok(())
}

fn time(clocks: &dyn Clock, clock: u32) -> Done<Duration> {
    match clock {
        0 => Ok(clocks.realtime()),
        1 => Ok(clocks.monotonic()),
        _ => Err(Errno::NotSupported),
    }
}

fn tell<H: Host>(guest: &mut Guest<'_, H>, time: Done<Duration>, place: u32) -> Done {
    let nanoseconds = u64::try_from(time?.as_nanos()).map_err(|_| Errno::Invalid)?;
    put(guest, place, nanoseconds.to_le_bytes()).map_err(|_| Errno::Fault)
}
