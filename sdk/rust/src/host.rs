//! Functions of the host.

use std::sync::atomic::{AtomicPtr, Ordering};

use crate::abi;

/// The host that opened the library.
static HOST: AtomicPtr<abi::AbiHost> = AtomicPtr::new(std::ptr::null_mut());

/// Stores the host.
///
/// # Safety
/// `host` is null or points to the host's function table, which is valid as long as the process lives.
pub(crate) unsafe fn keep(host: *const abi::AbiHost) {
    HOST.store(host.cast_mut(), Ordering::Release);
}

/// Returns the host; `None` if no host has opened the library.
pub(crate) fn host() -> Option<&'static abi::AbiHost> {
    let host = HOST.load(Ordering::Acquire);
    // SAFETY: null, or a table that lives as long as the process (see `keep`).
    unsafe { host.as_ref() }
}

/// Returns the number of the host's workers.
pub(crate) fn workers() -> u32 {
    host().map_or(0, |host| host.workers)
}

/// Resumes a paused exchange.
pub(crate) fn resume(exchange: u64, turn: u32, verdict: u8, edits: &[u8]) -> i32 {
    let Some(host) = host() else { return abi::GONE };
    let Ok(len) = u32::try_from(edits.len()) else { return abi::TOO_LARGE };
    // SAFETY: the host copies `len` bytes, which are valid, before it returns.
    unsafe { (host.resume)(exchange, turn, u32::from(verdict), edits.as_ptr(), len) }
}

/// Writes to eddy's log.
pub(crate) fn log(filter: u32, level: u32, text: &str) {
    if let Some(host) = host() {
        // SAFETY: the host copies the bytes, which are valid, before it returns.
        unsafe { (host.log)(filter, level, text.as_ptr(), text.len()) };
    }
}

/// Defines a metric.
pub(crate) fn metric(filter: u32, kind: u32, name: &str, bounds: &[u64]) -> Result<abi::Metric, i32> {
    let host = host().ok_or(abi::INVALID)?;
    let bounds_len = u32::try_from(bounds.len()).map_err(|_| abi::INVALID)?;
    let mut metric = abi::Metric::NOWHERE;
    let (data, len, bounds) = (name.as_ptr(), name.len(), bounds.as_ptr());
    // SAFETY: name and bounds are valid, and `metric` can be written.
    let answer = unsafe { (host.metric)(filter, kind, data, len, bounds, bounds_len, &raw mut metric) };
    if answer == abi::OK && !metric.cells.is_null() { Ok(metric) } else { Err(answer) }
}

/// Sends a request.
///
/// # Safety
/// Data that `request` points to is readable while this runs.
pub(crate) unsafe fn send(request: &abi::AbiOutbound) -> i32 {
    let Some(host) = host() else { return abi::INVALID };
    // SAFETY: the host copies the data of the request before it returns, and the caller guarantees that it is valid.
    unsafe { (host.send)(request) }
}

/// Cancels a request.
pub(crate) fn cancel(filter: u32, token: u64) -> i32 {
    let Some(host) = host() else { return abi::UNKNOWN };
    // SAFETY: numbers only.
    unsafe { (host.cancel)(filter, token) }
}
