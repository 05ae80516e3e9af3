//! A Go process with every service of the tests.

#![allow(dead_code, reason = "no program of tests needs all of it")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use eddy_bridge_apart::{RemoteProcess, ServiceHandler};
use eddy_bridge_e2e::{Looking, serve_mirror};
use eddy_bridge_ring::{LinkLimits, connect};

/// A Go process that listens at a path of its own.
pub(crate) struct GoProcess {
    pub(crate) child: Child,
    path: PathBuf,
}

impl GoProcess {
    pub(crate) fn start(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("eddy-apart-{name}-{}.sock", std::process::id()));
        let mut child = Command::new(built()).arg(&path).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "listening\n");
        Self { child, path }
    }

    /// Returns the number of its threads.
    pub(crate) fn threads(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap().count()
    }

    /// Connects to the process; this side serves its calls.
    pub(crate) fn linked(&self) -> Arc<RemoteProcess> {
        self.linked_within(Duration::from_secs(30))
    }

    /// Connects with another timeout of calls.
    pub(crate) fn linked_within(&self, timeout: Duration) -> Arc<RemoteProcess> {
        let answers = ServiceHandler::start(vec![serve_mirror(Looking::default())], 2, 16).unwrap();
        let link = connect(&self.path, LinkLimits::default(), answers).unwrap();
        RemoteProcess::new(link, timeout)
    }
}

/// Returns the program, built once per run.
fn built() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("everything");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../eddy-bridge-e2e/go");
        let mut build = Command::new("go");
        build.args(["build", "-buildvcs=false", "-o"]).arg(&program).arg(".").current_dir(source);
        let built = build.output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        program
    })
}

impl Drop for GoProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.path);
    }
}
