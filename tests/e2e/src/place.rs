//! Environment of a test: the binary under test, addresses, temporary directories, and environment variables.

use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

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

/// Returns a folder that is the same in each run, so that compilers can reuse their results: `root` is the test's
/// `CARGO_TARGET_TMPDIR`, `test` its `CARGO_CRATE_NAME`.
///
/// Until it ends, only this process uses the folders of the test. Another run of the same checkout waits for it, because
/// it would replace modules and libraries that gateways have loaded.
///
/// # Errors
/// When the file system refuses.
pub fn build_folder(root: &str, test: &str) -> Result<PathBuf> {
    static LOCKS: Mutex<Vec<(PathBuf, File)>> = Mutex::new(Vec::new());
    let folder = Path::new(root).join(test);
    let mut locks = LOCKS.lock().unwrap_or_else(PoisonError::into_inner);
    if locks.iter().any(|(locked, _)| *locked == folder) {
        return Ok(folder);
    }
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.with_extension("lock");
    let file = File::create(&path).with_context(|| format!("cannot make {}", path.display()))?;
    if file.try_lock().is_err() {
        let mut notice = std::io::stderr();
        // The wait is the same without the notice.
        let _ = writeln!(notice, "{test}: waiting for another test run that uses {}", folder.display());
        file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
    }
    locks.push((folder.clone(), file));
    Ok(folder)
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

/// Returns a loopback IP address that no other test on this machine uses.
pub fn own_ip() -> Ipv4Addr {
    let [_, _, high, low] = std::process::id().to_be_bytes();
    let [last, ..] = (next_number() % 250 + 1).to_le_bytes();
    Ipv4Addr::new(127, 64 | (high & 0x3f), low, last)
}

/// Returns an [`own_ip`] with port 0: the kernel chooses a free port for the server that binds it.
///
/// A server in the test knows its port from the socket, [`crate::gateway::TestGateway::bound`] that of the gateway.
pub fn any_port() -> SocketAddr {
    (own_ip(), 0).into()
}

/// Returns an address at which nothing listens.
pub fn closed_address() -> SocketAddr {
    (own_ip(), CLOSED_PORT).into()
}

/// Returns an address for a server whose port must be known before it starts, with a port that is not in use.
///
/// These servers need it; all others use [`any_port`]:
///
/// * other programs that do not say which port they got (NGINX, Envoy, Pebble);
/// * a gateway with an `nginx.conf` or Ingresses, whose listeners cannot have port 0;
/// * listeners that are also an endpoint of the same configuration, or start after it was written;
/// * listeners that come back to an address after a reload, or whose entries for a log service must tell their port.
///
/// Another program can take the port only at all addresses of the machine. It is below the ephemeral range of the
/// kernel, and a port that is in use is passed over. No socket is bound to find that out: a child that another thread
/// forks meanwhile would inherit the socket until it executes its own program, and the address would be in use.
///
/// # Errors
/// When all ports are in use.
pub fn fixed_address() -> Result<SocketAddr> {
    let (ip, number) = (own_ip(), next_number());
    for step in 0..PORTS {
        let port = FIRST_PORT + u16::try_from((number.wrapping_mul(7) + step) % PORTS)?;
        if TcpStream::connect((ip, port)).is_err() {
            return Ok((ip, port).into());
        }
    }
    anyhow::bail!("no free port at {ip}")
}

/// Returns the loopback address of client number `number`; distinct up to 2^20 and never equal to an [`own_ip`].
pub fn client_address(number: u32) -> Ipv4Addr {
    let [_, high, middle, low] = number.to_be_bytes();
    Ipv4Addr::new(127, 16 | (high & 0x0f), middle, low)
}

/// Returns a number that is unique in this process.
pub fn next_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Port of [`closed_address`], at which no program listens at all addresses of a machine.
const CLOSED_PORT: u16 = 1;
const FIRST_PORT: u16 = 20_000;
const PORTS: u32 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_test_belongs_to_one_process() {
        let root = TempDir::new("locked").unwrap();
        let name = root.path().to_str().unwrap();
        let folder = build_folder(name, "one").unwrap();
        // This process has it already.
        assert_eq!(build_folder(name, "one").unwrap(), folder);
        assert_ne!(build_folder(name, "other").unwrap(), folder);
        let lock = File::open(root.join("one.lock")).unwrap();
        assert!(lock.try_lock().is_err(), "another process waits");
    }
}
