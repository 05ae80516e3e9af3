//! Filter libraries and modules beside the gateway programs, and how to get them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::find::{BenchTarget, Peers};
use super::kind::GatewayKind;
use crate::filters::{FilterLanguage, FilterTarget};

/// Paths of the filter libraries.
#[derive(Clone, Debug, Default)]
pub struct Libraries {
    /// Go filters for eddy.
    pub go: PathBuf,
    /// Go filters written for Envoy, bundled for eddy.
    pub go_envoy: PathBuf,
    /// Folder of the native filters for eddy, one library each.
    pub native: PathBuf,
    /// Folder of the Lua scripts for eddy and Envoy.
    pub scripts: PathBuf,
    /// Wasm filters written in Rust, for eddy and Envoy.
    pub wasm: PathBuf,
    /// Wasm filters written in Go, for eddy and Envoy.
    pub wasm_go: PathBuf,
    /// Folder of NGINX modules.
    pub nginx_modules: PathBuf,
}

impl Libraries {
    /// Returns the target with everything that its filters need.
    ///
    /// # Errors
    /// Returns an error if something is missing; the message says what, and how to get it.
    pub fn complete(&self, target: FilterTarget, peers: &Peers) -> Result<BenchTarget> {
        let name = target.name;
        let found = peers.find_kind(name, target.kind)?;
        let with = |value_name, value: String| {
            let mut target = found.clone();
            target.values.insert(value_name, value);
            target
        };
        match (target.kind, target.tongue) {
            (GatewayKind::Eddy, FilterLanguage::Go) => Ok(with("LIBRARY", library(name, &self.go)?)),
            (GatewayKind::Eddy, FilterLanguage::GoEnvoy) => {
                Ok(with("LIBRARY", library(name, &self.go_envoy)?))
            }
            (GatewayKind::Eddy, FilterLanguage::Native) => {
                for file in NATIVE {
                    is_there(
                        name,
                        &self.native.join(file),
                        "build it with `make bench-filters`, which reports errors",
                    )?;
                }
                Ok(with("LIBRARIES", absolute(&self.native)?))
            }
            (GatewayKind::Eddy | GatewayKind::Envoy, FilterLanguage::Lua) => {
                self.with_scripts(found, "basic-auth.lua")
            }
            (GatewayKind::Eddy | GatewayKind::Envoy, FilterLanguage::LuaJit) => {
                self.with_scripts(found, "basic-auth-jit.lua")
            }
            (GatewayKind::Eddy | GatewayKind::Envoy, FilterLanguage::Wasm) => {
                Ok(with("MODULE", library(name, &self.wasm)?))
            }
            (GatewayKind::Eddy | GatewayKind::Envoy, FilterLanguage::WasmGo) => {
                Ok(with("MODULE", library(name, &self.wasm_go)?))
            }
            (GatewayKind::Nginx, FilterLanguage::Lua) => {
                let module = self.nginx_modules.join("ngx_http_lua_module.so");
                is_there(name, &module, "make bench-peers, or NGINX_MODULES=folder")?;
                Ok(with("NGINX_MODULES", self.nginx_modules.display().to_string()))
            }
            (GatewayKind::Envoy, FilterLanguage::Go) => {
                let folder = peers.installed.as_ref().map(|folder| folder.join("modules"));
                let folder =
                    folder.with_context(|| format!("`{name}` is absent: there is no cache folder"))?;
                is_there(name, &folder.join("libeddy_bench.so"), "make bench-peers, which needs Go")?;
                let mut target = found;
                target.environment.insert("ENVOY_DYNAMIC_MODULES_SEARCH_PATH", folder.display().to_string());
                // Its SDK passes pointers to Go memory that the cgo check would reject.
                target.environment.insert("GODEBUG", "cgocheck=0".to_owned());
                Ok(target)
            }
            (_, FilterLanguage::None | FilterLanguage::Builtin)
            | (GatewayKind::Haproxy, FilterLanguage::Lua) => Ok(found),
            (
                _,
                FilterLanguage::Go
                | FilterLanguage::GoEnvoy
                | FilterLanguage::Native
                | FilterLanguage::LuaJit
                | FilterLanguage::Wasm
                | FilterLanguage::WasmGo,
            ) => {
                bail!("`{name}` is not possible: its gateway does not support such filters")
            }
        }
    }

    /// Returns the target with the scripts shared by eddy and Envoy, and with `auth` as the script for credentials.
    fn with_scripts(&self, mut target: BenchTarget, auth: &str) -> Result<BenchTarget> {
        is_there(&target.name, &self.scripts.join(auth), "BENCH_FOLDER says where the benchmark lies")?;
        let scripts = absolute(&self.scripts)?;
        target.values.insert("AUTH_SCRIPT", format!("{scripts}/{auth}"));
        target.values.insert("SCRIPTS", scripts);
        Ok(target)
    }
}

fn library(name: &str, path: &Path) -> Result<String> {
    is_there(name, path, "build it with `make bench-filters`, which reports errors")?;
    absolute(path)
}

fn absolute(path: &Path) -> Result<String> {
    let path = std::fs::canonicalize(path).with_context(|| format!("cannot find `{}`", path.display()))?;
    Ok(path.display().to_string())
}

fn is_there(name: &str, path: &Path, hint: &str) -> Result<()> {
    if !path.is_file() {
        bail!("`{name}` is absent: there is no `{}` ({hint})", path.display());
    }
    Ok(())
}

const NATIVE: &[&str] = &["libpassthrough.so", "libbasic_auth.so", "libheader_get_set.so", "libbody_read.so"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::TARGETS;

    /// Libraries that all point to existing paths, so that nothing has to be built.
    fn complete_libraries() -> (Libraries, Peers) {
        let program = PathBuf::from("/bin/sh");
        let mut peers = Peers::default();
        peers.given.extend(GatewayKind::ALL.map(|kind| (kind, program.clone())));
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/lua");
        let (wasm, wasm_go) = (program.clone(), program.clone());
        (Libraries { scripts, wasm, wasm_go, ..Libraries::default() }, peers)
    }

    #[test]
    fn both_gateways_use_the_same_scripts_and_modules() {
        let (libraries, peers) = complete_libraries();
        let values =
            |name: &str| libraries.complete(FilterTarget::named(name).unwrap(), &peers).unwrap().values;
        for tongue in ["lua", "lua-jit", "wasm", "wasm-go"] {
            let (eddy, envoy) = (values(&format!("eddy-{tongue}")), values(&format!("envoy-{tongue}")));
            assert!(!eddy.is_empty());
            assert_eq!(eddy, envoy, "{tongue}");
        }
        assert!(values("eddy-lua")["AUTH_SCRIPT"].ends_with("/peers/lua/basic-auth.lua"));
        assert!(values("eddy-lua-jit")["AUTH_SCRIPT"].ends_with("/peers/lua/basic-auth-jit.lua"));
    }

    #[test]
    fn every_script_that_a_template_names_exists() {
        let (libraries, _) = complete_libraries();
        for kind in ["eddy/eddy.yaml", "envoy/envoy.yaml"] {
            let template = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/filters").join(kind);
            let text = std::fs::read_to_string(template).unwrap();
            let names = text.split("@SCRIPTS@/").skip(1).filter_map(|rest| rest.split(['}', ' ']).next());
            let names: Vec<&str> = names.collect();
            assert_eq!(names.len(), 3, "{kind}: {names:?}");
            for name in names {
                assert!(libraries.scripts.join(name).is_file(), "{kind}: {name}");
            }
        }
    }

    #[test]
    fn impossible_targets_are_refused() {
        let (libraries, peers) = complete_libraries();
        let impossible =
            FilterTarget { kind: GatewayKind::Nginx, ..FilterTarget::named("envoy-wasm").unwrap() };
        let failure = libraries.complete(impossible, &peers).unwrap_err().to_string();
        assert_eq!(failure, "`envoy-wasm` is not possible: its gateway does not support such filters");
        let impossible = |target: &&FilterTarget| {
            let failure = libraries.complete(**target, &peers).err().map(|error| error.to_string());
            failure.is_some_and(|text| text.contains("is not possible"))
        };
        assert_eq!(TARGETS.iter().filter(impossible).count(), 0);
    }

    #[test]
    fn missing_libraries_are_reported_with_install_instructions() {
        let mut peers = Peers::default();
        peers.given.insert(GatewayKind::Eddy, PathBuf::from("/bin/sh"));
        let libraries =
            Libraries { go: "/nowhere/go.so".into(), go_envoy: "/bin/sh".into(), ..Libraries::default() };
        let complete = |name| libraries.complete(FilterTarget::named(name).unwrap(), &peers);
        let failure = complete("eddy-go").unwrap_err().to_string();
        assert_eq!(
            failure,
            "`eddy-go` is absent: there is no `/nowhere/go.so` (build it with \
             `make bench-filters`, which reports errors)"
        );
        let found = complete("eddy-go-envoy").unwrap();
        assert_eq!((found.name.as_str(), found.kind), ("eddy-go-envoy", GatewayKind::Eddy));
        assert!(found.values.contains_key("LIBRARY"));
        assert!(complete("eddy-native").unwrap_err().to_string().contains("`libpassthrough.so`"));
        assert!(complete("envoy-go").unwrap_err().to_string().starts_with("`envoy-go` is absent"));
    }
}
