//! Host functions for native guests: the functions of `eddy_host`, which validate all arguments.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;
use std::sync::{Arc, OnceLock};

use eddy_filter::{
    CallBond, EDITS_BYTES_MAX, FilterLogLevel, FilterOutboundRequest, Handle, HostApi, HostError,
    METRIC_TEXT_BYTES_MAX, MetricKind, Verdict,
};
use eddy_ids::Millis;

use super::{abi, crossing};

/// Host of all guests of this process; the ABI gives its functions no other way to find it.
static HOST: OnceLock<Installed> = OnceLock::new();

struct Installed {
    host: Arc<dyn HostApi>,
    table: abi::HostTable,
}

thread_local! {
    /// Last message without a filter that a library logged while it was being opened on this thread.
    static LAST_MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Installs the host of all guests, unless it is installed already.
///
/// # Errors
/// Another host is installed.
pub(crate) fn install(host: &Arc<dyn HostApi>) -> Result<&'static abi::HostTable, String> {
    let installed = HOST.get_or_init(|| Installed { host: Arc::clone(host), table: table_of(&**host) });
    if Arc::as_ptr(&installed.host).addr() != Arc::as_ptr(host).addr() {
        return Err("this process already has another filter host".to_owned());
    }
    Ok(&installed.table)
}

/// Returns the host of all guests, once it is installed.
pub(crate) fn installed() -> Option<&'static Arc<dyn HostApi>> {
    HOST.get().map(|installed| &installed.host)
}

fn table_of(host: &dyn HostApi) -> abi::HostTable {
    abi::HostTable {
        abi: abi::ABI,
        size: crossing::size_of_u32::<abi::HostTable>(),
        workers: u32::try_from(host.workers()).unwrap_or(u32::MAX),
        level: host.level() as u32,
        resume,
        edits_grow,
        log,
        metric,
        send,
        cancel,
        memory_soft_bytes: host.memory_soft_bytes(),
        about,
    }
}

/// Takes the last message that a library logged while it was being opened.
pub(crate) fn take_last_words() -> Option<String> {
    LAST_MESSAGE.take()
}

/// Performs a host function; a panic of the host must not unwind into the guest.
fn guarded(ask: impl FnOnce(&dyn HostApi) -> Result<(), HostError>) -> i32 {
    let Some(installed) = HOST.get() else { return HostError::Invalid as i32 };
    match catch_unwind(AssertUnwindSafe(|| ask(&*installed.host))) {
        Ok(Ok(())) => abi::OK,
        Ok(Err(error)) => error as i32,
        Err(_) => HostError::Invalid as i32,
    }
}

/// Returns the bytes that a guest points to, at most `max`.
///
/// # Safety
/// If `data` is not null, it points to `len` bytes, which stay unchanged until `'a` ends.
unsafe fn bytes_of<'a>(data: *const u8, len: usize, max: usize) -> Result<&'a [u8], HostError> {
    if len == 0 {
        return Ok(&[]);
    }
    if len > max {
        return Err(HostError::TooLarge);
    }
    if data.is_null() {
        return Err(HostError::Invalid);
    }
    // SAFETY: not null, and the caller guarantees that many bytes; the limit is far below `isize::MAX`.
    Ok(unsafe { slice::from_raw_parts(data, len) })
}

unsafe extern "C" fn resume(exchange: u64, turn: u32, verdict: u32, edits: *const u8, edits_len: u32) -> i32 {
    guarded(|host| {
        // SAFETY: by the ABI the guest's bytes are valid until this function returns.
        let edits = unsafe { bytes_of(edits, edits_len as usize, EDITS_BYTES_MAX) }?;
        let verdict = Verdict::from_number(verdict).ok_or(HostError::Invalid)?;
        host.resume(Handle::from_number(exchange), turn, verdict, edits)
    })
}

unsafe extern "C" fn edits_grow(call: *mut abi::NativeCall, more: u32) -> i32 {
    guarded(|_| crossing::grow(call, more))
}

unsafe extern "C" fn about(call: *mut abi::NativeCall) -> i32 {
    guarded(|_| crossing::show_about(call))
}

unsafe extern "C" fn log(filter: u32, level: u32, text: *const u8, len: usize) -> i32 {
    guarded(|host| {
        let level = FilterLogLevel::from_number(level).ok_or(HostError::Invalid)?;
        // SAFETY: by the ABI the guest's bytes are valid until this function returns.
        let text = unsafe { bytes_of(text, len.min(RECORD_BYTES_MAX), RECORD_BYTES_MAX) }?;
        if filter == 0 {
            LAST_MESSAGE.set(Some(String::from_utf8_lossy(text).into_owned()));
        }
        host.log(filter, level, text)
    })
}

unsafe extern "C" fn metric(
    filter: u32,
    kind: u32,
    name: *const u8,
    name_len: usize,
    bounds: *const u64,
    bounds_len: u32,
    out: *mut abi::MetricCells,
) -> i32 {
    guarded(|host| {
        if out.is_null() || !out.is_aligned() || !bounds.is_aligned() {
            return Err(HostError::Invalid);
        }
        // SAFETY: by the ABI the guest's bytes are valid until this function returns.
        let name =
            unsafe { bytes_of(name, name_len, METRIC_TEXT_BYTES_MAX) }.map_err(|_| HostError::Invalid)?;
        let name = str::from_utf8(name).map_err(|_| HostError::Invalid)?;
        let kind = MetricKind::from_number(kind).ok_or(HostError::Invalid)?;
        let bounds: &[u64] = match bounds_len as usize {
            0 => &[],
            count if count > BOUNDS_MAX || bounds.is_null() => return Err(HostError::Invalid),
            // SAFETY: not null, aligned, and by the ABI it points to that many numbers until this function returns.
            count => unsafe { slice::from_raw_parts(bounds, count) },
        };
        let metric = host.metrics().define(filter, kind, name, bounds)?;
        let cells = abi::MetricCells {
            cells: metric.cells.as_ptr().cast_mut().cast(),
            stride: u32::try_from(metric.stride).map_err(|_| HostError::Invalid)?,
            reserved: 0,
        };
        // SAFETY: not null, aligned, and by the ABI writable.
        unsafe { out.write(cells) };
        Ok(())
    })
}

unsafe extern "C" fn send(request: *const abi::NativeOutbound) -> i32 {
    guarded(|host| {
        if request.is_null() || !request.is_aligned() {
            return Err(HostError::Invalid);
        }
        // SAFETY: not null and aligned; every version of the structure begins with its size.
        let size = unsafe { request.cast::<u32>().read() };
        if size < crossing::size_of_u32::<abi::NativeOutbound>() {
            return Err(HostError::Invalid);
        }
        // SAFETY: the guest declares that it is at least as large as the structure known here.
        let raw = unsafe { request.read() };
        // SAFETY: by the ABI all that the request points to is valid until this function returns.
        let request = unsafe { outbound_of(&raw) }?;
        host.send(&request)
    })
}

/// Converts a guest's outbound request.
///
/// # Safety
/// All that it points to is valid until `'a` ends.
unsafe fn outbound_of<'a>(raw: &abi::NativeOutbound) -> Result<FilterOutboundRequest<'a>, HostError> {
    let text = |text: abi::NativeText, max: usize| {
        // SAFETY: guaranteed by the caller.
        unsafe { bytes_of::<'a>(text.data, text.len, max) }
    };
    let cluster = text(raw.cluster, NAME_BYTES_MAX).map_err(|_| HostError::Unknown)?;
    let count = raw.fields_len as usize;
    if count > OUTBOUND_FIELDS_MAX {
        return Err(HostError::TooLarge);
    }
    let texts: &[abi::NativeText] = if count == 0 {
        &[]
    } else if raw.fields.is_null() || !raw.fields.is_aligned() {
        return Err(HostError::Invalid);
    } else {
        // SAFETY: not null, aligned, and by the ABI it points to twice as many texts as there are headers.
        unsafe { slice::from_raw_parts(raw.fields, 2 * count) }
    };
    let fields: Result<Vec<_>, HostError> = texts
        .as_chunks()
        .0
        .iter()
        .map(|[name, value]| Ok((text(*name, HEAD_BYTES_MAX)?, text(*value, HEAD_BYTES_MAX)?)))
        .collect();
    Ok(FilterOutboundRequest {
        filter: raw.filter,
        token: raw.token,
        exchange: (raw.exchange != 0).then(|| Handle::from_number(raw.exchange)),
        bond: CallBond::Awaited,
        cluster: str::from_utf8(cluster).map_err(|_| HostError::Unknown)?,
        method: text(raw.method, HEAD_BYTES_MAX)?,
        target: text(raw.target, HEAD_BYTES_MAX)?,
        authority: text(raw.authority, HEAD_BYTES_MAX)?,
        fields: fields?,
        body: text(raw.body, EDITS_BYTES_MAX)?,
        timeout: Millis::new(raw.timeout_ms.into()),
    })
}

unsafe extern "C" fn cancel(filter: u32, token: u64) -> i32 {
    guarded(|host| host.cancel(filter, token))
}

/// Maximum length of a guest's log message in bytes; the rest is cut.
pub(crate) const RECORD_BYTES_MAX: usize = 16 * 1024;
/// Maximum length of the name of a metric or cluster; their definitions are stricter.
pub(crate) const NAME_BYTES_MAX: usize = 256;
/// Maximum number of bounds of a histogram.
pub(crate) const BOUNDS_MAX: usize = 32;
/// Maximum number of headers of an outbound request.
pub(crate) const OUTBOUND_FIELDS_MAX: usize = 256;
/// Maximum length of a name or value of an outbound request's head in bytes.
pub(crate) const HEAD_BYTES_MAX: usize = 64 * 1024;
