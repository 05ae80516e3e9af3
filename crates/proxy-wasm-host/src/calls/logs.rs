//! Host functions for logging, time and ticks.

use std::time::Duration;

use wasmtime::Linker;

use crate::abi::{HostResult, LogLevel, Status, wire};
use crate::host::Host;
use crate::vm::{Guest, Region, VmState, call_host, call_host_without_context, put};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_log"(guest, level, text + len) => wire(log(guest, level, text));
        "proxy_get_log_level"(guest, level) => wire(log_level(guest, level));
        "proxy_get_current_time_nanoseconds"(guest, time) => wire(current_time(guest, time));
        "proxy_set_tick_period_milliseconds"(guest, period) => wire(set_tick_period(guest, period));
    });
    Ok(())
}

fn log<H: Host>(guest: &mut Guest<'_, H>, level: u32, text: Region) -> HostResult {
    call_host_without_context(guest, |host, scope, given| {
        let level = LogLevel::from_wire(level).ok_or(Status::BadArgument)?;
        host.log(scope, level, given.line(text)?);
        Ok(())
    })
}

fn log_level<H: Host>(guest: &mut Guest<'_, H>, place: u32) -> HostResult {
    let level = call_host_without_context(guest, |host, scope, _| Ok(host.log_level(scope)))?;
    put(guest, place, level.wire().to_le_bytes())
}

fn current_time<H: Host>(guest: &mut Guest<'_, H>, place: u32) -> HostResult {
    let time = guest.data().confinement.sandbox.clock.realtime();
    let nanoseconds = u64::try_from(time.as_nanos()).map_err(|_| Status::InternalFailure)?;
    put(guest, place, nanoseconds.to_le_bytes())
}

fn set_tick_period<H: Host>(guest: &mut Guest<'_, H>, milliseconds: u32) -> HostResult {
    let period = (milliseconds > 0).then(|| Duration::from_millis(u64::from(milliseconds)));
    call_host(guest, |host, scope, _| host.set_tick_period(scope, period))
}
