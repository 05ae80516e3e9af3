//! Environment of a test: the binary under test, addresses, temporary directories, and environment variables.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context, Result, ensure};

/// A directory that is removed with its content on drop.
#[derive(Debug)]
pub struct TempDir {
    path: PathBuf,
}

impl TempDir {
    /// Creates a directory whose name begins with `name`.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn new(name: &str) -> Result<Self> {
        let unique = format!("eddy-e2e-{name}-{}-{}", std::process::id(), next_number());
        let path = std::env::temp_dir().join(unique);
        std::fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self { path })
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a path in the directory.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        // A directory that cannot be removed does no harm and does not affect the test result.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Returns the value of an environment variable that controls the tests.
pub fn variable(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "the one place where the tests read their environment")]
    let value = std::env::var(name);
    value.ok().filter(|value| !value.is_empty())
}

/// Returns the path of the eddy binary: `EDDY_BIN`, or the one that cargo built beside this test.
///
/// # Errors
/// When there is none; the error says how to build it.
pub fn eddy_binary() -> Result<PathBuf> {
    if let Some(path) = variable("EDDY_BIN") {
        return Ok(PathBuf::from(path));
    }
    let test = std::env::current_exe().context("cannot determine the path of the test binary")?;
    // Tests are in target/<profile>/deps, the harness's own programs in target/<profile>.
    let profile =
        test.parent().map(|parent| if parent.ends_with("deps") { parent.join("..") } else { parent.into() });
    let binary = profile.context("the test binary has no parent folder")?.join("eddy");
    ensure!(
        binary.is_file(),
        "no eddy at {}: run `cargo build -p eddy` with the same profile first, or set EDDY_BIN",
        binary.display()
    );
    Ok(binary)
}

/// Returns the root of the source tree.
pub fn tree() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Writes a program with this content, an executable file or a script, to `path` atomically.
///
/// A child process writes the file. If this process wrote it, a child that another thread forks meanwhile would inherit
/// the open file until it executes its own program, and a program that is open for writing cannot be executed.
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

/// Writes a copy of the eddy binary to `path` atomically.
///
/// # Errors
/// As [`eddy_binary`] and [`install`].
pub fn install_eddy(path: &Path) -> Result<()> {
    install(&std::fs::read(eddy_binary()?)?, path)
}

/// Returns a loopback address that no other test on this machine uses, with a port that was free a moment ago.
///
/// The port is below the ephemeral range of the kernel. No socket is bound to find it: a child that another thread
/// forks meanwhile would inherit the socket until it executes its own program, and the address would be in use.
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

/// Returns the loopback address of client number `number`; distinct up to 2^20 and never equal to a [`free_address`].
pub fn client_address(number: u32) -> Ipv4Addr {
    let [_, high, middle, low] = number.to_be_bytes();
    Ipv4Addr::new(127, 16 | (high & 0x0f), middle, low)
}

/// Returns a number that is unique in this process.
pub fn next_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

const FIRST_PORT: u16 = 20_000;
const PORTS: u32 = 10_000;
