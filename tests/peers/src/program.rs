//! Paths of installed programs.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Returns the path of this program, from the `PATH` or the folders where distributions install servers.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(SERVER_FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|path| is_program(path))
}

/// Returns the folder where the install scripts put programs that no package manager installs.
pub fn cache_folder() -> Option<PathBuf> {
    let of = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    of("XDG_CACHE_HOME").or_else(|| Some(of("HOME")?.join(".cache")))
}

/// Returns the Envoy that `bench/peers/install` installs.
pub fn envoy() -> Option<PathBuf> {
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let pythons = list(&cache_folder()?.join("eddy-bench/peers/venv/lib"));
    let packages = pythons.iter().flat_map(|python| list(&python.join("site-packages")));
    packages.map(|package| package.join("_bin/envoy")).find(|path| is_program(path))
}

/// Returns `EDDY_PYTHON`, the Python that `tests/differential/install` sets up, or the system's `python3`.
pub fn python() -> PathBuf {
    if let Some(python) = env::var_os("EDDY_PYTHON").filter(|value| !value.is_empty()) {
        return python.into();
    }
    let installed = cache_folder().map(|cache| cache.join("eddy-tests/venv/bin/python"));
    installed.filter(|python| is_program(python)).unwrap_or_else(|| "python3".into())
}

/// Returns testssl.sh, which Debian installs as `testssl`.
pub fn testssl() -> Option<PathBuf> {
    program("testssl").or_else(|| program("testssl.sh"))
}

/// Returns the folder of nginx's dynamic modules: `NGINX_MODULES`, or the folder of Debian's packages.
pub fn nginx_modules() -> PathBuf {
    env::var_os("NGINX_MODULES").map_or_else(|| "/usr/lib/nginx/modules".into(), PathBuf::from)
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// Folders of servers that are not in the `PATH` of an ordinary user.
const SERVER_FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];
