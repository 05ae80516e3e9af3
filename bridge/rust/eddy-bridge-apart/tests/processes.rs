//! Services of another process, in Go: every type, both ways, and what goes wrong.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use eddy_bridge::FaultKind;
use eddy_bridge_apart::{Answers, Apart, BindError};
use eddy_bridge_e2e::{Echo, Looking, Random, View, serve_mirror};
use eddy_bridge_ring::{Limits, connect};
use std::sync::Arc;

/// A process of Go that listens at a path of its own.
struct Process {
    child: Child,
    path: PathBuf,
}

impl Process {
    fn start(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let program = folder.join(format!("everything-{name}"));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../eddy-bridge-e2e/go");
        let mut build = Command::new("go");
        build.args(["build", "-buildvcs=false", "-o"]).arg(&program).arg(".").current_dir(source);
        let built = build.output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        let path = std::env::temp_dir().join(format!("eddy-apart-{name}-{}.sock", std::process::id()));
        let mut child = Command::new(program).arg(&path).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "listening\n");
        Self { child, path }
    }

    /// The process as a way to its services; this one answers its calls.
    fn linked(&self) -> Arc<Apart> {
        let answers = Answers::start(vec![serve_mirror(Looking::default())], 2, 16).unwrap();
        let link = connect(&self.path, Limits::default(), answers).unwrap();
        Apart::new(link, Duration::from_secs(30))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.path);
    }
}

#[test]
fn what_comes_back_is_what_was_sent() {
    let process = Process::start("values");
    let echo = Echo::with(process.linked().bind("Echo", Echo::SHAPE).unwrap());
    for seed in 0..5000 {
        let value = Random::new(seed).every();
        let back =
            if seed % 2 == 0 { echo.every(&value).unwrap() } else { echo.every_by_rust(&value).unwrap() };
        assert!(value == back, "seed {seed}: {value:?} became {back:?}");
    }
}

#[test]
fn large_values_have_room() {
    let process = Process::start("large");
    let echo = Echo::with(process.linked().bind("Echo", Echo::SHAPE).unwrap());
    let (body, numbers) = (vec![7; 3 << 20], (0..300_000).collect::<Vec<u32>>());
    let view = View { name: "large", body: &body, numbers: &numbers, maybe: None, count: 0 };
    for back in [echo.view(&view).unwrap(), echo.view_by_rust(&view).unwrap()] {
        assert!(back.body == body && back.numbers == numbers);
    }
    let long = vec![0; 17 << 20];
    let view = View { body: &long, ..view };
    assert_eq!(
        echo.view(&view).unwrap_err().kind,
        FaultKind::Malformed,
        "that is more than a ring passes on"
    );
}

#[test]
fn services_are_found_by_name_and_shape() {
    let process = Process::start("names");
    let apart = process.linked();
    assert_eq!(apart.bind("Echo", 7).unwrap_err(), BindError::Different("Echo".to_owned()));
    assert_eq!(apart.bind("Ohce", Echo::SHAPE).unwrap_err(), BindError::Absent("Ohce".to_owned()));
}

#[test]
fn a_dead_process_is_a_fault() {
    let mut process = Process::start("dead");
    let echo = Echo::with(process.linked().bind("Echo", Echo::SHAPE).unwrap());
    echo.nothing().unwrap();
    process.child.kill().unwrap();
    process.child.wait().unwrap();
    let fault = echo.nothing().unwrap_err();
    assert_eq!(fault.kind, FaultKind::Closed);
    assert!(fault.text.contains("it died or closed the link"), "{}", fault.text);
}
