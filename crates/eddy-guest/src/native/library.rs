//! Open native library: creates filters and enters them.

use std::path::{Path, PathBuf};

use eddy_filter::{
    FilterEvent, FilterInfo, FilterLibrary, Interest, LibraryCall, LibraryKeepAlive, LoadError, LoadResult,
};

use super::identity::FileIdentity;
use super::load::{NativeEntryPoints, NativeLibraryInfo};
use super::{abi, crossing};
use crate::guest::{CreatedFilter, Guest, find};
use crate::reclaim::ReclaimQueue;
use crate::thread::prepare_thread;

/// Shared library that implements the filter ABI, open until the process ends.
#[derive(Debug)]
pub struct NativeLibrary {
    name: String,
    path: PathBuf,
    identity: FileIdentity,
    has_go: bool,
    opened: NativeLibraryInfo,
}

impl NativeLibrary {
    pub(crate) fn new(path: &Path, identity: FileIdentity, has_go: bool, opened: NativeLibraryInfo) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Self { name, path: path.to_owned(), identity, has_go, opened }
    }

    /// Returns the file that the library was opened from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the identity that the file had when it was opened.
    pub fn identity(&self) -> &FileIdentity {
        &self.identity
    }

    /// Whether the library contains a Go runtime.
    pub fn has_go(&self) -> bool {
        self.has_go
    }

    /// Returns name and version of the SDK.
    pub fn sdk(&self) -> &str {
        &self.opened.sdk
    }

    /// Returns the toolchain that built the library; may be empty.
    pub fn toolchain(&self) -> &str {
        &self.opened.toolchain
    }

    /// Returns the names of the filters.
    pub fn filters(&self) -> &[String] {
        &self.opened.filters
    }

    pub(crate) fn stop(&self) {
        prepare_thread();
        if let Some(stop) = self.opened.entries.stop {
            // SAFETY: by the ABI `stop` may be called at any time on this thread.
            unsafe { stop() }
        }
    }
}

impl FilterLibrary for NativeLibrary {
    fn name(&self) -> &str {
        &self.name
    }

    #[inline]
    fn run(&self, call: &mut LibraryCall<'_>) {
        crossing::run(self.opened.entries.run, self.opened.asks_about, call);
    }

    fn event(&self, event: &FilterEvent<'_>) {
        crossing::tell(self.opened.entries.event, event);
    }
}

impl Guest for NativeLibrary {
    fn filter(
        &self,
        name: &str,
        config: &str,
        id: u32,
        reclaim_queue: &ReclaimQueue,
    ) -> LoadResult<CreatedFilter> {
        find(&self.name, &self.opened.filters, name)?;
        let entries = self.opened.entries;
        let (number, info) = entries.new_filter(name, config, id)?;
        let owner = reclaim_queue.owner(LibraryKeepAlive::default(), move || entries.free_filter(number));
        Ok(CreatedFilter { number, info, owner })
    }

    fn rule_config(
        &self,
        filter: u64,
        owner: &LibraryKeepAlive,
        config: &str,
        reclaim_queue: &ReclaimQueue,
    ) -> LoadResult<(u64, LibraryKeepAlive)> {
        let entries = self.opened.entries;
        let number = entries.new_config(filter, config)?;
        let free = move || entries.free_config(filter, number);
        Ok((number, reclaim_queue.owner(owner.clone(), free)))
    }
}

impl NativeEntryPoints {
    fn new_filter(self, name: &str, config: &str, id: u32) -> LoadResult<(u64, FilterInfo)> {
        prepare_thread();
        let mut message = [0_u8; MESSAGE_BYTES_MAX];
        let mut error = abi::NativeText { data: message.as_mut_ptr(), len: message.len() };
        let mut info = abi::Info { size: crossing::size_of_u32::<abi::Info>(), ..abi::Info::default() };
        let (name, config) = (abi::NativeText::of(name.as_bytes()), abi::NativeText::of(config.as_bytes()));
        // SAFETY: all that is pointed to is valid until the function returns, as the ABI requires.
        let result = unsafe { (self.filter_new)(name, config, id, &raw mut info, &raw mut error) };
        if result != abi::OK {
            return Err(refused(result, &message, error.len));
        }
        if info.filter == 0 {
            return Err(LoadError::Refused {
                message: "the library returned no number for a new filter".to_owned(),
            });
        }
        let said = FilterInfo {
            interest: Interest::from_bits(info.interest),
            keeps_length: info.flags & abi::FILTER_READS_BODY != 0,
            expects_tunnels: info.flags & abi::FILTER_EXPECTS_TUNNELS != 0,
        };
        Ok((info.filter, said))
    }

    fn new_config(self, filter: u64, config: &str) -> LoadResult<u64> {
        prepare_thread();
        let mut message = [0_u8; MESSAGE_BYTES_MAX];
        let mut error = abi::NativeText { data: message.as_mut_ptr(), len: message.len() };
        let mut number = 0;
        let config = abi::NativeText::of(config.as_bytes());
        // SAFETY: all that is pointed to is valid until the function returns, as the ABI requires.
        let result = unsafe { (self.config_new)(filter, config, &raw mut number, &raw mut error) };
        if result != abi::OK {
            return Err(refused(result, &message, error.len));
        }
        if number == 0 {
            let message = "the library returned no number for the configuration of a rule".to_owned();
            return Err(LoadError::Refused { message });
        }
        Ok(number)
    }

    pub(crate) fn free_filter(self, filter: u64) {
        prepare_thread();
        // SAFETY: the number came from this library, and its last owner was dropped.
        unsafe { (self.filter_free)(filter) }
    }

    pub(crate) fn free_config(self, filter: u64, config: u64) {
        prepare_thread();
        // SAFETY: both numbers came from this library; the configuration's last owner was dropped, the filter's was
        // not.
        unsafe { (self.config_free)(filter, config) }
    }
}

/// Converts a guest's error message; an invalid length is limited to the buffer.
fn refused(result: i32, message: &[u8], len: usize) -> LoadError {
    let text = message.get(..len.min(message.len())).unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    let message = if text.is_empty() {
        format!("the filter gave no reason (result {result})")
    } else {
        text.to_owned()
    };
    LoadError::Refused { message }
}

const MESSAGE_BYTES_MAX: usize = 4096;
