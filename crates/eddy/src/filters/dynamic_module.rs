//! Dynamic modules of a configuration: finds the file of a module that is given by its name.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use eddy_config::{DynamicModuleConfig, DynamicModuleSource};
use eddy_guest::SymbolScope;

/// Returns the file of a module. A name stands for `libNAME.so` in the directory of the search path, as in Envoy, or
/// else in the first directory of the loader's path that has it.
///
/// # Errors
/// There is no such file, with the directories that were searched.
pub(super) fn file_of(config: &DynamicModuleConfig) -> Result<PathBuf, String> {
    find(&config.module, env::var_os(SEARCH_PATH).as_deref(), env::var_os(LOADER_PATH).as_deref())
}

/// Returns the visibility of a module's symbols.
pub(super) fn scope_of(config: &DynamicModuleConfig) -> SymbolScope {
    if config.is_global { SymbolScope::Global } else { SymbolScope::Local }
}

fn find(
    module: &DynamicModuleSource,
    search_path: Option<&OsStr>,
    loader_path: Option<&OsStr>,
) -> Result<PathBuf, String> {
    let name = match module {
        DynamicModuleSource::File(path) => return Ok(path.clone()),
        DynamicModuleSource::Name(name) => name,
    };
    if name.is_empty() || name.contains('/') {
        return Err(format!("`{name}` is not the name of a dynamic module; write its file as `path`"));
    }
    let file = format!("lib{name}.so");
    let own = search_path.filter(|path| !path.is_empty()).map(PathBuf::from);
    let others = loader_path.map(env::split_paths).into_iter().flatten();
    let folders: Vec<PathBuf> = own.into_iter().chain(others.filter(|path| path.is_absolute())).collect();
    if let Some(found) = folders.iter().map(|folder| folder.join(&file)).find(|path| path.is_file()) {
        return Ok(found);
    }
    let searched = match &*folders {
        [] => "there is no directory to search".to_owned(),
        folders => {
            let names: Vec<String> = folders.iter().map(|folder| Path::display(folder).to_string()).collect();
            format!("it is not in {}", names.join(", "))
        }
    };
    Err(format!(
        "the dynamic module `{name}` has no file {file}: {searched}; set {SEARCH_PATH} to its directory, or write its file as `path`"
    ))
}

const SEARCH_PATH: &str = "ENVOY_DYNAMIC_MODULES_SEARCH_PATH";
const LOADER_PATH: &str = "LD_LIBRARY_PATH";

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_name_is_found_in_the_search_path_first() {
        let folder = env::temp_dir().join(format!("eddy-dynamic-modules-{}", std::process::id()));
        let (own, other) = (folder.join("own"), folder.join("other"));
        for place in [&own, &other] {
            fs::create_dir_all(place).unwrap();
            fs::write(place.join("liba.so"), "").unwrap();
        }
        fs::write(other.join("libb.so"), "").unwrap();
        let named = |name: &str| DynamicModuleSource::Name(name.to_owned());
        let search = |name: &str| find(&named(name), Some(own.as_os_str()), Some(other.as_os_str()));
        assert_eq!(search("a"), Ok(own.join("liba.so")));
        assert_eq!(search("b"), Ok(other.join("libb.so")));
        let missing = search("c").unwrap_err();
        assert!(missing.contains("libc.so") && missing.contains(&*other.to_string_lossy()), "{missing}");
        assert!(search("../a").unwrap_err().contains("`path`"));
        let file = DynamicModuleSource::File("./x.so".into());
        assert_eq!(find(&file, None, None), Ok("./x.so".into()));
        assert!(find(&named("a"), None, None).unwrap_err().contains(SEARCH_PATH));
        fs::remove_dir_all(folder).unwrap();
    }
}
