//! A library and its filters, as held by a host.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{crossing, fake};
use crate::abi;
use crate::export::{self, FilterSet};
use crate::filter::End;
use crate::phase::{Interest, Phase};
use crate::view::list;

/// An open library.
#[derive(Clone, Debug)]
pub struct Library {
    table: &'static abi::AbiLibrary,
}

// SAFETY: the table never changes, `run` and `event` may be called from any thread, and functions that the ABI
// requires to be serialized are called with `CONTROL` held.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

/// Held while filters and configurations are created and freed: a library gets one such call at a time.
static CONTROL: Mutex<()> = Mutex::new(());

/// A configured filter of a library; freed with its last clone and rule.
#[derive(Clone, Debug)]
pub struct Configured {
    inner: Arc<Inner>,
}

/// A rule's configuration for a filter.
#[derive(Clone, Debug)]
pub struct RuleConfig {
    inner: Arc<InnerConfig>,
}

#[derive(Debug)]
struct Inner {
    library: Library,
    number: u64,
    id: u32,
    interest: u32,
    flags: u32,
    name: String,
}

#[derive(Debug)]
struct InnerConfig {
    filter: Configured,
    number: u64,
}

impl Library {
    /// Returns the library of this crate.
    ///
    /// # Panics
    /// If the library rejects the fake host, which has the same version.
    #[must_use]
    pub fn of<L: FilterSet>() -> Self {
        /// A library is opened once, however many tests use it.
        static OPEN: Mutex<BTreeMap<TypeId, Library>> = Mutex::new(BTreeMap::new());
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let known = open.entry(TypeId::of::<L>()).or_insert_with(|| {
            // SAFETY: the table is a static.
            let table = unsafe { export::open::<L>(&raw const fake::HOST) };
            // SAFETY: null, or a table that lives as long as the process.
            let table = unsafe { table.as_ref() };
            Self { table: table.expect("a library of this version opens") }
        });
        known.clone()
    }

    /// Loads a library from a file; it is never unloaded.
    ///
    /// # Errors
    /// The reason why it cannot be loaded.
    ///
    /// # Safety
    /// The file's code is run, and trusted to follow the ABI.
    pub unsafe fn load(path: &Path) -> Result<Self, String> {
        let file = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        // SAFETY: a string with a NUL at its end.
        let handle = unsafe { dlopen(file.as_ptr(), RTLD_NOW) };
        if handle.is_null() {
            return Err(format!("{}: the dynamic linker cannot load it", path.display()));
        }
        // SAFETY: the handle is open, and the name has a NUL at its end.
        let symbol = unsafe { dlsym(handle, c"eddy_library_open".as_ptr()) };
        if symbol.is_null() {
            return Err(format!("{}: it has no symbol `eddy_library_open`", path.display()));
        }
        // SAFETY: the ABI requires that the symbol is a function of this type.
        let open = unsafe { std::mem::transmute::<*mut c_void, abi::LibraryOpen>(symbol) };
        // SAFETY: the table is a static.
        let table = unsafe { open(&raw const fake::HOST) };
        // SAFETY: null, or a table that lives as long as the process.
        let table = unsafe { table.as_ref() };
        let table = table.ok_or_else(|| format!("{}: it does not support this host", path.display()))?;
        Ok(Self { table })
    }

    /// Returns the names of its filters.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let len = usize::try_from(self.table.filters_len).unwrap_or_default();
        // SAFETY: the library guarantees that many texts there for the lifetime of the process.
        let names = unsafe { list(self.table.filters, len) };
        names.iter().map(|name| lossy(*name)).collect()
    }

    /// Returns name and version of the SDK that it was built with.
    #[must_use]
    pub fn sdk(&self) -> String {
        lossy(self.table.sdk)
    }

    /// Returns the compiler that it was built with, such as `rustc 1.95.0`; may be empty.
    #[must_use]
    pub fn toolchain(&self) -> String {
        lossy(self.table.toolchain)
    }

    /// Creates a filter from its configuration, a JSON text.
    ///
    /// # Errors
    /// The filter's error about the configuration.
    pub fn filter(&self, name: &str, config: &str) -> Result<Configured, String> {
        let mut info = abi::FilterInfo {
            size: u32::try_from(size_of::<abi::FilterInfo>()).unwrap_or_default(),
            ..abi::FilterInfo::default()
        };
        let mut room = vec![0_u8; MESSAGE_BYTES_MAX];
        let mut error = abi::AbiText { data: room.as_mut_ptr(), len: room.len() };
        let id = fake::filter_id();
        let (own, config) = (abi::AbiText::of(name.as_bytes()), abi::AbiText::of(config.as_bytes()));
        let _control = control();
        // SAFETY: the texts are valid, and both locations can be written.
        let answer = unsafe { (self.table.filter_new)(own, config, id, &raw mut info, &raw mut error) };
        if answer != abi::OK {
            return Err(lossy(error));
        }
        let abi::FilterInfo { interest, filter: number, flags, .. } = info;
        let inner = Inner { library: self.clone(), number, id, interest, flags, name: name.to_owned() };
        Ok(Configured { inner: Arc::new(inner) })
    }

    /// Reports the end of an exchange in which a filter has state.
    pub fn tell_end(&self, filter: &Configured, state: u64, end: End) {
        let ended = abi::AbiExchangeEnd { filter: filter.number(), state, reason: end as u32, reserved: 0 };
        crossing::report_ended(self, &[ended]);
    }

    /// Calls the library.
    ///
    /// # Safety
    /// The call follows the ABI.
    pub(super) unsafe fn run(&self, call: *mut abi::AbiCall) {
        // SAFETY: guaranteed by the caller.
        unsafe { (self.table.run)(call) };
    }

    /// Reports an event to the library.
    pub(super) fn event(&self, event: &abi::AbiEvent) {
        // SAFETY: the event is valid while this runs.
        unsafe { (self.table.event)(event) };
    }

    pub(super) fn is(&self, other: &Self) -> bool {
        std::ptr::eq(self.table, other.table)
    }
}

impl Configured {
    /// Creates a rule configuration from a JSON text.
    ///
    /// # Errors
    /// The filter's error about the configuration.
    pub fn rule(&self, config: &str) -> Result<RuleConfig, String> {
        let mut number = 0;
        let mut room = vec![0_u8; MESSAGE_BYTES_MAX];
        let mut error = abi::AbiText { data: room.as_mut_ptr(), len: room.len() };
        let config = abi::AbiText::of(config.as_bytes());
        let new = self.inner.library.table.config_new;
        let _control = control();
        // SAFETY: the filter is not freed, the text is valid, and both locations can be written.
        let answer = unsafe { new(self.inner.number, config, &raw mut number, &raw mut error) };
        if answer != abi::OK {
            return Err(lossy(error));
        }
        Ok(RuleConfig { inner: Arc::new(InnerConfig { filter: self.clone(), number }) })
    }

    /// Returns its name in the library.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Whether it is called in this phase.
    #[must_use]
    pub fn is_entered(&self, phase: Phase) -> bool {
        self.inner.interest & Interest::of(&[phase]).bits() != 0
    }

    /// Whether it only reads bodies and never changes them.
    #[must_use]
    pub fn only_reads_bodies(&self) -> bool {
        self.inner.flags & abi::FILTER_READS_BODY != 0
    }

    pub(super) fn id(&self) -> u32 {
        self.inner.id
    }

    pub(super) fn number(&self) -> u64 {
        self.inner.number
    }

    pub(super) fn library(&self) -> &Library {
        &self.inner.library
    }
}

impl RuleConfig {
    pub(super) fn number(&self) -> u64 {
        self.inner.number
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let _control = control();
        // SAFETY: no reference to the filter is left: chains and rules hold a clone.
        unsafe { (self.library.table.filter_free)(self.number) };
    }
}

impl Drop for InnerConfig {
    fn drop(&mut self) {
        let filter = &self.filter.inner;
        let _control = control();
        // SAFETY: no reference to the configuration is left: chains hold a clone.
        unsafe { (filter.library.table.config_free)(filter.number, self.number) };
    }
}

fn control() -> MutexGuard<'static, ()> {
    CONTROL.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lossy(text: abi::AbiText) -> String {
    // SAFETY: texts of libraries live as long as the process, and messages as long as their buffer.
    let bytes = unsafe { list(text.data, text.len) };
    String::from_utf8_lossy(bytes).into_owned()
}

// SAFETY: functions of the C library, as POSIX declares them.
unsafe extern "C" {
    fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

const RTLD_NOW: c_int = 2;
const MESSAGE_BYTES_MAX: usize = 4096;
