//! Measurements of other programs for comparison: a pipe pool and a relay in Go, and HAProxy.

use std::fs;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Builds the Go program next to this file, or returns why that failed.
pub(super) fn build_go() -> Result<PathBuf, String> {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pipes-go");
    let mut command = Command::new("go");
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/pipes/go"));
    let output = command.args(["build", "-o"]).arg(&program).arg(".").output();
    let output = output.map_err(|error| format!("no Go ({error})"))?;
    if output.status.success() {
        Ok(program)
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Returns the nanoseconds per pipe taken and returned: in one thread, and in two threads at once.
pub(super) fn pool_of_go(go: &Path, get_puts: u32, rounds: usize) -> (f64, f64) {
    let mut command = Command::new(go);
    let output = command.args(["pool", &get_puts.to_string(), &rounds.to_string()]).output();
    let output = output.expect("what was built can be run");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut figures = text.split_whitespace().filter_map(|word| word.parse().ok());
    let (alone, two) = (figures.next(), figures.next());
    (alone.expect("a figure for one thread"), two.expect("a figure for two threads"))
}

/// Another program that relays TCP connections.
pub(super) struct RelayProcess {
    process: Child,
    listen: SocketAddr,
    target: TcpListener,
}

impl RelayProcess {
    /// Starts a Go relay that uses `io.Copy`.
    pub(super) fn of_go(go: &Path) -> Result<Self, String> {
        Self::start(|listen, target| {
            let mut command = Command::new(go);
            command.args(["relay", &listen.to_string(), &target.to_string()]);
            Ok(command)
        })
    }

    /// Starts HAProxy with one thread and `splice-auto`.
    pub(super) fn of_haproxy() -> Result<Self, String> {
        let folders = ["/usr/sbin", "/usr/local/sbin", "/usr/bin", "/usr/local/bin"];
        let program =
            folders.iter().map(|folder| Path::new(folder).join("haproxy")).find(|path| path.is_file());
        let program = program.ok_or("no HAProxy (make bench-peers)")?;
        Self::start(|listen, target| {
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pipes-haproxy.cfg");
            let text = HAPROXY.replace("LISTEN", &listen.to_string()).replace("TARGET", &target.to_string());
            fs::write(&file, text).map_err(|error| error.to_string())?;
            let mut command = Command::new(&program);
            command.arg("-db").arg("-f").arg(file);
            Ok(command)
        })
    }

    fn start(
        command: impl FnOnce(SocketAddr, SocketAddr) -> Result<Command, String>,
    ) -> Result<Self, String> {
        let target = TcpListener::bind("127.0.0.1:0").expect("a port");
        // The port is free for the moment until the program binds it.
        let listen = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port");
        let mut command = command(listen, target.local_addr().expect("a port"))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().map_err(|error| error.to_string())?;
        Ok(Self { process, listen, target })
    }

    /// Returns the CPU seconds per GB of the whole program, and the GB per second.
    #[expect(clippy::cast_precision_loss, reason = "gigabytes are far from the limits of a double")]
    pub(super) fn measure(&mut self, bytes: u64) -> (f64, f64) {
        let sender = self.connect();
        let (taker, _) = self.target.accept().expect("a connection");
        let before = self.cpu();
        let begun = Instant::now();
        let writer = std::thread::spawn(move || super::send(sender, bytes));
        let reader = std::thread::spawn(move || super::take(taker));
        writer.join().expect("all is sent");
        assert_eq!(reader.join().expect("all is taken"), bytes);
        let elapsed = begun.elapsed();
        let gigabytes = bytes as f64 / 1e9;
        (self.cpu().saturating_sub(before).as_secs_f64() / gigabytes, gigabytes / elapsed.as_secs_f64())
    }

    /// Connects as soon as the program listens.
    fn connect(&mut self) -> TcpStream {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match TcpStream::connect(self.listen) {
                Ok(stream) => return stream,
                Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionRefused, "{error}"),
            }
            let is_there = matches!(self.process.try_wait(), Ok(None));
            assert!(is_there && Instant::now() < deadline, "the program does not listen");
            std::thread::yield_now();
        }
    }

    /// Returns the CPU time of all threads so far. The kernel accounts a thread's time when it leaves the CPU, hence
    /// the pause.
    fn cpu(&self) -> Duration {
        std::thread::park_timeout(SETTLE);
        let tasks = fs::read_dir(format!("/proc/{}/task", self.process.id())).expect("it runs");
        let used = tasks.flatten().filter_map(|task| {
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(used.sum())
    }
}

impl Drop for RelayProcess {
    fn drop(&mut self) {
        // The program may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const HAPROXY: &str = "global
    nbthread 1
    maxpipes 100
defaults
    mode tcp
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    option splice-auto
listen relay
    bind LISTEN
    server far-end TARGET
";
const SETTLE: Duration = Duration::from_millis(30);
const PATIENCE: Duration = Duration::from_secs(10);
