//! Host functions for metrics.

use wasmtime::Linker;

use crate::abi::{HostResult, MetricType, Status, wire};
use crate::host::Host;
use crate::ids::MetricId;
use crate::vm::{Guest, Region, VmState, call_host, put};

use super::table::host_functions;

pub(super) fn define<H: Host>(linker: &mut Linker<VmState<H>>) -> wasmtime::Result<()> {
    host_functions!(linker {
        "proxy_define_metric"(guest, kind, name + name_len, place) =>
            wire(define_metric(guest, kind, name, place));
        "proxy_get_metric"(guest, metric, place) => wire(value(guest, MetricId(metric), place));
    });
    linker.func_wrap("env", "proxy_record_metric", |mut guest: Guest<'_, H>, metric: u32, value: u64| {
        wire(call_host(&mut guest, |host, scope, _| host.record_metric(scope, MetricId(metric), value)))
    })?;
    linker.func_wrap(
        "env",
        "proxy_increment_metric",
        |mut guest: Guest<'_, H>, metric: u32, delta: i64| {
            wire(call_host(&mut guest, |host, scope, _| {
                host.increment_metric(scope, MetricId(metric), delta)
            }))
        },
    )?;
    Ok(())
}

fn define_metric<H: Host>(guest: &mut Guest<'_, H>, kind: u32, name: Region, place: u32) -> HostResult {
    let metric = call_host(guest, |host, scope, given| {
        let kind = MetricType::from_wire(kind).ok_or(Status::BadArgument)?;
        given.check_room(place, 4)?;
        host.define_metric(scope, kind, given.bytes(name)?)
    })?;
    put(guest, place, metric.0.to_le_bytes())
}

fn value<H: Host>(guest: &mut Guest<'_, H>, metric: MetricId, place: u32) -> HostResult {
    let value = call_host(guest, |host, scope, given| {
        given.check_room(place, 8)?;
        host.metric(scope, metric)
    })?;
    put(guest, place, value.to_le_bytes())
}
