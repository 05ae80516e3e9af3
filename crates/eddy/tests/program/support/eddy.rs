//! A running `eddy`, with its log as JSON records.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};
use serde_json::Value;

use super::{DEADLINE, Directory};

/// Returns the binary under test.
pub(crate) fn binary() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_eddy"))
}

/// Options to start an `eddy`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Launch {
    /// Binary; by default the one under test.
    pub(crate) binary: Option<PathBuf>,
    /// Arguments after `run CONFIG --json`.
    pub(crate) arguments: Vec<OsString>,
    /// Environment variables.
    pub(crate) environment: Vec<(OsString, OsString)>,
}

/// An `eddy run`; all its processes are killed on drop.
#[derive(Debug)]
pub(crate) struct EddyProcess {
    process: Child,
    is_waited_for: bool,
    records: Receiver<Value>,
    seen: Vec<Value>,
    directory: Directory,
}

impl EddyProcess {
    /// Starts with a configuration and waits until it is ready.
    pub(crate) fn start(config: &str) -> Self {
        Self::launch(config, Launch::default())
    }

    /// Starts with these options and waits until it is ready.
    pub(crate) fn launch(config: &str, launch: Launch) -> Self {
        let mut eddy = Self::spawn(config, launch);
        eddy.record("ready");
        eddy
    }

    /// Starts without waiting.
    pub(crate) fn spawn(config: &str, launch: Launch) -> Self {
        let directory = Directory::new();
        let path =
            directory.write("eddy.yaml", &config.replace("DIR", &directory.path().display().to_string()));
        Self::run(&path, directory, launch)
    }

    /// Starts another one with the same configuration file, as a supervisor does, without waiting.
    pub(crate) fn again(&self, launch: Launch) -> Self {
        Self::run(&self.path("eddy.yaml"), Directory::new(), launch)
    }

    fn run(path: &Path, directory: Directory, launch: Launch) -> Self {
        let mut process = Command::new(launch.binary.unwrap_or_else(binary))
            .arg("run")
            .arg(path)
            .arg("--json")
            .args(launch.arguments)
            .envs(launch.environment)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let (sender, records) = channel();
        let log = process.stderr.take().unwrap();
        thread::spawn(move || {
            for line in BufReader::new(log).lines() {
                let Ok(line) = line else { return };
                let record = serde_json::from_str(&line).unwrap_or(Value::String(line));
                if sender.send(record).is_err() {
                    return;
                }
            }
        });
        Self { process, is_waited_for: false, records, seen: Vec::new(), directory }
    }

    /// Waits for the next record with this message and returns it.
    pub(crate) fn record(&mut self, message: &str) -> Value {
        self.record_where(message, |record| record["message"] == message)
    }

    /// Waits for the next record that `is_it` accepts.
    pub(crate) fn record_where(&mut self, what: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + DEADLINE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.records.recv_timeout(left) {
                Ok(record) => {
                    self.seen.push(record.clone());
                    if is_it(&record) {
                        return record;
                    }
                }
                Err(error) => panic!("no record \"{what}\": {error}; the log is\n{}", self.log()),
            }
        }
    }

    /// Waits for a record of each message, in any order.
    pub(crate) fn records(&mut self, messages: &[&str]) {
        let mut missing = messages.to_vec();
        while !missing.is_empty() {
            let next = self.record_where(&missing.join("\" and \""), |record| {
                missing.iter().any(|message| record["message"] == *message)
            });
            missing.retain(|message| next["message"] != *message);
        }
    }

    /// Whether a wait so far has seen such a record.
    pub(crate) fn has_seen(&self, message: &str) -> bool {
        self.seen.iter().any(|record| record["message"] == message)
    }

    /// Returns all records seen so far.
    pub(crate) fn log(&self) -> String {
        self.seen.iter().map(|record| format!("{record}\n")).collect()
    }

    /// Returns the address of the only listener.
    pub(crate) fn address(&self) -> SocketAddr {
        self.listening("listener").parse().unwrap()
    }

    /// Returns the addresses of all listeners with a port.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        let is_it = |record: &&Value| record["message"] == "listening" && record["role"] == "listener";
        self.seen.iter().filter(is_it).filter_map(|record| record["address"].as_str()?.parse().ok()).collect()
    }

    /// Returns the address of the admin listener.
    pub(crate) fn admin(&self) -> SocketAddr {
        self.listening("admin").parse().unwrap()
    }

    fn listening(&self, role: &str) -> &str {
        let is_it = |record: &&Value| record["message"] == "listening" && record["role"] == role;
        let record =
            self.seen.iter().rev().find(is_it).unwrap_or_else(|| panic!("no {role} in\n{}", self.log()));
        record["address"].as_str().unwrap()
    }

    /// Returns the process that became ready last.
    pub(crate) fn gateway(&self) -> Pid {
        let ready = self.seen.iter().rev().find(|record| record["message"] == "ready").unwrap();
        Pid::from_raw(i32::try_from(ready["gateway"].as_i64().unwrap()).unwrap()).unwrap()
    }

    /// Returns the parent process.
    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Sends a signal to the parent.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Kills the gateway process, as in a crash.
    pub(crate) fn kill_gateway(&self) {
        kill_process(self.gateway(), Signal::KILL).unwrap();
    }

    /// Kills only the parent and waits until it is dead. Its process ID stays reserved.
    pub(crate) fn kill_parent(&self) {
        kill_process(self.pid(), Signal::KILL).unwrap();
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(self.pid()), ended).unwrap();
    }

    /// Replaces the configuration file.
    pub(crate) fn write_config(&self, config: &str) {
        self.directory
            .write("eddy.yaml", &config.replace("DIR", &self.directory.path().display().to_string()));
    }

    /// Returns a path in the directory of the configuration.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Whether it has ended.
    pub(crate) fn has_exited(&mut self) -> bool {
        self.is_waited_for |= self.process.try_wait().unwrap().is_some();
        self.is_waited_for
    }

    /// Waits for the end and returns the exit status.
    pub(crate) fn exited(&mut self) -> ExitStatus {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                self.is_waited_for = true;
                return status;
            }
            assert!(Instant::now() < deadline, "still running; the log is\n{}", self.log());
            // The log is read meanwhile; its end shortens the wait.
            match self.records.recv_timeout(Duration::from_millis(10)) {
                Ok(record) => self.seen.push(record),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => thread::park_timeout(Duration::from_millis(1)),
            }
        }
    }

    /// Stops it by SIGTERM and checks the exit status.
    pub(crate) fn stop(mut self) {
        self.signal(Signal::TERM);
        let status = self.exited();
        assert!(status.success(), "{status}; the log is\n{}", self.log());
    }
}

impl Drop for EddyProcess {
    fn drop(&mut self) {
        // The process group was created for this process. Once the process is waited for, its number may be reused.
        if !self.is_waited_for {
            let _ = kill_process_group(self.pid(), Signal::KILL);
            let _ = self.process.wait();
        }
    }
}

/// Runs the binary with `arguments` to its end, within the deadline.
pub(crate) fn run_to_end(arguments: &[&str], directory: &Path) -> Output {
    let mut command = Command::new(binary());
    command.args(arguments).current_dir(directory).env_remove("NO_COLOR");
    command_to_end(command, DEADLINE)
}

/// Runs a command to its end, with a timeout.
pub(crate) fn command_to_end(mut command: Command, time_max: Duration) -> Output {
    let mut process =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (stdout, stderr) = (process.stdout.take().unwrap(), process.stderr.take().unwrap());
    let (stdout, stderr) = (read_all(stdout), read_all(stderr));
    let output = |text: Receiver<Vec<u8>>| text.recv_timeout(time_max).expect("the program ends in time");
    let (stdout, stderr) = (output(stdout), output(stderr));
    Output { status: process.wait().unwrap(), stdout, stderr }
}

fn read_all(mut stream: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, text) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    text
}
