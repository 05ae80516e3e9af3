//! Functions that the host calls.

use crate::abi;
use crate::context::Context;
use crate::filter::Filter;
use crate::guard;
use crate::host;
use crate::instance::{Configured, FilterInstance};
use crate::library::{self, FilterSlot};
use crate::outbound;
use crate::view::list;

/// Filters of a library, as listed by [`crate::filters!`].
pub trait FilterSet: 'static {
    /// Names and types of the filters.
    const ENTRIES: &'static [FilterEntry];
}

/// One filter of a library.
pub struct FilterEntry {
    name: &'static str,
    make: FilterFactory,
}

/// Creates a filter of one type from its configuration.
type FilterFactory = fn(&str, Context) -> Result<Box<dyn FilterInstance>, String>;

impl FilterEntry {
    /// Creates an entry for a filter type and a name.
    #[must_use]
    pub const fn of<F: Filter>(name: &'static str) -> Self {
        Self { name, make: Configured::<F>::make }
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl std::fmt::Debug for FilterEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Entry").field(&self.name).finish()
    }
}

/// Names the filters of a library and exports the one symbol that eddy looks up.
///
/// Use it once in a crate of type `cdylib`:
///
/// ```
/// # use eddy_sdk::prelude::*;
/// # struct Mark;
/// # impl Filter for Mark {
/// #     type Config = Option<u8>;
/// #     type State = ();
/// #     const INTEREST: Interest = Interest::NONE;
/// #     fn new(_: Option<u8>, _: &Context) -> Result<Self, String> { Ok(Self) }
/// # }
/// eddy_sdk::filters! { "mark" => Mark }
/// ```
///
/// The names are those of the configuration: `native: {filter: mark, library: ./libmark.so}`. The macro also defines
/// a type `Filters`, which the tests of the crate pass to the fake host.
#[macro_export]
macro_rules! filters {
    ($($name:literal => $filter:ty),+ $(,)?) => {
        /// The filters of this library.
        #[derive(Clone, Copy, Debug)]
        pub struct Filters;

        impl $crate::FilterSet for Filters {
            const ENTRIES: &'static [$crate::FilterEntry] = &[$($crate::FilterEntry::of::<$filter>($name)),+];
        }

        /// First function that eddy calls.
        ///
        /// # Safety
        /// `host` is the host's function table, which lives as long as the process.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn eddy_library_open(
            host: *const $crate::abi::AbiHost,
        ) -> *const $crate::abi::AbiLibrary {
            // SAFETY: guaranteed by the caller.
            unsafe { $crate::open::<Filters>(host) }
        }
    };
}

/// Opens the library for a host; called by the export of [`crate::filters!`].
///
/// Returns null if the host has another version of the filter ABI.
///
/// # Safety
/// `host` is null or the host's function table, which lives as long as the process.
pub unsafe fn open<L: FilterSet>(host: *const abi::AbiHost) -> *const abi::AbiLibrary {
    // SAFETY: null or valid, as guaranteed by the caller.
    let Some(offered) = (unsafe { host.as_ref() }) else { return std::ptr::null() };
    if offered.abi != abi::ABI || (offered.size as usize) < size_of::<abi::AbiHost>() {
        let message = format!(
            "the library was built for version {} of eddy's filter ABI, the host has version {}",
            abi::ABI,
            offered.abi
        );
        // SAFETY: the beginning of the table is the same in every version, and the bytes are valid.
        unsafe { (offered.log)(0, abi::ERROR, message.as_ptr(), message.len()) };
        return std::ptr::null();
    }
    // SAFETY: guaranteed by the caller.
    unsafe { host::keep(host) };
    guard::install();
    let names: Vec<abi::AbiText> =
        L::ENTRIES.iter().map(|entry| abi::AbiText::of(entry.name.as_bytes())).collect();
    let names: &'static [abi::AbiText] = names.leak();
    // Both live as long as the process, as the ABI requires: a library is opened once.
    Box::leak(Box::new(abi::AbiLibrary {
        abi: abi::ABI,
        size: size_32::<abi::AbiLibrary>(),
        sdk: abi::AbiText::of(SDK.as_bytes()),
        toolchain: abi::AbiText::of(TOOLCHAIN.as_bytes()),
        filters: names.as_ptr(),
        filters_len: names.len() as u64,
        filter_new: filter_new::<L>,
        config_new,
        config_free,
        filter_free,
        run,
        event,
        stop: None,
        flags: abi::LIBRARY_ASKS_ABOUT,
        reserved: 0,
    }))
}

unsafe extern "C" fn filter_new<L: FilterSet>(
    name: abi::AbiText,
    config: abi::AbiText,
    id: u32,
    info: *mut abi::FilterInfo,
    error: *mut abi::AbiText,
) -> i32 {
    // SAFETY: the host's text is valid while this runs.
    let name = unsafe { text(name) };
    // SAFETY: as above.
    let config = unsafe { text(config) };
    let made = guard::catch(|| {
        let entry = L::ENTRIES.iter().find(|entry| entry.name.as_bytes() == name);
        let entry = entry.ok_or_else(|| "the library has no filter of this name".to_owned())?;
        let config = std::str::from_utf8(config).map_err(|error| error.to_string())?;
        let instance = (entry.make)(config, Context::new(id))?;
        let flags = if instance.only_reads_bodies() { abi::FILTER_READS_BODY } else { 0 };
        let interest = instance.interest().bits();
        Ok::<_, String>((FilterSlot::new(instance, id), interest, flags))
    });
    match made.unwrap_or_else(|fault| Err(fault.to_string())) {
        Ok((slot, interest, flags)) => {
            // SAFETY: the host's location for the result is valid while this runs.
            let info = unsafe { &mut *info };
            info.interest = interest;
            info.flags = flags;
            info.filter = slot.into_number();
            abi::OK
        }
        // SAFETY: the host's buffer for the message is valid while this runs.
        Err(message) => unsafe { refuse(error, &message) },
    }
}

unsafe extern "C" fn config_new(
    filter: u64,
    config: abi::AbiText,
    out: *mut u64,
    error: *mut abi::AbiText,
) -> i32 {
    // SAFETY: the number was returned by `filter_new`, and the filter is not freed yet.
    let slot = unsafe { FilterSlot::of(filter) };
    // SAFETY: the host's text is valid while this runs.
    let config = unsafe { text(config) };
    let made = guard::catch(|| {
        let config = std::str::from_utf8(config).map_err(|error| error.to_string())?;
        Ok::<_, String>(FilterSlot::new(slot.instance().for_rule(config)?, slot.id()))
    });
    match made.unwrap_or_else(|fault| Err(fault.to_string())) {
        Ok(made) => {
            // SAFETY: the host's location for the result is valid while this runs.
            unsafe { out.write(made.into_number()) };
            abi::OK
        }
        // SAFETY: the host's buffer for the message is valid while this runs.
        Err(message) => unsafe { refuse(error, &message) },
    }
}

unsafe extern "C" fn config_free(_: u64, config: u64) {
    // SAFETY: the host does not use the number any more.
    unsafe { free(config) };
}

unsafe extern "C" fn filter_free(filter: u64) {
    // SAFETY: the host does not use the number any more.
    unsafe { free(filter) };
}

unsafe extern "C" fn run(call: *mut abi::AbiCall) {
    let caught = guard::contain(|| {
        // SAFETY: the call is the host's, as the ABI requires.
        unsafe { library::run(call) };
    });
    // Every hook has its own guard; a panic that arrives here is a bug of the SDK.
    if let Err(fault) = caught {
        host::log(0, abi::ERROR, &format!("the SDK of the library: {fault}"));
        // SAFETY: the call is the host's, and no reference to it is alive.
        unsafe { fail(&mut *call) };
    }
}

unsafe extern "C" fn event(event: *const abi::AbiEvent) {
    // SAFETY: null, or the host's event, valid while this runs.
    let Some(event) = (unsafe { event.as_ref() }) else { return };
    let caught = guard::catch(|| {
        let _on_worker = crate::metric::OnWorker::enter(event.worker);
        // SAFETY: data that the event points to is valid while this runs.
        unsafe { outbound::handle_event(event) };
    });
    if let Err(fault) = caught {
        host::log(event.filter, abi::ERROR, &format!("the SDK of the library: {fault}"));
    }
}

/// Marks the first filter of a call as failed.
fn fail(call: &mut abi::AbiCall) {
    call.stopped = 0;
    if call.steps_len == 0 {
        return;
    }
    // SAFETY: the host has provided at least one step.
    let step = unsafe { &mut *call.steps };
    step.verdict = abi::FAULT;
}

/// # Safety
/// `number` was returned by [`FilterSlot::into_number`] and is not used any more.
unsafe fn free(number: u64) {
    // SAFETY: guaranteed by the caller.
    let slot = unsafe { FilterSlot::take(number) };
    let id = slot.id();
    if let Err(fault) = guard::catch(|| drop(slot)) {
        host::log(id, abi::ERROR, &format!("dropping a filter: {fault}"));
    }
}

/// Writes a message into the host's buffer.
///
/// # Safety
/// `error` is null or points to a text whose bytes can be written.
unsafe fn refuse(error: *mut abi::AbiText, message: &str) -> i32 {
    // SAFETY: null or valid, as guaranteed by the caller.
    if let Some(error) = unsafe { error.as_mut() } {
        let len = message.floor_char_boundary(error.len);
        error.len = len;
        if !error.data.is_null() {
            // SAFETY: the buffer has at least `len` bytes, as guaranteed by the caller, and does not overlap the
            // message.
            unsafe { std::ptr::copy_nonoverlapping(message.as_ptr(), error.data.cast_mut(), len) };
        }
    }
    abi::INVALID
}

/// # Safety
/// The text's bytes are valid for `'a`.
unsafe fn text<'a>(text: abi::AbiText) -> &'a [u8] {
    // SAFETY: guaranteed by the caller.
    unsafe { list(text.data, text.len) }
}

const fn size_32<T>() -> u32 {
    // All structures of the ABI are far below the limit.
    #[expect(clippy::cast_possible_truncation, reason = "see above")]
    let size = size_of::<T>() as u32;
    size
}

const SDK: &str = concat!("eddy-sdk ", env!("CARGO_PKG_VERSION"));
const TOOLCHAIN: &str = env!("EDDY_SDK_TOOLCHAIN");
