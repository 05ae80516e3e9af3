//! Host calls of a module: one function that reads an `eddy_question` from the module's memory and writes the result
//! there.
//!
//! It is proxy-wasm's foreign function call, so a module with this import can also be loaded by any proxy-wasm host.

use std::sync::atomic::Ordering::Relaxed;

use eddy_filter::{
    CallBond, EDITS_BYTES_MAX, FilterLogLevel, FilterOutboundRequest, Handle, HostApi, HostError,
    METRIC_TEXT_BYTES_MAX, MetricKind, Verdict,
};
use eddy_ids::Millis;
use wasmtime::{Caller, Linker};

use super::image::GuestMemoryReader;
use super::inside::{GuestMetric, Inside};
use crate::guest::index_of;
use crate::native::abi;
use crate::native::host::{
    BOUNDS_MAX, HEAD_BYTES_MAX, NAME_BYTES_MAX, OUTBOUND_FIELDS_MAX, RECORD_BYTES_MAX,
};

/// Defines the function.
///
/// # Errors
/// The linker already has the name, which would be a bug in eddy.
pub(super) fn define(linker: &mut Linker<Inside>) -> wasmtime::Result<()> {
    linker.func_wrap(
        MODULE,
        FUNCTION,
        |mut caller: Caller<'_, Inside>, name: u32, name_len: u32, at: u32, len: u32, _: u32, _: u32| {
            let (memory, inside) = Inside::split(&mut caller);
            let is_ours = GuestMemoryReader(memory).bytes(u64::from(name), u64::from(name_len)) == Some(NAME);
            if !is_ours || len < QUESTION_BYTES {
                return NO_SUCH_FUNCTION;
            }
            let (handle, result) = match inside.answer(GuestMemoryReader(memory), u64::from(at)) {
                Ok(handle) => (handle, abi::OK),
                Err(error) => (None, error as i32),
            };
            put(memory, at as usize + RESULT, &result.to_le_bytes());
            if let Some(handle) = handle {
                put(memory, at as usize + HANDLE, &handle.to_le_bytes());
            }
            DONE
        },
    )?;
    Ok(())
}

fn put(memory: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(to) = memory.get_mut(at..at.saturating_add(bytes.len())) {
        to.copy_from_slice(bytes);
    }
}

impl Inside {
    /// Performs a host call; returns the number of the created object, if any.
    fn answer(&mut self, memory: GuestMemoryReader<'_>, at: u64) -> Result<Option<u64>, HostError> {
        let (what, filter) = (memory.u32(at), memory.u32(at + 8));
        let (number, handle) = (memory.u32(at + 12), memory.u64(at + HANDLE as u64));
        let (value, text, more) = (memory.u64(at + 24), at + 32, at + 48);
        match what {
            RESUME => {
                let edits = memory.text(text, EDITS_BYTES_MAX).ok_or(HostError::TooLarge)?;
                let verdict = u32::try_from(value).ok().and_then(Verdict::from_number);
                let exchange = Handle::from_number(handle);
                self.host.resume(exchange, number, verdict.ok_or(HostError::Invalid)?, edits)?;
            }
            LOG => {
                let level = FilterLogLevel::from_number(number).ok_or(HostError::Invalid)?;
                let len = memory.u64(text + 8).min(RECORD_BYTES_MAX as u64);
                let record = memory.bytes(memory.u64(text), len).ok_or(HostError::Invalid)?;
                self.host.log(filter, level, record)?;
            }
            METRIC => {
                let name = memory.text(text, METRIC_TEXT_BYTES_MAX).ok_or(HostError::Invalid)?;
                let bounds = memory.text(more, 8 * BOUNDS_MAX).ok_or(HostError::Invalid)?;
                let bounds = bounds.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
                return self.define(filter, number, name, bounds).map(Some);
            }
            METRIC_ADD => {
                let cells = self.counted(handle)?.cells(self.worker);
                cells.first().ok_or(HostError::Invalid)?.fetch_add(value, Relaxed);
            }
            METRIC_OBSERVE => {
                let counted = self.counted(handle)?;
                let bucket = counted.bounds.iter().take_while(|bound| **bound < value).count();
                let cells = counted.cells(self.worker);
                for (index, more) in [(bucket, 1), (counted.bounds.len() + 1, value)] {
                    cells.get(index).ok_or(HostError::Invalid)?.fetch_add(more, Relaxed);
                }
            }
            SEND => send(&*self.host, memory, memory.u64(text))?,
            CANCEL => self.host.cancel(filter, handle)?,
            _ => return Err(HostError::Invalid),
        }
        Ok(None)
    }

    fn define(&mut self, filter: u32, kind: u32, name: &[u8], bounds: Vec<u64>) -> Result<u64, HostError> {
        let kind = MetricKind::from_number(kind).ok_or(HostError::Invalid)?;
        let name = str::from_utf8(name).map_err(|_| HostError::Invalid)?;
        if self.metrics.len() >= METRICS_MAX {
            return Err(HostError::Full);
        }
        let metric = self.host.metrics().define(filter, kind, name, &bounds)?;
        self.metrics.push(GuestMetric { metric, bounds });
        Ok(self.metrics.len() as u64)
    }

    fn counted(&self, number: u64) -> Result<&GuestMetric, HostError> {
        index_of(number).and_then(|index| self.metrics.get(index)).ok_or(HostError::Unknown)
    }
}

impl GuestMetric {
    /// Returns the cells of a worker's lane.
    fn cells(&self, worker: u16) -> &'static [std::sync::atomic::AtomicU64] {
        self.metric.cells.get(usize::from(worker) * self.metric.stride..).unwrap_or_default()
    }
}

/// Sends the request described by an `eddy_outbound` in the module's memory.
fn send(host: &dyn HostApi, memory: GuestMemoryReader<'_>, at: u64) -> Result<(), HostError> {
    use std::mem::offset_of;
    let text = |offset: usize, max: usize| memory.text(at + offset as u64, max).ok_or(HostError::TooLarge);
    let number = |offset: usize| memory.u32(at + offset as u64);
    let long = |offset: usize| memory.u64(at + offset as u64);
    let count = number(offset_of!(abi::NativeOutbound, fields_len)) as usize;
    if count > OUTBOUND_FIELDS_MAX {
        return Err(HostError::TooLarge);
    }
    let table = long(offset_of!(abi::NativeOutbound, fields));
    let mut fields = Vec::with_capacity(count);
    for index in 0..count as u64 {
        let name = table + index * 2 * size_of::<abi::NativeText>() as u64;
        let value = name + size_of::<abi::NativeText>() as u64;
        let part = |at| memory.text(at, HEAD_BYTES_MAX).ok_or(HostError::TooLarge);
        fields.push((part(name)?, part(value)?));
    }
    let cluster =
        text(offset_of!(abi::NativeOutbound, cluster), NAME_BYTES_MAX).map_err(|_| HostError::Unknown)?;
    let exchange = long(offset_of!(abi::NativeOutbound, exchange));
    host.send(&FilterOutboundRequest {
        filter: number(offset_of!(abi::NativeOutbound, filter)),
        token: long(offset_of!(abi::NativeOutbound, token)),
        exchange: (exchange != 0).then(|| Handle::from_number(exchange)),
        bond: CallBond::Awaited,
        cluster: str::from_utf8(cluster).map_err(|_| HostError::Unknown)?,
        method: text(offset_of!(abi::NativeOutbound, method), HEAD_BYTES_MAX)?,
        target: text(offset_of!(abi::NativeOutbound, target), HEAD_BYTES_MAX)?,
        authority: text(offset_of!(abi::NativeOutbound, authority), HEAD_BYTES_MAX)?,
        fields,
        body: text(offset_of!(abi::NativeOutbound, body), EDITS_BYTES_MAX)?,
        timeout: Millis::new(number(offset_of!(abi::NativeOutbound, timeout_ms)).into()),
    })
}

/// Module that the function is imported from.
const MODULE: &str = "env";
/// Name of the function in proxy-wasm.
const FUNCTION: &str = "proxy_call_foreign_function";
/// Name of the foreign function.
const NAME: &[u8] = b"eddy_abi_1";
/// proxy-wasm statuses of a successful call and of an unknown foreign function.
const DONE: u32 = 0;
const NO_SUCH_FUNCTION: u32 = 1;

/// `eddy_question`: its size and the offsets of its results.
const QUESTION_BYTES: u32 = 64;
const RESULT: usize = 4;
const HANDLE: usize = 16;
const RESUME: u32 = 1;
const LOG: u32 = 2;
const METRIC: u32 = 3;
const METRIC_ADD: u32 = 4;
const METRIC_OBSERVE: u32 = 5;
const SEND: u32 = 6;
const CANCEL: u32 = 7;

/// Maximum number of metrics of all filters of a module.
const METRICS_MAX: usize = 4096;
