//! Where a test runs: the binary under test, addresses of its own, directories of its own, and the knobs of the environment.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, ensure};

/// A directory that is removed with everything in it when it goes out of scope.
#[derive(Debug)]
pub struct TempDir {
    path: PathBuf,
}

impl TempDir {
    /// Makes a directory whose name begins with `name`.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn new(name: &str) -> Result<Self> {
        let unique = format!("eddy-e2e-{name}-{}-{}", std::process::id(), next_number());
        let path = std::env::temp_dir().join(unique);
        std::fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self { path })
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path in the directory.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // What is left over harms nobody; a test's verdict does not hang on it.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// The value of an environment variable that steers the tests.
pub fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "the one place where the tests read their environment")]
    let value = std::env::var(name);
    value.ok().filter(|value| !value.is_empty())
}

/// The eddy binary: `EDDY_BIN`, or the one cargo built beside this test.
///
/// # Errors
/// When there is none; says how to build it.
pub fn eddy_binary() -> Result<PathBuf> {
    if let Some(path) = variable("EDDY_BIN") {
        return Ok(PathBuf::from(path));
    }
    let test = std::env::current_exe().context("cannot tell where this test lives")?;
    // Tests live in target/<profile>/deps, the harness's own programs in target/<profile>.
    let profile =
        test.parent().map(|parent| if parent.ends_with("deps") { parent.join("..") } else { parent.into() });
    let binary = profile.context("this test lives nowhere")?.join("eddy");
    ensure!(
        binary.is_file(),
        "no eddy at {}: run `cargo build -p eddy` with the same profile first, or set EDDY_BIN",
        binary.display()
    );
    Ok(binary)
}

/// The root of the source tree.
pub fn tree() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Puts a program with this content, an executable file or a script, at `path`, in one step.
///
/// Another process writes it: what this one writes, a child that another thread forks meanwhile has open too until it
/// executes its own program, and a program that somebody has open for writing cannot be executed.
///
/// # Errors
/// When it cannot be written.
pub fn install(content: &[u8], path: &Path) -> Result<()> {
    let (written, fresh) = (path.with_extension("content"), path.with_extension("fresh"));
    std::fs::write(&written, content)?;
    let status = Command::new("install").args(["-m", "755"]).args([&written, &fresh]).status()?;
    ensure!(status.success(), "cannot install {}: {status}", path.display());
    std::fs::rename(fresh, path)?;
    Ok(())
}

/// Puts a copy of the eddy binary at `path`, in one step.
///
/// # Errors
/// As [`eddy_binary`] and [`install`].
pub fn install_eddy(path: &Path) -> Result<()> {
    install(&std::fs::read(eddy_binary()?)?, path)
}

/// A loopback address that no other test of this machine uses, with a port at which nobody listened a moment ago.
///
/// The port is below those that the kernel gives to connections by itself. Nothing is bound to find it: a child that
/// another thread forks meanwhile would have the socket too until it executes its own program, and the address would
/// be in use.
///
/// # Errors
/// When no port is free.
pub fn free_address() -> Result<SocketAddr> {
    let number = next_number();
    let process = std::process::id();
    let [_, _, high, low] = process.to_be_bytes();
    let ip = Ipv4Addr::new(127, 64 | (high & 0x3f), low, u8::try_from(number % 250 + 1)?);
    for step in 0..PORTS {
        let port = FIRST_PORT + u16::try_from((number.wrapping_mul(7) + step) % PORTS)?;
        if TcpStream::connect((ip, port)).is_err() {
            return Ok((ip, port).into());
        }
    }
    anyhow::bail!("no free port at {ip}")
}

/// The loopback address that names client number `number`; distinct up to 2^20 and never one of [`free_address`].
pub fn client_address(number: u32) -> Ipv4Addr {
    let [_, high, middle, low] = number.to_be_bytes();
    Ipv4Addr::new(127, 16 | (high & 0x0f), middle, low)
}

/// A number that no other call in this process gets.
pub fn next_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

const FIRST_PORT: u16 = 20_000;
const PORTS: u32 = 10_000;
