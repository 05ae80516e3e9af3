//! Loads a shared library and finds the hooks of a module in it.

use std::ffi::{CStr, CString};
use std::mem::transmute_copy;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use eddy_filter::FilterLogLevel;

use super::callbacks::{is_known, is_unavailable};
use super::hooks::{self, CallHooks, Hooks, RouteConfigHooks};
use super::host;
use crate::native::elf::undefined_symbols;

/// Visibility of a module's symbols for libraries that are loaded later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SymbolScope {
    /// Only the module itself sees its symbols.
    #[default]
    Local,
    /// Libraries that are loaded later can use its symbols.
    Global,
}

/// Opens the module in a file, for as long as the process lives.
///
/// # Errors
/// The reason why it is not a dynamic module, or not one that this eddy can run.
pub(super) fn open(path: &Path, scope: SymbolScope) -> Result<Hooks, String> {
    check_callbacks(path)?;
    // An absolute path contains a slash, so that the loader searches no other directory.
    let absolute = std::path::absolute(path).map_err(|error| error.to_string())?;
    let name = CString::new(absolute.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
    let scope = match scope {
        SymbolScope::Local => libc::RTLD_LOCAL,
        SymbolScope::Global => libc::RTLD_GLOBAL,
    };
    // SAFETY: `name` is a C string. The library's initialisers run, as its operator intends.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | scope) };
    if handle.is_null() {
        return Err(loader_error());
    }
    let library = OpenModule(handle);
    let hooks = library.hooks()?;
    library.start()?;
    Ok(hooks)
}

/// Refuses a module that needs callbacks which eddy does not know: of a later version of the ABI. Those that eddy only
/// answers with "not available" are named in the log.
fn check_callbacks(path: &Path) -> Result<(), String> {
    let undefined = undefined_symbols(path).map_err(|error| error.to_string())?;
    let callbacks = || undefined.iter().map(String::as_str).filter(|name| name.starts_with(CALLBACK_PREFIX));
    let missing: Vec<&str> = callbacks().filter(|name| !is_known(name)).collect();
    let unavailable: Vec<&str> = callbacks().filter(|name| is_unavailable(name)).collect();
    if missing.is_empty() && unavailable.is_empty() {
        return Ok(());
    }
    if missing.is_empty() {
        let text = format!(
            "the dynamic module \"{}\" can call these functions, which eddy answers with \"not available\": {}",
            path.display(),
            unavailable.join(", ")
        );
        host::log(FilterLogLevel::Info, text.as_bytes());
        return Ok(());
    }
    Err(format!(
        "it needs callbacks that eddy does not have: {}; build it with the SDK of Envoy 1.38, 1.39 or 1.40, or \
         without them",
        missing.join(", ")
    ))
}

/// An open library.
struct OpenModule(*mut libc::c_void);

impl OpenModule {
    /// Returns the hook with this name, without its common prefix.
    fn find<F: Copy>(&self, name: &str) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut libc::c_void>(), "a hook is a function") };
        let name = CString::new(format!("{HOOK_PREFIX}{name}")).ok()?;
        // SAFETY: the handle is that of an open library, and the name is a C string.
        let symbol = unsafe { libc::dlsym(self.0, name.as_ptr()) };
        // SAFETY: not null; by the ABI, which its name declares, the symbol is a function of the type `F`.
        (!symbol.is_null()).then(|| unsafe { transmute_copy(&symbol) })
    }

    fn need<F: Copy>(&self, name: &str) -> Result<F, String> {
        self.find(name).ok_or_else(|| format!("it has no function `{HOOK_PREFIX}{name}`"))
    }

    fn hooks(&self) -> Result<Hooks, String> {
        let route_config = self
            .find("http_filter_per_route_config_new")
            .zip(self.find("http_filter_per_route_config_destroy"))
            .map(|(new, destroy)| RouteConfigHooks { new, destroy });
        Ok(Hooks {
            config_new: self.need("http_filter_config_new")?,
            config_destroy: self.need("http_filter_config_destroy")?,
            route_config,
            new: self.need("http_filter_new")?,
            destroy: self.need("http_filter_destroy")?,
            request_headers: self.need("http_filter_request_headers")?,
            request_body: self.need("http_filter_request_body")?,
            request_trailers: self.need("http_filter_request_trailers")?,
            response_headers: self.need("http_filter_response_headers")?,
            response_body: self.need("http_filter_response_body")?,
            response_trailers: self.need("http_filter_response_trailers")?,
            stream_complete: self.need("http_filter_stream_complete")?,
            local_reply: self.find("http_filter_local_reply"),
            scheduled: self.find("http_filter_scheduled"),
            config_scheduled: self.find("http_filter_config_scheduled"),
            of_filter: self.call_hooks("http_filter"),
            of_config: self.call_hooks("http_filter_config"),
        })
    }

    fn call_hooks(&self, of: &str) -> CallHooks {
        CallHooks {
            callout_done: self.find(&format!("{of}_http_callout_done")),
            headers: self.find(&format!("{of}_http_stream_headers")),
            data: self.find(&format!("{of}_http_stream_data")),
            complete: self.find(&format!("{of}_http_stream_complete")),
            reset: self.find(&format!("{of}_http_stream_reset")),
        }
    }

    /// Calls the module's `on_program_init`, which returns its version of the ABI.
    fn start(&self) -> Result<(), String> {
        let init: hooks::ProgramInit = self.need("program_init")?;
        // SAFETY: by the ABI it is called once, before every other function of the module.
        let version = unsafe { init() };
        if version.is_null() {
            return Err(format!("its function `{HOOK_PREFIX}program_init` reports a failure"));
        }
        // SAFETY: not null, so by the ABI a C string.
        let version = unsafe { CStr::from_ptr(version) }.to_string_lossy();
        if !VERSIONS.contains(&&*version) {
            let known = VERSIONS.join(" and ");
            let text = format!("the module was built for version {version} of the ABI; eddy knows {known}");
            host::log(FilterLogLevel::Warn, text.as_bytes());
        }
        Ok(())
    }
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

/// Versions of the ABI: of Envoy 1.38 and 1.39, and of Envoy 1.40.
const VERSIONS: [&str; 2] = ["v0.1.0", "v0.2.0"];
const HOOK_PREFIX: &str = "envoy_dynamic_module_on_";
const CALLBACK_PREFIX: &str = "envoy_dynamic_module_callback_";
