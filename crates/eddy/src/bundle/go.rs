//! Runs the Go command with a timeout and explains why it cannot be used.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::cache::Cache;
use super::failure::BundleFailure;

/// The `go` command found in `PATH`.
#[derive(Clone, Debug)]
pub(crate) struct Go {
    /// Folders for Go's caches, if Go cannot find them itself.
    environment: Vec<(&'static str, PathBuf)>,
    target: GoBuildTarget,
}

/// Build target of Go packages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GoBuildTarget {
    /// A library, which runs in eddy's own process
    #[default]
    Library,
    /// A Wasm module, which runs in a sandbox
    Wasm,
}

impl GoBuildTarget {
    /// Returns the file name of a target with this name.
    pub(super) fn file(self, name: &str) -> String {
        match self {
            Self::Library => format!("{name}.so"),
            Self::Wasm => format!("{name}.wasm"),
        }
    }

    /// Returns the environment variables for the Go command.
    fn variables(self) -> &'static [(&'static str, &'static str)] {
        match self {
            // Without a C compiler, Go disables cgo by itself and prints an unhelpful message.
            Self::Library => &[("CGO_ENABLED", "1")],
            Self::Wasm => &[("CGO_ENABLED", "0"), ("GOOS", "wasip1"), ("GOARCH", "wasm")],
        }
    }

    /// Returns the linker flags. Each process compiles a Wasm module, so debug tables are omitted from it.
    pub(super) fn flags(self) -> Option<&'static str> {
        match self {
            Self::Library => None,
            Self::Wasm => Some("-ldflags=-s -w"),
        }
    }
}

/// Result of a run of the Go command.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) succeeded: bool,
    pub(super) output: Vec<u8>,
    pub(super) errors: String,
}

/// Dependencies of a library besides its sources: the toolchain and its settings.
#[derive(Clone, Debug)]
pub(super) struct Toolchain {
    /// As in `go1.26.8`.
    pub(super) version: String,
    /// Variables of `go env`.
    pub(super) settings: BTreeMap<String, String>,
}

impl Go {
    pub(crate) fn new(cache: &Cache) -> Self {
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let mut environment = Vec::new();
        // A system service has no `HOME`, and Go would refuse to work.
        if !is_set("HOME") {
            for (name, folder) in [("GOCACHE", "go-build"), ("GOMODCACHE", "go-modules"), ("GOPATH", "go")] {
                if !is_set(name) {
                    environment.push((name, cache.root.join(folder)));
                }
            }
        }
        Self { environment, target: GoBuildTarget::default() }
    }

    /// Sets the build target.
    pub(crate) fn with_target(self, target: GoBuildTarget) -> Self {
        Self { target, ..self }
    }

    /// Returns the command in `folder`, without arguments.
    pub(crate) fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new("go");
        command.current_dir(folder).envs(self.environment.iter().map(|(name, path)| (name, path)));
        command
    }

    /// Runs the command to its end. `notice` is called when that takes long.
    ///
    /// # Errors
    /// When the command cannot be started or times out. A failed run is not an error here.
    pub(super) fn run(
        &self,
        folder: &Path,
        arguments: &[&OsStr],
        notice: &dyn Fn(),
    ) -> Result<Ran, BundleFailure> {
        let mut command = self.command(folder);
        command.args(arguments).env("GO111MODULE", "on").env("GOWORK", "off");
        command.envs(self.target.variables().iter().copied());
        command.stdin(Stdio::null());
        let mut process = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| unstarted(&error))?;
        let ended = wait(&mut process, notice);
        if ended.is_err() {
            // The process may have ended meanwhile.
            let _ = process.kill();
        }
        let status = process.wait();
        ended
            .and_then(|(output, errors)| {
                let errors = String::from_utf8_lossy(&errors).into_owned();
                Ok(Ran { succeeded: status?.success(), output, errors })
            })
            .map_err(|error| BundleFailure::new(format!("the Go command failed: {error}"), None))
    }

    /// Runs the command with this process's standard output and error.
    ///
    /// # Errors
    /// When the command cannot be started.
    pub(crate) fn show(mut command: Command) -> Result<ExitStatus, BundleFailure> {
        command.status().map_err(|error| unstarted(&error))
    }

    /// Returns the toolchain used in `folder`.
    ///
    /// # Errors
    /// When the toolchain is too old or `go env` fails.
    pub(super) fn toolchain(&self, folder: &Path) -> Result<Toolchain, BundleFailure> {
        let arguments: Vec<&OsStr> = ["env", "-json"].into_iter().chain(SETTINGS).map(OsStr::new).collect();
        let ran = self.run(folder, &arguments, &|| ())?;
        if !ran.succeeded {
            return Err(unusable(&ran.errors));
        }
        let settings: BTreeMap<String, String> = serde_json::from_slice(&ran.output).map_err(|error| {
            BundleFailure::new(format!("the output of `go env` cannot be parsed: {error}"), None)
        })?;
        let version = settings.get("GOVERSION").cloned().unwrap_or_default();
        match minor_of(&version) {
            Some(minor) if minor < MINOR_MIN => Err(too_old(&format!("found {version}"))),
            None if version.is_empty() => Err(too_old("its version is unknown")),
            // A development version counts as recent.
            Some(_) | None => Ok(Toolchain { version, settings }),
        }
    }
}

/// Returns both outputs of a process once they have ended.
fn wait(process: &mut Child, notice: &dyn Fn()) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let missing = || io::Error::other("its output is not available");
    let output = read_all(process.stdout.take().ok_or_else(missing)?);
    let errors = read_all(process.stderr.take().ok_or_else(missing)?);
    let begun = Instant::now();
    let ended = match output.recv_timeout(LONG) {
        Err(RecvTimeoutError::Timeout) => {
            notice();
            output.recv_timeout(RUN_TIME_MAX)
        }
        other => other,
    };
    let late = |_| io::Error::other(format!("no result within {} minutes", RUN_TIME_MAX.as_secs() / 60));
    let output = ended.map_err(late)?;
    let errors = errors.recv_timeout(RUN_TIME_MAX.saturating_sub(begun.elapsed())).map_err(late)?;
    Ok((output, errors))
}

fn read_all(stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, text) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut stream = stream;
        // On an error, the bytes read so far are used.
        let _ = stream.by_ref().take(OUTPUT_BYTES_MAX).read_to_end(&mut bytes);
        let _ = io::copy(&mut stream, &mut io::sink());
        let _ = sender.send(bytes);
    });
    text
}

fn unstarted(error: &io::Error) -> BundleFailure {
    if error.kind() == io::ErrorKind::NotFound {
        return BundleFailure::new(
            "Go filters need the command `go`, which is not in PATH",
            Some(
                "install Go 1.24 or later from https://go.dev/dl; or build on another machine with `eddy filter build --output filters.so`, and configure that file as `library`",
            ),
        );
    }
    BundleFailure::new(format!("the command `go` cannot be started: {error}"), None)
}

/// Returns the failure of a Go command that does not work at all.
pub(super) fn unusable(errors: &str) -> BundleFailure {
    let line = errors.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no error message");
    let is_old = errors.contains("requires go >=") || errors.contains("toolchain not available");
    if is_old { too_old(line) } else { BundleFailure::new(format!("the command `go` fails: {line}"), None) }
}

fn too_old(why: &str) -> BundleFailure {
    let hint = "`go version` shows the installed version; install a later one from https://go.dev/dl";
    BundleFailure::new(
        format!("the command `go` is too old; filters need Go 1.{MINOR_MIN} or later: {why}"),
        Some(hint),
    )
}

/// Returns 26 for `go1.26.8`.
fn minor_of(version: &str) -> Option<u32> {
    let rest = version.strip_prefix("go1.")?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    rest.get(..digits)?.parse().ok()
}

/// Converts arguments of different types.
pub(super) fn arguments<const N: usize>(words: [&dyn AsRef<OsStr>; N]) -> [&OsStr; N] {
    words.map(AsRef::as_ref)
}

/// Returns `-name=value` for a path.
pub(super) fn flag(name: &str, value: &Path) -> OsString {
    let mut flag = OsString::from(format!("-{name}="));
    flag.push(value);
    flag
}

/// Minimum Go version that the SDK supports.
const MINOR_MIN: u32 = 24;
/// Settings that change a library even if its sources stay the same.
const SETTINGS: [&str; 16] = [
    "GOVERSION",
    "GOOS",
    "GOARCH",
    "GOAMD64",
    "GOARM64",
    "GOEXPERIMENT",
    "GOFLAGS",
    "GOMODCACHE",
    "CC",
    "CXX",
    "CGO_CFLAGS",
    "CGO_CPPFLAGS",
    "CGO_CXXFLAGS",
    "CGO_LDFLAGS",
    "GOFIPS140",
    "GODEBUG",
];
/// Time after which the user sees that a build is running.
const LONG: Duration = Duration::from_secs(1);
/// Timeout of a run. A first build may have to fetch modules and to compile the whole standard library.
const RUN_TIME_MAX: Duration = Duration::from_secs(15 * 60);
const OUTPUT_BYTES_MAX: u64 = 32 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        for (version, minor) in [
            ("go1.26.8", Some(26)),
            ("go1.9", Some(9)),
            ("go1.27-devel", Some(27)),
            ("devel +abc", None),
            ("", None),
        ] {
            assert_eq!(minor_of(version), minor, "{version}");
        }
    }

    #[test]
    fn an_old_go_is_distinguished_from_a_broken_one() {
        let old = "go: go.mod requires go >= 1.24 (running go 1.22.1; GOTOOLCHAIN=local)\n";
        assert!(unusable(old).to_string().contains("too old"));
        assert_eq!(unusable("\ngo: no home\n").to_string(), "the command `go` fails: go: no home");
    }
}
