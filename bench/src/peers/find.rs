//! Location of the target programs, and their versions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::kind::GatewayKind;
use super::setup::Setup;

/// A gateway to be measured.
#[derive(Clone, Debug)]
pub struct BenchTarget {
    /// Name in tables.
    pub name: String,
    /// The gateway kind.
    pub kind: GatewayKind,
    /// Path of its program.
    pub binary: PathBuf,
    /// A configuration template instead of the committed one.
    pub config: Option<PathBuf>,
    /// Further values for its templates.
    pub values: BTreeMap<&'static str, String>,
    /// Environment variables that it is started with.
    pub environment: BTreeMap<&'static str, String>,
}

impl BenchTarget {
    /// Creates a target with the defaults.
    pub fn new(name: &str, kind: GatewayKind, binary: PathBuf) -> Self {
        let name = name.to_owned();
        Self { name, kind, binary, config: None, values: BTreeMap::new(), environment: BTreeMap::new() }
    }

    /// Returns what the target lacks for a setup, and how to get it; a target that lacks something counts as absent.
    pub fn lacks(&self, setup: Setup) -> Option<String> {
        let modules = self.values.get(NGINX_MODULES).filter(|_| setup.has_transports)?;
        let module = Path::new(modules).join("ngx_stream_module.so");
        (!module.is_file()).then(|| {
            format!(
                "`{}` is absent from setup `{}`: there is no `{}` (apt-get install libnginx-mod-stream, make bench-peers, or NGINX_MODULES=folder)",
                self.name,
                setup.name(),
                module.display()
            )
        })
    }
}

/// Places where programs are searched for.
#[derive(Clone, Debug, Default)]
pub struct Peers {
    /// Paths given by the user; these kinds are not searched for.
    pub given: BTreeMap<GatewayKind, PathBuf>,
    /// Folder into which the install script downloads.
    pub installed: Option<PathBuf>,
    /// Folders to search.
    pub search: Vec<PathBuf>,
    /// Folder of NGINX modules.
    pub nginx_modules: PathBuf,
}

impl Peers {
    /// Returns the target `name`.
    ///
    /// # Errors
    /// Returns an error if it is not a gateway, or its program is not found; the message says how to get it.
    pub fn find(&self, name: &str) -> Result<BenchTarget> {
        let kind = GatewayKind::named(name).with_context(|| {
            let known: Vec<&str> = GatewayKind::ALL.iter().map(|kind| kind.name()).collect();
            format!("unknown target `{name}`; known targets: {}", known.join(", "))
        })?;
        self.find_kind(name, kind)
    }

    /// Returns the gateway `kind` as the target `name`.
    ///
    /// # Errors
    /// As [`Peers::find`].
    pub fn find_kind(&self, name: &str, kind: GatewayKind) -> Result<BenchTarget> {
        let binary = match self.given.get(&kind) {
            Some(path) if is_program(path) => path.clone(),
            Some(path) => {
                bail!("`{name}` is absent: `{}` is not a program ({})", path.display(), kind.hint())
            }
            None => self.search(kind).with_context(|| format!("`{name}` is absent ({})", kind.hint()))?,
        };
        let binary = fs::canonicalize(&binary).unwrap_or(binary);
        let mut target = BenchTarget::new(name, kind, binary);
        if kind == GatewayKind::Nginx {
            target.values.insert(NGINX_MODULES, self.nginx_modules.display().to_string());
        }
        Ok(target)
    }

    fn search(&self, kind: GatewayKind) -> Option<PathBuf> {
        let packaged = self.installed.iter().flat_map(|folder| packaged_binaries(folder, kind));
        let others = self.search.iter().map(|folder| folder.join(kind.name()));
        packaged.chain(others).find(|path| is_program(path))
    }
}

/// Returns the programs of that kind inside Python packages of the environment in `folder`.
///
/// Envoy's package has a script beside the actual program, of the same name; only the program is returned.
fn packaged_binaries(folder: &Path, kind: GatewayKind) -> Vec<PathBuf> {
    let list = |folder: &Path| -> Vec<PathBuf> {
        fs::read_dir(folder)
            .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
            .unwrap_or_default()
    };
    let pythons = list(&folder.join("venv/lib"));
    let packages = pythons.iter().flat_map(|python| list(&python.join("site-packages")));
    packages.map(|package| package.join("_bin").join(kind.name())).filter(|path| path.is_file()).collect()
}

/// The template value that names the folder of NGINX modules.
const NGINX_MODULES: &str = "NGINX_MODULES";

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

/// Returns the version that a program reports, in a few words.
pub fn version(kind: GatewayKind, binary: &Path) -> String {
    let output = Command::new(binary).arg(kind.version_argument()).stdin(Stdio::null()).output();
    let Ok(output) = output else { return "unknown".to_owned() };
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    version_in(&text).unwrap_or_else(|| "unknown".to_owned())
}

/// Returns the first dotted number in `text`, the format of all four programs.
fn version_in(text: &str) -> Option<String> {
    let words = text.split(|character: char| character.is_whitespace() || "/,()".contains(character));
    let is_version =
        |word: &&str| word.contains('.') && word.starts_with(|first: char| first.is_ascii_digit());
    words.into_iter().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_version(text: &str, expected: Option<&str>) {
        assert_eq!(version_in(text).as_deref(), expected, "{text:?}");
    }

    #[test]
    fn versions_are_read() {
        check_version("nginx version: nginx/1.22.1\n", Some("1.22.1"));
        check_version(
            "HAProxy version 2.6.12-1+deb12u4 2026/10/17 - https://haproxy.org/",
            Some("2.6.12-1+deb12u4"),
        );
        check_version("\n/a/b/envoy  version: 9e55/1.40.0/Clean/RELEASE/BoringSSL\n", Some("1.40.0"));
        check_version("eddy 0.1.0 (abc)", Some("0.1.0"));
        check_version("no", None);
    }

    #[test]
    fn nginx_without_its_stream_module_is_absent_where_connections_are_passed_on() {
        let folder = std::env::temp_dir().join(format!("eddy-bench-modules-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut peers = Peers { nginx_modules: folder.clone(), ..Peers::default() };
        peers.given.insert(GatewayKind::Nginx, PathBuf::from("/bin/sh"));
        peers.given.insert(GatewayKind::Haproxy, PathBuf::from("/bin/sh"));
        let transports = Setup { has_transports: true, ..Setup::default() };
        let nginx = peers.find("nginx").unwrap();
        assert_eq!(nginx.lacks(Setup::default()), None);
        let lacks = nginx.lacks(transports).unwrap();
        assert!(
            lacks.starts_with("`nginx` is absent from setup `plain-transports`: there is no `"),
            "{lacks}"
        );
        assert!(lacks.contains("apt-get install libnginx-mod-stream"), "{lacks}");
        assert_eq!(peers.find("haproxy").unwrap().lacks(transports), None);
        fs::write(folder.join("ngx_stream_module.so"), "").unwrap();
        assert_eq!(nginx.lacks(transports), None);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn absent_programs_are_named_with_a_hint() {
        let peers = Peers::default();
        let failure = format!("{:#}", peers.find("nginx").unwrap_err());
        assert_eq!(failure, "`nginx` is absent (make bench-peers, or NGINX=path)");
        assert!(peers.find("apache").unwrap_err().to_string().contains("unknown target `apache`"));
    }

    #[test]
    fn configured_paths_take_precedence_and_must_be_programs() {
        let mut peers = Peers { search: vec![PathBuf::from("/bin")], ..Peers::default() };
        peers.given.insert(GatewayKind::Nginx, PathBuf::from("/bin/sh"));
        assert_eq!(peers.find("nginx").unwrap().binary, fs::canonicalize("/bin/sh").unwrap());
        peers.given.insert(GatewayKind::Nginx, PathBuf::from("/etc/passwd"));
        assert!(peers.find("nginx").unwrap_err().to_string().contains("not a program"));
    }
}
