//! Runs the commands of a page, as printed, in a temporary folder.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use super::{DEADLINE, Directory, binary, command_to_end};

/// Timeout of a command that may compile, also of a gateway that builds its filters first.
const BUILD_TIME_MAX: Duration = Duration::from_secs(540);
/// Time between two looks at a state that changes by itself.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// Folder in which a reader of the page works.
pub(crate) struct PageRun {
    directory: Directory,
    /// Current folder of the shell.
    folder: PathBuf,
    /// Ports of the page, and those used in their place.
    ports: Vec<(u16, u16)>,
    gateway: Option<Child>,
    /// Output of the gateway.
    log: Arc<Mutex<String>>,
}

impl PageRun {
    /// Creates a folder; free ports take the place of these.
    pub(crate) fn new(ports: &[u16]) -> Self {
        let directory = Directory::new();
        fs::create_dir_all(directory.join("bin")).unwrap();
        fs::create_dir_all(directory.join("work")).unwrap();
        symlink(binary(), directory.join("bin/eddy")).unwrap();
        // All are open at once, so that they differ.
        let free: Vec<TcpListener> =
            ports.iter().map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let ports = ports.iter().zip(&free).map(|(port, free)| (*port, free.local_addr().unwrap().port()));
        let (ports, folder) = (ports.collect(), directory.join("work"));
        Self { directory, folder, ports, gateway: None, log: Arc::default() }
    }

    /// Puts a link to the source tree beside the folders of the page.
    pub(crate) fn link_tree(&self) {
        let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
        symlink(tree, self.directory.join("work/eddy")).unwrap();
    }

    /// Writes a file in the current folder.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let fresh = path.with_extension("fresh");
        fs::write(&fresh, self.with_ports(text)).unwrap();
        fs::rename(fresh, path).unwrap();
    }

    /// Appends to a file in the current folder.
    pub(crate) fn append(&self, path: &str, text: &str) {
        let before = fs::read_to_string(self.folder.join(path)).unwrap();
        self.write(path, &(before + text));
    }

    /// Replaces a text of a file in the current folder.
    pub(crate) fn replace(&self, path: &str, before: &str, after: &str) {
        let text = fs::read_to_string(self.folder.join(path)).unwrap();
        assert!(text.contains(before), "{text}");
        self.write(path, &text.replace(before, after));
    }

    /// Runs the commands of a block, and checks what their comments say of their output. Returns all output.
    pub(crate) fn run(&mut self, block: &str) -> String {
        block.lines().filter(|line| !line.trim().is_empty()).map(|line| self.run_line(line)).collect()
    }

    /// Waits until the gateway has written this text.
    pub(crate) fn until_logged(&mut self, text: &str) {
        let deadline = Instant::now() + DEADLINE;
        while !self.log.lock().unwrap().contains(text) {
            assert!(Instant::now() < deadline, "no \"{text}\" in\n{}", self.log.lock().unwrap());
            thread::park_timeout(LOOK_INTERVAL);
        }
    }

    /// Ends the gateway, as Ctrl-C does.
    pub(crate) fn stop(&mut self) {
        if let Some(mut gateway) = self.gateway.take() {
            kill_process_group(Pid::from_child(&gateway), Signal::INT).unwrap();
            let status = gateway.wait().unwrap();
            assert!(status.success(), "{status}: {}", self.log.lock().unwrap());
        }
    }

    fn run_line(&mut self, line: &str) -> String {
        let line = self.with_ports(line);
        let (command, comment) = line.split_once(" # ").unwrap_or((&line, ""));
        if command.starts_with("eddy run ") {
            self.start(command.trim_end());
            return String::new();
        }
        if command.starts_with("rustup ") && test_peers::program("rustup").is_none() {
            return String::new();
        }
        if !command.starts_with("curl ") {
            return self.shell(command);
        }
        let expected = Expected::of(comment);
        let deadline = Instant::now() + DEADLINE;
        loop {
            // A changed file takes effect within a second.
            let output = self.shell(command);
            if expected.is_met(&output) {
                return output;
            }
            let log = self.log.lock().unwrap();
            assert!(Instant::now() < deadline, "{line}\n{output}\nthe gateway:\n{log}");
            drop(log);
            thread::park_timeout(LOOK_INTERVAL);
        }
    }

    /// Runs a command to its successful end; the shell keeps its current folder.
    fn shell(&mut self, line: &str) -> String {
        let place = self.directory.join("place");
        let script = format!("set -e\n{line}\npwd > '{}'\n", place.display());
        let output = command_to_end(self.command(&script), BUILD_TIME_MAX);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (said, errors) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{line}: {}\n{said}{errors}", output.status);
        self.folder = PathBuf::from(fs::read_to_string(place).unwrap().trim_end());
        said
    }

    /// Starts a gateway and waits until it is ready.
    fn start(&mut self, line: &str) {
        self.stop();
        let config = line.rsplit(' ').next().unwrap();
        // Created by a command, so its ports are those of the page.
        self.replace(config, "", "");
        let mut gateway = self
            .command(&format!("exec {line} 2>&1"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        let (log, output) = (Arc::clone(&self.log), gateway.stdout.take().unwrap());
        log.lock().unwrap().clear();
        thread::spawn(move || collect(output, &log));
        let deadline = Instant::now() + BUILD_TIME_MAX;
        while !self.log.lock().unwrap().contains(" ready ") {
            let log = self.log.lock().unwrap();
            assert!(gateway.try_wait().unwrap().is_none(), "{line}: {log}");
            assert!(Instant::now() < deadline, "{line}: {log}");
            drop(log);
            thread::park_timeout(LOOK_INTERVAL);
        }
        self.gateway = Some(gateway);
    }

    fn command(&self, script: &str) -> Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = [self.directory.join("bin")].into_iter().chain(std::env::split_paths(&path));
        let mut command = Command::new("sh");
        command
            .args(["-c", script])
            .current_dir(&self.folder)
            .env("PATH", std::env::join_paths(folders).unwrap())
            .env("EDDY_CACHE_DIR", self.directory.join("cache"))
            .env("GOPROXY", "off")
            .env_remove("GOFLAGS")
            // The dependencies of the workspace have been fetched, or this test would not run.
            .env("CARGO_NET_OFFLINE", "true")
            .env_remove("CARGO_TARGET_DIR")
            .env("NO_COLOR", "1");
        command
    }

    fn with_ports(&self, text: &str) -> String {
        self.ports.iter().fold(text.to_owned(), |text, (printed, used)| {
            text.replace(&format!("127.0.0.1:{printed}"), &format!("127.0.0.1:{used}"))
        })
    }
}

impl Drop for PageRun {
    fn drop(&mut self) {
        if let Some(mut gateway) = self.gateway.take() {
            let _ = kill_process_group(Pid::from_child(&gateway), Signal::KILL);
            let _ = gateway.wait();
        }
    }
}

fn collect(output: impl Read, log: &Mutex<String>) {
    for line in BufReader::new(output).lines() {
        let Ok(line) = line else { return };
        let mut log = log.lock().unwrap();
        log.push_str(&line);
        log.push('\n');
    }
}

/// Output of a request, as the comment behind its command announces it: `200, with x-greeting`.
struct Expected {
    status: Option<String>,
    header: Option<String>,
}

impl Expected {
    fn of(comment: &str) -> Self {
        let words: Vec<&str> = comment.split([' ', ',', ':']).filter(|word| !word.is_empty()).collect();
        let is_status = |word: &&&str| word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_digit());
        let status = words.iter().find(is_status).map(|word| (*word).to_owned());
        let header = words.iter().position(|word| *word == "with").and_then(|at| words.get(at + 1));
        Self { status, header: header.map(|name| format!("{name}: ")) }
    }

    fn is_met(&self, output: &str) -> bool {
        // Pages of the admin listener are printed without a head.
        let has_status = |status: &String| output.split(' ').nth(1) == Some(status);
        self.status.as_ref().is_none_or(has_status)
            && self.header.as_ref().is_none_or(|header| output.to_ascii_lowercase().contains(header))
    }
}
