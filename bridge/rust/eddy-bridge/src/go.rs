//! The Go library of the process.

use std::ffi::{CStr, CString, OsStr, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{error, fmt, mem};

use crate::bind::{ABSENT, BOUND, Bind, BindError};
use crate::call::BoundService;
use crate::{offer, promise, thread};

/// The Go library of the process; there is only one, because a second Go runtime would break the first.
#[derive(Clone, Copy, Debug)]
pub struct Go {
    pub(crate) functions: GoExports,
}

/// Exported bridge functions of a Go library.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoExports {
    meet: unsafe extern "C" fn(*mut Handshake),
    bind: unsafe extern "C" fn(*mut Bind),
    pub(crate) enter: unsafe extern "C" fn(*mut u64),
    pub(crate) start: unsafe extern "C" fn(*mut u64),
    pub(crate) cancel: unsafe extern "C" fn(u64),
}

/// Handshake data that Rust passes to Go.
#[repr(C)]
struct Handshake {
    /// ABI version; set to Go's.
    abi: u64,
    /// Address of the function that binds services of Rust.
    bind: u64,
    /// Address of the function that receives the results of calls in their blocks.
    complete: u64,
}

impl Go {
    /// Loads a library built with `go build -buildmode=c-shared`.
    ///
    /// Loading runs its `init` functions, in which it registers its services. It stays loaded until the process ends.
    ///
    /// # Errors
    ///
    /// It can't be loaded, contains no bridge or one of another version, or the process already has another Go
    /// library.
    ///
    /// # Cost
    ///
    /// A few milliseconds, in which Go's runtime starts.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        let path = path.as_ref();
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((first, go)) = &*opened {
            return if *first == whole {
                Ok(*go)
            } else {
                Err(OpenError::Second { first: first.clone(), second: whole })
            };
        }
        thread::prepare();
        let go = Self { functions: GoExports::load(&whole)? };
        go.meet(&whole)?;
        *opened = Some((whole, go));
        Ok(go)
    }

    /// Returns the library that the program is linked with, an archive built with `go build -buildmode=c-archive`.
    ///
    /// # Errors
    ///
    /// Its bridge has another version, or the process has already loaded another Go library.
    #[cfg(feature = "linked")]
    pub fn linked() -> Result<Self, OpenError> {
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        let itself = PathBuf::from("the program itself");
        match &*opened {
            Some((first, go)) if *first == itself => return Ok(*go),
            Some((first, _)) => return Err(OpenError::Second { first: first.clone(), second: itself }),
            None => {}
        }
        thread::prepare();
        let go = Self { functions: linked::FUNCTIONS };
        go.meet(&itself)?;
        *opened = Some((itself, go));
        Ok(go)
    }

    fn meet(self, path: &Path) -> Result<(), OpenError> {
        let bind: unsafe extern "C" fn(*mut Bind) -> usize = offer::bind;
        let complete: unsafe extern "C" fn(*mut u64) -> usize = promise::complete;
        let mut meet = Handshake { abi: ABI, bind: bind as usize as u64, complete: complete as usize as u64 };
        // SAFETY: the function is that name's export of a Go library, and uses its argument only during the call.
        unsafe { (self.functions.meet)(&raw mut meet) };
        if meet.abi == ABI {
            Ok(())
        } else {
            Err(OpenError::Version { path: path.to_owned(), found: meet.abi })
        }
    }

    /// Binds a service. Used by generated code.
    ///
    /// # Errors
    ///
    /// The library doesn't have the service, or was generated from another declaration.
    pub fn bind(self, name: &str, shape: u64) -> Result<BoundService, BindError> {
        thread::prepare();
        let mut bind = Bind::of(name, shape)?;
        // SAFETY: as in `meet`.
        unsafe { (self.functions.bind)(&raw mut bind) };
        match bind.outcome {
            BOUND => Ok(BoundService::of_go(self.functions, bind.number)),
            ABSENT => Err(BindError::Absent { name: name.to_owned() }),
            _ => Err(BindError::Different { name: name.to_owned() }),
        }
    }
}

impl GoExports {
    fn load(path: &Path) -> Result<Self, OpenError> {
        let failed = |text| OpenError::Load { path: path.to_owned(), text };
        let text = CString::new(path.as_os_str().as_bytes())
            .map_err(|_| failed("the path contains NUL".to_owned()))?;
        // SAFETY: loading runs the library's initializers, which the caller asks for.
        let library = unsafe { libc::dlopen(text.as_ptr(), libc::RTLD_NOW | libc::RTLD_NODELETE) };
        if library.is_null() {
            return Err(failed(why()));
        }
        let find = |name: &CStr| {
            // SAFETY: the library is loaded, and the name ends with NUL.
            let found = unsafe { libc::dlsym(library, name.as_ptr()) };
            if found.is_null() { Err(OpenError::NoBridge { path: path.to_owned() }) } else { Ok(found) }
        };
        // SAFETY (of all): the library exports functions of these names with these types, see bridge/go/export.go.
        let meet = find(c"eddy_bridge_go_meet")?;
        let bind = find(c"eddy_bridge_go_bind")?;
        let enter = find(c"eddy_bridge_go_enter")?;
        let start = find(c"eddy_bridge_go_start")?;
        let cancel = find(c"eddy_bridge_go_cancel")?;
        Ok(Self {
            // SAFETY: bridge/go exports this name as a function of this type.
            meet: unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut Handshake)>(meet) },
            // SAFETY: as above.
            bind: unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut Bind)>(bind) },
            // SAFETY: as above.
            enter: unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut u64)>(enter) },
            // SAFETY: as above.
            start: unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut u64)>(start) },
            // SAFETY: as above.
            cancel: unsafe { mem::transmute::<*mut c_void, unsafe extern "C" fn(u64)>(cancel) },
        })
    }
}

fn why() -> String {
    // SAFETY: `dlerror` returns a string or null, valid until the next call on this thread.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "unknown reason".to_owned();
    }
    // SAFETY: not null, so a string that ends with NUL.
    let text = unsafe { CStr::from_ptr(text) };
    OsStr::from_bytes(text.to_bytes()).to_string_lossy().into_owned()
}

#[cfg(feature = "linked")]
mod linked {
    //! Functions exported by the archive that the program is linked with.

    use super::{Bind, Functions, Meet};

    // SAFETY: bridge/go exports these names as functions of these types.
    unsafe extern "C" {
        fn eddy_bridge_go_meet(meet: *mut Handshake);
        fn eddy_bridge_go_bind(bind: *mut Bind);
        fn eddy_bridge_go_enter(block: *mut u64);
        fn eddy_bridge_go_start(block: *mut u64);
        fn eddy_bridge_go_cancel(ticket: u64);
    }

    pub(super) const FUNCTIONS: GoExports = GoExports {
        meet: eddy_bridge_go_meet,
        bind: eddy_bridge_go_bind,
        enter: eddy_bridge_go_enter,
        start: eddy_bridge_go_start,
        cancel: eddy_bridge_go_cancel,
    };
}

/// Why a Go library can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// It can't be loaded.
    Load {
        /// Path of the library.
        path: PathBuf,
        /// Message of the loader.
        text: String,
    },
    /// It isn't a Go library that imports the bridge.
    NoBridge {
        /// Path of the library.
        path: PathBuf,
    },
    /// The bridge in it has another version.
    Version {
        /// Path of the library.
        path: PathBuf,
        /// Version found.
        found: u64,
    },
    /// The process already has another Go library.
    Second {
        /// Path of the loaded library.
        first: PathBuf,
        /// Path of the rejected library.
        second: PathBuf,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Load { path, text } => write!(f, "{} can't be loaded: {text}", path.display()),
            Self::NoBridge { path } => write!(
                f,
                "{} contains no bridge: expected a Go library that imports \
                 github.com/eddy-gateway/eddy/bridge/go",
                path.display()
            ),
            Self::Version { path, found } => write!(
                f,
                "the bridge in {} has version {found}, this program has {ABI}: build both from the same \
                 release",
                path.display()
            ),
            Self::Second { first, second } => write!(
                f,
                "a process can have only one Go runtime: {} is loaded, so {} can't be; build both packages \
                 into one library",
                first.display(),
                second.display()
            ),
        }
    }
}

impl error::Error for OpenError {}

/// The Go library of the process, if there is one.
static OPENED: Mutex<Option<(PathBuf, Go)>> = Mutex::new(None);

/// ABI version of everything that is passed between both sides.
pub(crate) const ABI: u64 = 2;
