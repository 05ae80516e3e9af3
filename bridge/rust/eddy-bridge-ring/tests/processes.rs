//! Links between processes, in Rust and in Go: they live, die, stop, and come back.

#![expect(clippy::unwrap_used, reason = "a test that can't go on fails")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use eddy_bridge_ring::{
    CallError, Failure, Fault, Incoming, Limits, Link, Listener, NoCalls, Redial, connect,
};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

/// Longer than anything takes that works.
const SOON: Duration = Duration::from_secs(30);

/// A process that listens at a path of its own.
struct Peer {
    child: Child,
    path: PathBuf,
}

/// The languages that peers are written in.
#[derive(Clone, Copy, Debug)]
enum Tongue {
    Rust,
    Go,
}

impl Tongue {
    const ALL: [Self; 2] = [Self::Rust, Self::Go];

    /// The program of a peer. That in Go is built once a run.
    fn program(self) -> PathBuf {
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

/// A path that nothing else has.
fn path(name: &str, tongue: Tongue) -> PathBuf {
    std::env::temp_dir().join(format!("eddy-ring-{name}-{tongue:?}-{}.sock", std::process::id()))
}

impl Peer {
    fn start(name: &str, tongue: Tongue) -> Self {
        Self::start_at(path(name, tongue), tongue)
    }

    fn start_at(path: PathBuf, tongue: Tongue) -> Self {
        let mut command = Command::new(tongue.program());
        let mut child = command.arg("listen").arg(&path).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "listening\n");
        Self { child, path }
    }

    /// Stops the process, and waits until it stands still.
    fn stop(&self) {
        let process = Pid::from_child(&self.child);
        kill_process(process, Signal::STOP).unwrap();
        let (_, status) = waitpid(Some(process), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped());
    }

    fn go_on(&self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).unwrap();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        remove(&self.path);
    }
}

fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}

fn echo(call: Incoming) {
    let bytes = call.bytes().to_vec();
    call.answer(bytes);
}

/// Calls method 1 with messages of many lengths, one after the other.
fn exchange(link: &Link, count: usize) {
    for number in 0..count {
        let bytes = vec![number.to_le_bytes()[0]; number * number % 3001];
        assert!(link.call(1, &bytes, SOON).unwrap() == bytes, "call {number}");
    }
}

#[test]
fn another_process_answers() {
    for tongue in Tongue::ALL {
        let peer = Peer::start("answers", tongue);
        let link = connect(&peer.path, Limits::default(), echo).unwrap();
        exchange(&link, 5000);
        let long = vec![7; 10_000_000];
        assert!(link.call(1, &long, SOON).unwrap() == long);
        let back = vec![8; 700_000];
        assert!(link.call(4, &back, SOON).unwrap() == back, "the other process calls back");
        let failed = Failure::new(Failure::FIRST_OWN, "as it was asked to");
        assert_eq!(link.call(3, b"", SOON), Err(CallError::Failed(failed)));
        let limit = Duration::from_millis(20);
        assert_eq!(link.call(2, b"", limit), Err(CallError::Timeout(limit)));
    }
}

#[test]
fn another_process_calls() {
    for tongue in Tongue::ALL {
        let path = path("calls", tongue);
        let listener = Listener::bind(&path, Limits::default()).unwrap();
        let mut command = Command::new(tongue.program());
        let mut child = command.arg("call").arg(&path).arg("5000").spawn().unwrap();
        let link = listener.accept(|call: Incoming| match call.method() {
            1 => echo(call),
            _ => call.fail(Failure::new(Failure::FIRST_OWN, "as it was asked to")),
        });
        assert!(child.wait().unwrap().success(), "{tongue:?}");
        drop(link.unwrap());
        remove(&path);
    }
}

#[test]
fn several_threads_call() {
    for tongue in Tongue::ALL {
        several_call("threads", tongue, 4, 2000);
    }
}

#[test]
#[ignore = "a million calls take a minute: `cargo xtask soak` makes them"]
fn a_million_calls_are_answered() {
    for tongue in Tongue::ALL {
        several_call("million", tongue, 2, 500_000);
    }
}

fn several_call(name: &str, tongue: Tongue, threads: usize, calls: usize) {
    let peer = Peer::start(name, tongue);
    let link = connect(&peer.path, Limits::default(), NoCalls).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| exchange(&link, calls));
        }
    });
}

#[test]
fn a_killed_process_is_noticed_at_once() {
    for round in 0..20 {
        let tongue = Tongue::ALL[round / 2 % 2];
        let mut peer = Peer::start("killed", tongue);
        let link = connect(&peer.path, Limits::default(), NoCalls).unwrap();
        let calls: Vec<_> = (0..4).map(|_| link.call_async(2, vec![1; 1000], SOON).unwrap()).collect();
        let begun = std::thread::scope(|scope| {
            // Some die amid a long message, some while they are waited for.
            let long =
                scope.spawn(|| link.call(if round % 2 == 0 { 1 } else { 2 }, &vec![2; 8_000_000], SOON));
            let waiting = scope.spawn(|| link.call(2, b"", SOON));
            std::thread::yield_now();
            peer.child.kill().unwrap();
            let begun = Instant::now();
            assert_eq!(waiting.join().unwrap(), Err(CallError::Ended(Fault::Gone)));
            let answer = long.join().unwrap();
            assert!(answer.is_ok() || answer == Err(CallError::Ended(Fault::Gone)));
            begun
        });
        assert!(begun.elapsed() < Duration::from_secs(5));
        assert_eq!(link.fault(), Some(Fault::Gone));
        drop(calls);
    }
}

#[test]
fn a_stopped_process_costs_no_more_than_the_deadline() {
    for tongue in Tongue::ALL {
        let peer = Peer::start("stopped", tongue);
        let limits = Limits { stall: Duration::from_millis(500), ..Limits::default() };
        let link = connect(&peer.path, limits, NoCalls).unwrap();
        exchange(&link, 10);
        peer.stop();
        let limit = Duration::from_millis(50);
        assert_eq!(link.call(1, b"", limit), Err(CallError::Timeout(limit)));
        peer.go_on();
        exchange(&link, 10);
        peer.stop();
        let stalled = Err(CallError::Ended(Fault::Stalled(limits.stall)));
        assert_eq!(link.call(1, &vec![0; 2_000_000], SOON), stalled);
        peer.go_on();
    }
}

#[test]
fn a_process_that_comes_back_is_found_again() {
    let mut peer = Peer::start("again", Tongue::Rust);
    let path = peer.path.clone();
    let redial = Redial::new(&path, Limits::default(), NoCalls);
    assert_eq!(redial.call(1, b"first", SOON).unwrap(), b"first");
    for tongue in [Tongue::Go, Tongue::Rust, Tongue::Go] {
        let link = redial.link(SOON).unwrap();
        drop(peer);
        let begun = Instant::now();
        while link.fault().is_none() {
            assert!(begun.elapsed() < SOON);
            std::thread::yield_now();
        }
        let error = redial.call(1, b"nobody there", SOON).unwrap_err();
        assert!(matches!(error, CallError::NoLink(_)), "{error}");
        peer = Peer::start_at(path.clone(), tongue);
        while redial.call(1, b"again", SOON).is_err() {
            assert!(begun.elapsed() < SOON);
            std::thread::yield_now();
        }
    }
}
