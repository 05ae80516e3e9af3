//! Registry of the process's libraries: each file once, at most one Go runtime, one host.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use eddy_filter::{HostApi, LoadError, LoadResult};

use super::elf::{GoRuntime, go_runtime};
use super::identity::FileIdentity;
use super::library::NativeLibrary;
use super::{host, load};
use crate::lock::lock;
use crate::thread::prepare_thread;

#[derive(Debug, Default)]
struct Registry {
    libraries: Vec<Arc<NativeLibrary>>,
    /// File whose Go runtime this process has, even if it turned out not to be a filter library.
    go: Option<PathBuf>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { libraries: Vec::new(), go: None });

impl NativeLibrary {
    /// Opens a library; the same file returns the same library.
    ///
    /// All libraries of a process share the first host passed. Must not be called on a worker's thread, nor on the main
    /// thread for a library in Go. The calling thread must not end before the process does.
    ///
    /// # Errors
    /// [`LoadError::Library`]: the file does not exist, is not a library for this machine or this ABI version, brings a
    /// second Go runtime, or was changed since it was opened.
    pub fn open(path: &Path, host: &Arc<dyn HostApi>) -> LoadResult<Arc<Self>> {
        let failed = |why: String| LoadError::Library {
            message: format!("cannot use the library \"{}\": {why}", path.display()),
        };
        let identity = FileIdentity::of(path).map_err(|error| failed(error.to_string()))?;
        let mut registry = lock(&REGISTRY);
        if let Some(known) = registry.libraries.iter().find(|known| known.identity().is_same_file(&identity))
        {
            if *known.identity() != identity {
                return Err(failed("it was changed after this process opened it".to_owned()));
            }
            return Ok(Arc::clone(known));
        }
        if registry.libraries.iter().any(|known| known.path() == path) {
            return Err(failed("it was replaced after this process opened it".to_owned()));
        }
        let is_go = go_runtime(path).map_err(|error| failed(error.to_string()))? == GoRuntime::Inside;
        if is_go {
            registry.record_go_runtime(path).map_err(failed)?;
        }
        let table = host::install(host).map_err(failed)?;
        prepare_thread();
        let opened = load::open(path, table).map_err(failed)?;
        check_toolchain(&opened.toolchain).map_err(failed)?;
        let library = Arc::new(Self::new(path, identity, is_go, opened));
        registry.libraries.push(Arc::clone(&library));
        Ok(library)
    }
}

/// Whether this process cannot open the current file at this path, but a new process could.
///
/// A library is never closed, so a changed or replaced file still has its old code here. A process has one Go runtime,
/// that of the first library that contains one.
pub(crate) fn needs_new_process(path: &Path) -> bool {
    let Ok(identity) = FileIdentity::of(path) else { return false };
    let registry = lock(&REGISTRY);
    let is_stale = |known: &Arc<NativeLibrary>| {
        (known.path() == path || known.identity().is_same_file(&identity)) && *known.identity() != identity
    };
    if registry.libraries.iter().any(|known| *known.identity() == identity) {
        return false;
    }
    registry.libraries.iter().any(is_stale)
        || (registry.go.is_some() && go_runtime(path).is_ok_and(|go| go == GoRuntime::Inside))
}

/// Calls `stop` of every library before the process ends. Only on the thread that creates filters.
pub(crate) fn stop_all() {
    let libraries = lock(&REGISTRY).libraries.clone();
    libraries.iter().for_each(|library| library.stop());
}

impl Registry {
    /// Records the Go runtime of the process, before it is started.
    fn record_go_runtime(&mut self, path: &Path) -> Result<(), String> {
        if let Some(first) = &self.go {
            return Err(format!(
                "a process can have only one Go runtime, and \"{}\" already contains one; build all Go \
                 filters into one library",
                first.display()
            ));
        }
        if is_main_thread() {
            return Err("a Go library cannot be opened on the main thread".to_owned());
        }
        self.go = Some(path.to_owned());
        Ok(())
    }
}

/// Records that the library at this path is about to be opened, if it contains a Go runtime.
///
/// # Errors
/// The file cannot be read or is not a library, the process already has a Go runtime, or this is the main thread.
pub(crate) fn claim_go_runtime(path: &Path) -> Result<(), String> {
    if go_runtime(path).map_err(|error| error.to_string())? == GoRuntime::None {
        return Ok(());
    }
    lock(&REGISTRY).record_go_runtime(path)
}

fn is_main_thread() -> bool {
    // SAFETY: returns a number and has no side effects.
    let thread = unsafe { libc::gettid() };
    u32::try_from(thread).is_ok_and(|thread| thread == std::process::id())
}

/// Refuses Go versions known not to work; versions look like "go1.26.8" or "go1.27-devel".
fn check_toolchain(toolchain: &str) -> Result<(), String> {
    let Some(version) = toolchain.strip_prefix("go1.") else { return Ok(()) };
    let digits = version.bytes().take_while(u8::is_ascii_digit).count();
    match version.get(..digits).and_then(|minor| minor.parse::<u32>().ok()) {
        Some(minor) if minor < GO_MINOR_MIN => Err(format!(
            "it was built with {toolchain}, and Go filters need at least go1.{GO_MINOR_MIN}; build it again"
        )),
        Some(_) | None => Ok(()),
    }
}

/// Oldest Go version whose runtime has been tested with the SDK's calling method.
const GO_MINOR_MIN: u32 = 24;

#[cfg(test)]
mod tests {
    use super::check_toolchain;

    #[test]
    fn an_old_go_version_is_refused() {
        for good in ["", "gcc 12.2.0", "go1.24.0", "go1.26.8", "go1.27-devel", "gofish", "rustc 1.95.0"] {
            assert_eq!(check_toolchain(good), Ok(()), "{good}");
        }
        for old in ["go1.9", "go1.23.11", "go1.20rc1"] {
            assert!(check_toolchain(old).unwrap_err().contains("at least go1.24"), "{old}");
        }
    }
}
