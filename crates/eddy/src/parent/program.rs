//! The program that gateway processes run: the image in use, and the file on disk that may have replaced it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustix::process::Pid;

/// Program to start gateway processes with.
#[derive(Debug)]
pub(crate) struct GatewayProgram {
    /// Path of the program, as it was started; a symbolic link is followed at each hand-over.
    pub(super) path: PathBuf,
    /// Image that replacements run: that of a process which serves.
    pub(super) image: Image,
    arguments: Vec<OsString>,
}

/// Executable file held open, which stays the same even if it is replaced on disk.
#[derive(Clone, Debug)]
pub(super) struct Image {
    file: Arc<OwnedFd>,
}

impl GatewayProgram {
    /// Returns this program, with the `arguments` of its gateway processes.
    ///
    /// # Errors
    /// When `/proc` does not show the image of this process.
    pub(crate) fn of_this_process(arguments: Vec<OsString>) -> io::Result<Self> {
        let image = Image::running()?;
        let path = path_as_started(&image)?;
        Ok(Self { path, arguments, image })
    }

    /// Starts a process of the image in use.
    ///
    /// # Errors
    /// Errors of fork or exec.
    pub(super) fn start_image(&self, stdin: OwnedFd) -> io::Result<Pid> {
        // Not by the path: the file there may be half written, or one that no hand-over has tested.
        self.start(&self.image.path(), stdin)
    }

    /// Starts a process of the file on disk and returns its image.
    ///
    /// # Errors
    /// Errors of open, fork or exec.
    pub(super) fn start_on_disk(&self, stdin: OwnedFd) -> io::Result<(Pid, Image)> {
        let image = Image::open(&self.path)?;
        Ok((self.start(&self.path, stdin)?, image))
    }

    fn start(&self, path: &Path, stdin: OwnedFd) -> io::Result<Pid> {
        // The child stays in the parent's process group, so whatever kills the group kills it as well. While it has a
        // parent, it ignores the signals that a terminal sends to the whole group.
        let child = Command::new(path)
            .arg0(&self.path)
            .arg(GATEWAY_COMMAND)
            .args(&self.arguments)
            .stdin(Stdio::from(stdin))
            .env_remove(RESTORE_VARIABLE)
            .spawn()?;
        Ok(Pid::from_child(&child))
    }
}

impl Image {
    /// Returns the image of this process.
    ///
    /// # Errors
    /// When `/proc` is not mounted.
    pub(super) fn running() -> io::Result<Self> {
        Self::open(Path::new("/proc/self/exe"))
    }

    /// Wraps an image that another process held open.
    pub(super) fn from_fd(file: OwnedFd) -> Self {
        Self { file: Arc::new(file) }
    }

    /// Whether both are the same file.
    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        match (self.identity(), other.identity()) {
            (Ok(ours), Ok(theirs)) => ours == theirs,
            (Err(_), _) | (_, Err(_)) => false,
        }
    }

    /// Returns a path by which this process, or its child before exec, can execute the image.
    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::from_fd(File::open(path)?.into()))
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        let status = rustix::fs::fstat(&*self.file)?;
        Ok((status.st_dev, status.st_ino))
    }
}

impl AsFd for Image {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Returns the path this process was started by, with symbolic links unresolved: an upgrade may point one to another
/// version.
fn path_as_started(image: &Image) -> io::Result<PathBuf> {
    let named = std::env::args_os().next().unwrap_or_default();
    let candidates: Vec<PathBuf> = if named.as_encoded_bytes().contains(&b'/') {
        vec![std::env::current_dir()?.join(&named)]
    } else {
        let search = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&search).map(|folder| folder.join(&named)).collect()
    };
    let identity = image.identity()?;
    let is_this = |path: &PathBuf| path.metadata().is_ok_and(|it| (it.dev(), it.ino()) == identity);
    match candidates.into_iter().find(is_this) {
        Some(path) => Ok(path),
        None => std::env::current_exe(),
    }
}

/// Hidden command that runs a gateway process.
pub(crate) const GATEWAY_COMMAND: &str = "gateway";

/// Tells a parent process that it replaces another image and finds the state at standard input.
pub(super) const RESTORE_VARIABLE: &str = "EDDY_TAKE_UP";

/// Whether this process replaces another image of the parent.
pub(super) fn replaces_parent_image() -> bool {
    std::env::var_os(RESTORE_VARIABLE).is_some_and(|it| it == OsStr::new("1"))
}
