//! Loads a shared library and reads its library table.

use std::ffi::{CStr, CString};
use std::mem::offset_of;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use super::{abi, host};

/// Validated information that a library provides about itself.
#[derive(Debug)]
pub(crate) struct NativeLibraryInfo {
    pub(crate) sdk: String,
    pub(crate) toolchain: String,
    pub(crate) filters: Vec<String>,
    pub(crate) entries: NativeEntryPoints,
    /// Whether the library asks for facts about the exchange when a filter needs them.
    pub(crate) asks_about: bool,
}

/// Functions of a library. They are valid until the process ends, because no library is ever closed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NativeEntryPoints {
    pub(crate) filter_new: unsafe extern "C" fn(
        abi::NativeText,
        abi::NativeText,
        u32,
        *mut abi::Info,
        *mut abi::NativeText,
    ) -> i32,
    pub(crate) config_new: unsafe extern "C" fn(u64, abi::NativeText, *mut u64, *mut abi::NativeText) -> i32,
    pub(crate) config_free: unsafe extern "C" fn(u64, u64),
    pub(crate) filter_free: unsafe extern "C" fn(u64),
    pub(crate) run: unsafe extern "C" fn(*mut abi::NativeCall),
    pub(crate) event: unsafe extern "C" fn(*const abi::NativeEvent),
    pub(crate) stop: Option<unsafe extern "C" fn()>,
}

/// Opens the library in a file, for as long as the process lives.
///
/// # Errors
/// The reason why it is not a filter library, or not one for this version of eddy.
pub(crate) fn open(path: &Path, table: &'static abi::HostTable) -> Result<NativeLibraryInfo, String> {
    // An absolute path contains a slash, so that the loader searches no other directory.
    let absolute = std::path::absolute(path).map_err(|error| error.to_string())?;
    let name = CString::new(absolute.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: `name` is a C string. The library's initialisers run, as its operator intends.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if handle.is_null() {
        return Err(loader_error());
    }
    // SAFETY: `handle` was just opened and the name is a C string.
    let symbol = unsafe { libc::dlsym(handle, c"eddy_library_open".as_ptr()) };
    if symbol.is_null() {
        return Err("it has no symbol `eddy_library_open`, so it is not a filter library".to_owned());
    }
    // SAFETY: by the ABI, which its name declares, the symbol is a function of this type.
    let open = unsafe { std::mem::transmute::<*mut libc::c_void, abi::OpenFn>(symbol) };
    drop(host::take_last_words());
    // SAFETY: the table lives as long as the process, as the ABI requires.
    let library = unsafe { open(ptr::from_ref(table)) };
    if library.is_null() {
        let why = host::take_last_words().map(|text| format!(": {text}")).unwrap_or_default();
        return Err(format!("it does not support this version of eddy{why}"));
    }
    if !library.cast::<abi::NativeLibraryTable>().is_aligned() {
        return Err("its library table is not aligned".to_owned());
    }
    read(library.cast())
}

/// Reads and validates a library table.
fn read(library: *const abi::NativeLibraryTable) -> Result<NativeLibraryInfo, String> {
    let head = library.cast::<[u32; 2]>();
    // SAFETY: by the ABI every version of the structure begins with these two numbers; it is aligned and not null.
    let [abi, size] = unsafe { head.read() };
    if abi != abi::ABI {
        return Err(format!(
            "it was built for version {abi} of the filter ABI, this eddy has version {}",
            abi::ABI
        ));
    }
    // Later members may be missing.
    let least = offset_of!(abi::NativeLibraryTable, stop);
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    if size < least {
        return Err(format!("its library table has {size} bytes; at least {least} are needed"));
    }
    let mut known = [0_u8; size_of::<abi::NativeLibraryTable>()];
    let count = size.min(known.len());
    // SAFETY: the library declares that its structure has `size` bytes, and no more are read; `known` is our own.
    unsafe { ptr::copy_nonoverlapping(library.cast::<u8>(), known.as_mut_ptr(), count) };
    // SAFETY: `known` has as many bytes as the structure, of which all patterns are valid values: numbers, pointers and
    // functions that may be null.
    let raw = unsafe { known.as_ptr().cast::<abi::NativeLibraryTable>().read_unaligned() };
    let missing = |name: &str| format!("its function `{name}` is missing");
    Ok(NativeLibraryInfo {
        sdk: text_of(raw.sdk, "sdk")?,
        toolchain: text_of(raw.toolchain, "toolchain")?,
        filters: names_of(&raw)?,
        entries: NativeEntryPoints {
            filter_new: raw.filter_new.ok_or_else(|| missing("filter_new"))?,
            config_new: raw.config_new.ok_or_else(|| missing("config_new"))?,
            config_free: raw.config_free.ok_or_else(|| missing("config_free"))?,
            filter_free: raw.filter_free.ok_or_else(|| missing("filter_free"))?,
            run: raw.run.ok_or_else(|| missing("run"))?,
            event: raw.event.ok_or_else(|| missing("event"))?,
            stop: raw.stop,
        },
        asks_about: raw.flags & abi::LIBRARY_ASKS_ABOUT != 0,
    })
}

fn names_of(raw: &abi::NativeLibraryTable) -> Result<Vec<String>, String> {
    let count = usize::try_from(raw.filters_len).unwrap_or(usize::MAX);
    if count == 0 {
        return Err("it has no filters".to_owned());
    }
    if count > FILTERS_MAX || raw.filters.is_null() || !raw.filters.is_aligned() {
        return Err(format!("its list of {count} filters is invalid"));
    }
    let name = |index: usize| {
        // SAFETY: the library declares that many texts; `index` is below their number.
        let place = unsafe { raw.filters.add(index) };
        // SAFETY: as above; the list is aligned.
        let text = unsafe { place.read() };
        let name = text_of(text, "name of a filter")?;
        if name.is_empty() { Err("one of its filters has no name".to_owned()) } else { Ok(name) }
    };
    (0..count).map(name).collect()
}

fn text_of(text: abi::NativeText, what: &str) -> Result<String, String> {
    if text.len == 0 {
        return Ok(String::new());
    }
    if text.data.is_null() || text.len > TEXT_BYTES_MAX {
        return Err(format!("its {what} of {} bytes is invalid", text.len));
    }
    // SAFETY: the library declares that many bytes; their number is plausible and the address not null.
    let bytes = unsafe { std::slice::from_raw_parts(text.data, text.len) };
    String::from_utf8(bytes.to_vec()).map_err(|_| format!("its {what} is not UTF-8"))
}

fn loader_error() -> String {
    // SAFETY: on Linux each thread has its own error; the text is valid until this thread's next call of the loader.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the dynamic loader gave no reason".to_owned();
    }
    // SAFETY: not null, so a C string.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

const FILTERS_MAX: usize = 1024;
const TEXT_BYTES_MAX: usize = 256;
