//! Hand-over to another binary: with a good one nothing is lost, with a broken one nothing changes.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{BackgroundLoad, DEMO, Directory, EddyProcess, Launch, binary, get};
use rustix::process::{Pid, Signal, kill_process};

/// Folder on disk in which the program is installed and replaced.
struct Installed {
    directory: Directory,
}

impl Installed {
    fn new() -> Self {
        let installed = Self { directory: Directory::new() };
        installed.install_copy();
        installed
    }

    fn path(&self) -> PathBuf {
        self.directory.join("eddy")
    }

    /// Installs the same program as another file.
    fn install_copy(&self) {
        let fresh = self.directory.join("fresh");
        // Copied by another process, so that no test that forks meanwhile inherits the file open for writing.
        let copied = Command::new("cp").arg(binary()).arg(&fresh).status();
        assert!(copied.unwrap().success());
        std::fs::rename(fresh, self.path()).unwrap();
    }

    fn install_script(&self, commands: &str) {
        let fresh = self.directory.join("fresh");
        let script = format!("printf '#!/bin/sh\n%s\n' '{commands}' > {}", fresh.display());
        assert!(Command::new("sh").arg("-c").arg(script).status().unwrap().success());
        std::fs::set_permissions(&fresh, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::rename(fresh, self.path()).unwrap();
    }

    fn start(&self, config: &str) -> EddyProcess {
        let arguments = vec!["--handover-timeout".into(), "5s".into()];
        EddyProcess::launch(config, Launch { binary: Some(self.path()), arguments, ..Launch::default() })
    }
}

#[test]
fn a_valid_program_takes_over_without_a_lost_request() {
    let installed = Installed::new();
    let mut eddy = installed.start(DEMO);
    let address = eddy.address();
    let client = BackgroundLoad::strict(address);
    for _ in 0..3 {
        let (before, parent) = (eddy.gateway(), eddy.pid());
        let slow = thread::spawn(move || get(address, "/slow?pieces=4&pause_ms=100"));
        let storm = signal_storm(parent);
        installed.install_copy();
        eddy.signal(Signal::USR2);
        eddy.record("handed over; the previous process drains");
        eddy.record("the parent process has restored its state");
        eddy.record("gateway process has drained and ended");
        assert_eq!(slow.join().unwrap().status, 200);
        storm.stop();
        let now = eddy.gateway();
        assert_ne!(now, before);
        assert_eq!(eddy.pid(), parent);
        assert_eq!(identity(&exe(parent)), identity(&installed.path()));
        assert_eq!(identity(&exe(now)), identity(&installed.path()));
    }
    let answered = client.stop();
    assert!(answered > 0);
    // The new parent is fully functional: it replaces processes and still has the last good configuration.
    eddy.write_config("listeners: nothing\n");
    eddy.kill_gateway();
    eddy.records(&["the configuration on disk is invalid; the last good one stays in force", "ready"]);
    assert_eq!(get(address, "/fixed").status, 200);
    assert_eq!(get(eddy.admin(), "/ready").status, 200);
    eddy.stop();
}

#[test]
fn the_same_file_takes_over_without_a_new_parent() {
    let mut eddy = EddyProcess::start(DEMO);
    let before = eddy.gateway();
    eddy.signal(Signal::USR2);
    eddy.record("gateway process has drained and ended");
    assert_ne!(eddy.gateway(), before);
    assert!(!eddy.has_seen("the parent process has restored its state"));
    assert_eq!(get(eddy.address(), "/fixed").status, 200);
    eddy.stop();
}

#[test]
fn broken_programs_change_nothing() {
    let installed = Installed::new();
    let mut eddy = installed.start(DEMO);
    let (address, gateway) = (eddy.address(), eddy.gateway());
    let client = BackgroundLoad::strict(address);
    for commands in ["exit 1", "exit 0", "kill -SEGV $$", "exec sleep 1000"] {
        installed.install_script(commands);
        eddy.signal(Signal::USR2);
        let failed = eddy.record("hand-over failed; the previous gateway process keeps serving");
        assert_eq!(eddy.gateway(), gateway, "{commands}: {failed}");
        assert_eq!(get(address, "/fixed").status, 200);
    }
    // A replacement must not run the program on disk.
    client.stop();
    eddy.kill_gateway();
    eddy.record("ready");
    assert_eq!(get(address, "/fixed").status, 200);
    installed.install_copy();
    eddy.signal(Signal::USR2);
    eddy.record("gateway process has drained and ended");
    assert_eq!(get(address, "/fixed").status, 200);
    eddy.stop();
}

#[test]
fn a_broken_configuration_fails_the_graceful_restart() {
    let mut eddy = EddyProcess::start(DEMO);
    let gateway = eddy.gateway();
    eddy.write_config("listeners: nothing\n");
    eddy.signal(Signal::USR2);
    eddy.record("hand-over failed; the previous gateway process keeps serving");
    assert_eq!(eddy.gateway(), gateway);
    assert_eq!(get(eddy.address(), "/fixed").status, 200);
}

#[test]
fn a_crash_during_a_graceful_restart_is_handled_immediately() {
    let installed = Installed::new();
    let mut eddy = installed.start(DEMO);
    installed.install_script("exec sleep 1000");
    eddy.signal(Signal::USR2);
    eddy.record("handing over to the program on disk");
    let killed = Instant::now();
    eddy.kill_gateway();
    eddy.record("ready");
    assert!(killed.elapsed() < Duration::from_secs(2), "{:?}", killed.elapsed());
    assert_eq!(get(eddy.address(), "/fixed").status, 200);
    eddy.record("hand-over failed; the previous gateway process keeps serving");
    eddy.stop();
}

#[test]
fn signals_during_a_graceful_restart_are_handled() {
    let installed = Installed::new();
    let mut eddy = installed.start(DEMO);
    installed.install_script("exec sleep 1000");
    eddy.signal(Signal::USR2);
    eddy.record("handing over to the program on disk");
    eddy.signal(Signal::USR2);
    let refused = eddy.record("hand-over refused");
    assert_eq!(refused["problem"], "a gateway process is still starting");
    eddy.signal(Signal::HUP);
    eddy.record("configuration unchanged");
    eddy.signal(Signal::TERM);
    let asked = Instant::now();
    assert!(eddy.exited().success());
    assert!(asked.elapsed() < Duration::from_secs(4), "{:?}", asked.elapsed());
}

#[test]
fn the_number_of_workers_may_change() {
    let mut eddy = EddyProcess::start(&DEMO.replace("workers: 2", "workers: 4"));
    let client = BackgroundLoad::strict(eddy.address());
    for workers in [1, 3, 1, 4] {
        eddy.write_config(&DEMO.replace("workers: 2", &format!("workers: {workers}")));
        eddy.signal(Signal::USR2);
        eddy.record("gateway process has drained and ended");
    }
    assert!(client.stop() > 0);
    eddy.stop();
}

fn exe(pid: Pid) -> PathBuf {
    PathBuf::from(format!("/proc/{}/exe", pid.as_raw_nonzero()))
}

fn identity(path: &Path) -> (u64, u64) {
    let metadata = path.metadata().unwrap();
    (metadata.dev(), metadata.ino())
}

/// Starts continuous signals, also while one image of the parent executes another.
fn signal_storm(parent: Pid) -> BackgroundLoad {
    BackgroundLoad::start(1, move || {
        for signal in [Signal::USR1, Signal::HUP, Signal::CHILD] {
            kill_process(parent, signal).unwrap();
        }
        thread::park_timeout(Duration::from_millis(1));
    })
}
