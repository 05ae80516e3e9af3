//! Other processes, in Rust and in Go.

#![allow(dead_code, reason = "no program of tests needs all of it")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// Longer than any successful operation takes.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// A process that listens at a path of its own.
pub(crate) struct PeerProcess {
    pub(crate) child: Child,
    pub(crate) path: PathBuf,
}

/// Languages that peers are written in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PeerLanguage {
    Rust,
    Go,
}

impl PeerLanguage {
    pub(crate) const ALL: [Self; 2] = [Self::Rust, Self::Go];

    /// Returns the program of a peer. The Go program is built once per run.
    pub(crate) fn program(self) -> PathBuf {
        static IN_GO: OnceLock<PathBuf> = OnceLock::new();
        match self {
            Self::Rust => env!("CARGO_BIN_EXE_eddy-bridge-ring-peer").into(),
            Self::Go => IN_GO.get_or_init(build_in_go).clone(),
        }
    }
}

fn build_in_go() -> PathBuf {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("eddy-bridge-ring-peer-go");
    let mut command = Command::new("go");
    command.args(["build", "-buildvcs=false", "-o"]).arg(&program).arg("./ring/internal/peer");
    let built = command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../go")).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    program
}

/// Returns a unique path.
pub(crate) fn path(name: &str, tongue: PeerLanguage) -> PathBuf {
    std::env::temp_dir().join(format!("eddy-ring-{name}-{tongue:?}-{}.sock", std::process::id()))
}

impl PeerProcess {
    pub(crate) fn start(name: &str, tongue: PeerLanguage) -> Self {
        Self::start_at(path(name, tongue), tongue)
    }

    pub(crate) fn start_at(path: PathBuf, tongue: PeerLanguage) -> Self {
        let mut command = Command::new(tongue.program());
        let mut child = command.arg("listen").arg(&path).stdout(Stdio::piped()).spawn().unwrap();
        assert_eq!(first_line(&mut child), "listening\n");
        Self { child, path }
    }

    /// Stops the process, and waits until it is stopped.
    pub(crate) fn stop(&self) {
        let process = Pid::from_child(&self.child);
        kill_process(process, Signal::STOP).unwrap();
        let (_, status) = waitpid(Some(process), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped());
    }

    pub(crate) fn go_on(&self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).unwrap();
    }
}

/// A peer of a peer: it calls one that listens at a path, and prints in the end why it cannot.
pub(crate) struct Caller(Child);

impl Caller {
    /// Starts the caller, and waits until it has a link.
    pub(crate) fn start(tongue: PeerLanguage, manner: &str, path: &Path) -> Self {
        let mut command = Command::new(tongue.program());
        command.arg(manner).arg(path).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        assert_eq!(first_line(&mut child), "linked\n");
        Self(child)
    }

    /// Closes its input, which it waits for before it floods.
    pub(crate) fn end_input(&mut self) {
        drop(self.0.stdin.take());
    }

    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Returns its final output.
    pub(crate) fn stderr_tail(self) -> String {
        let output = self.0.wait_with_output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    }
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    line
}

impl Drop for PeerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        remove(&self.path);
    }
}

pub(crate) fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}
