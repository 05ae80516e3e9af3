//! The eddy binary as a child process of the test: started with a configuration, observed, and stopped by process id.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::origin::TapOrigin;
use crate::place::{self, TempDir};
use crate::site::QUICK_START;
use crate::wait::next_look;
use crate::wire::{DEADLINE, WireClient, WireResponse, within, within_for};

/// A running gateway; its remaining processes are killed on drop.
#[derive(Debug)]
pub struct TestGateway {
    process: Child,
    pid: Pid,
    listen: SocketAddr,
    /// `LISTEN` in the configuration.
    configured: SocketAddr,
    admin: SocketAddr,
    directory: TempDir,
    config: PathBuf,
    substitutes: Vec<(String, String)>,
    lines: Lines,
}

/// Start options of a gateway.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Path of the binary; the binary under test by default.
    pub binary: Option<PathBuf>,
    /// Limit on open files.
    pub files_max: Option<u32>,
    /// Arguments after `run CONFIG`.
    pub arguments: Vec<OsString>,
    /// Placeholders in the configuration and their values, beside `ADMIN` and `DIR`. `LISTEN` is optional: an address
    /// with port 0 by default.
    pub substitutes: Vec<(String, String)>,
    /// Environment variables, in addition to those of the test.
    pub environment: Vec<(String, String)>,
    /// Longest time until the gateway is ready, when it differs from [`DEADLINE`].
    pub ready_within: Option<Duration>,
    /// Name of the configuration file, which selects the dialect; `eddy.yaml` by default.
    pub file: Option<&'static str>,
}

/// Lines that the gateway wrote to standard output and standard error.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    lines: Arc<Mutex<Vec<String>>>,
    changes: Arc<watch::Sender<()>>,
}

impl TestGateway {
    /// Starts a gateway with the quick start configuration in front of `origin`.
    ///
    /// # Errors
    /// When it is not ready within [`DEADLINE`].
    pub async fn before(origin: &TapOrigin) -> Result<Self> {
        Self::start(QUICK_START, &[("ORIGIN", &origin.address())]).await
    }

    /// Starts a gateway with `config`, in which `LISTEN`, `ADMIN`, `DIR` and the names in `substitutes` are replaced.
    ///
    /// # Errors
    /// When it is not ready within [`DEADLINE`].
    pub async fn start(config: &str, substitutes: &[(&str, &dyn ToString)]) -> Result<Self> {
        let substitutes =
            substitutes.iter().map(|(word, text)| ((*word).to_owned(), text.to_string())).collect();
        Self::launch(config, Launch { substitutes, ..Launch::default() }).await
    }

    /// Starts a gateway with the options in `launch` and waits until it is ready.
    ///
    /// # Errors
    /// When it is not ready in time; the error contains its output.
    pub async fn launch(config: &str, launch: Launch) -> Result<Self> {
        let limit = launch.ready_within.unwrap_or(DEADLINE);
        let mut gateway = Self::spawn(config, launch)?;
        gateway
            .until_ready(limit)
            .await
            .with_context(|| format!("the gateway wrote:\n{}", gateway.lines.text()))?;
        Ok(gateway)
    }

    /// Starts a gateway without waiting until it is ready.
    ///
    /// # Errors
    /// When the binary cannot be started.
    pub fn spawn(config: &str, launch: Launch) -> Result<Self> {
        let directory = TempDir::new("gateway")?;
        let (listen, admin) = match launch.file {
            // NGINX's `listen` has no port 0.
            Some("nginx.conf") => (place::fixed_address()?, place::any_port()),
            _ => (place::any_port(), place::any_port()),
        };
        let mut substitutes = launch.substitutes;
        let own = substitutes.iter().find(|(word, _)| word == "LISTEN");
        let listen = own.map_or(Ok(listen), |(_, address)| address.parse())?;
        substitutes.push(("LISTEN".into(), listen.to_string()));
        substitutes.push(("ADMIN".into(), admin.to_string()));
        substitutes.push(("DIR".into(), directory.path().display().to_string()));
        let path = directory.join(launch.file.unwrap_or("eddy.yaml"));
        std::fs::write(&path, substitute(config, &substitutes)).context("cannot write the configuration")?;
        let binary = launch.binary.map_or_else(place::eddy_binary, Ok)?;
        let mut command = command(&binary, launch.files_max);
        command.arg("run").arg(&path).args(&launch.arguments).envs(launch.environment);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut process = command.spawn().with_context(|| format!("cannot start {}", binary.display()))?;
        let pid =
            process.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)).context("no process id")?;
        let lines = Lines::default();
        lines.follow(process.stdout.take());
        lines.follow(process.stderr.take());
        Ok(Self {
            process,
            pid,
            listen,
            configured: listen,
            admin,
            directory,
            config: path,
            substitutes,
            lines,
        })
    }

    async fn until_ready(&mut self, limit: Duration) -> Result<()> {
        let deadline = tokio::time::Instant::now() + limit;
        loop {
            if let Some(status) = self.process.try_wait()? {
                bail!("the gateway ended with {status} instead of starting");
            }
            if self.lines.count(" ready ") > 0 {
                self.listen = self.lines.bound(self.listen).unwrap_or(self.listen);
                self.admin = self.lines.bound(self.admin).unwrap_or(self.admin);
                if self.is_ready().await {
                    return Ok(());
                }
            }
            if tokio::time::Instant::now() > deadline {
                bail!("the gateway is not ready after {limit:?}");
            }
            next_look().await;
        }
    }

    async fn is_ready(&self) -> bool {
        // Other dialects do not configure an admin listener to query.
        if self.config.extension().is_some_and(|extension| extension != "yaml") {
            return true;
        }
        self.admin("/ready").await.is_ok_and(|response| response.status == 200)
    }

    /// Returns the address of the listener; its port is known once the gateway is ready.
    pub fn address(&self) -> SocketAddr {
        self.listen
    }

    /// Returns the label of the listener in metrics, if it has no name: its address as configured.
    pub fn label(&self) -> String {
        self.configured.to_string()
    }

    /// Returns the address of the admin listener; its port is known once the gateway is ready.
    pub fn admin_address(&self) -> SocketAddr {
        self.admin
    }

    /// Returns the address at which the gateway listens for `configured`, an address with port 0 in its configuration.
    ///
    /// # Errors
    /// When the gateway does not say so within [`DEADLINE`].
    pub async fn bound(&self, configured: SocketAddr) -> Result<SocketAddr> {
        let bound = async {
            loop {
                if let Some(bound) = self.lines.bound(configured) {
                    return bound;
                }
                next_look().await;
            }
        };
        let bound = within(&format!("listener at {configured}"), bound).await;
        bound.with_context(|| format!("the gateway wrote:\n{}", self.lines.text()))
    }

    /// Returns the process id of the gateway's parent process.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Returns the directory of this gateway's files: `DIR` in its configuration.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the lines written so far.
    pub fn lines(&self) -> &Lines {
        &self.lines
    }

    /// Connects a client.
    ///
    /// # Errors
    /// As [`WireClient::connect`].
    pub async fn client(&self) -> Result<WireClient> {
        WireClient::connect(self.listen).await
    }

    /// Sends `bytes` on a new connection and reads the response.
    ///
    /// # Errors
    /// As [`WireClient::exchange`].
    pub async fn exchange(&self, bytes: impl AsRef<[u8]>) -> Result<WireResponse> {
        self.client().await?.exchange(bytes).await
    }

    /// Requests `path` from the admin listener.
    ///
    /// # Errors
    /// As [`WireClient::exchange`].
    pub async fn admin(&self, path: &str) -> Result<WireResponse> {
        let request = format!("GET {path} HTTP/1.1\r\nHost: admin\r\nConnection: close\r\n\r\n");
        WireClient::connect(self.admin).await?.exchange(request).await
    }

    /// Returns the value of the metric whose line begins with `series` (a name, perhaps with labels), summed over its
    /// lines.
    ///
    /// # Errors
    /// When the admin listener does not respond.
    pub async fn metric(&self, series: &str) -> Result<f64> {
        let text = self.admin("/metrics").await?.text();
        Ok(sum_of_series(&text, series))
    }

    /// Waits until the metric `series` equals `value`.
    ///
    /// # Errors
    /// When it does not within [`DEADLINE`].
    pub async fn until_metric(&self, series: &str, value: f64) -> Result<()> {
        let mut last = f64::NAN;
        let reached = within(series, async {
            loop {
                last = self.metric(series).await?;
                if (last - value).abs() < f64::EPSILON {
                    return Ok(());
                }
                next_look().await;
            }
        });
        reached.await.with_context(|| format!("{series} is {last}, not {value}"))?
    }

    /// Replaces the configuration file atomically, with the placeholders replaced as at the start.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn write_config(&self, config: &str) -> Result<()> {
        let next = self.directory.join("next");
        std::fs::write(&next, substitute(config, &self.substitutes))?;
        std::fs::rename(&next, &self.config).context("cannot replace the configuration")
    }

    /// Sends `signal` to the parent process.
    ///
    /// # Errors
    /// When the process no longer exists.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(self.pid, signal).context("cannot signal the gateway")
    }

    /// Returns the process ids of the parent's children.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn children(&self) -> Result<Vec<Pid>> {
        let task = format!("/proc/{0}/task/{0}/children", self.pid.as_raw_nonzero());
        let text = std::fs::read_to_string(&task).with_context(|| format!("cannot read {task}"))?;
        Ok(text.split_whitespace().filter_map(|word| Pid::from_raw(word.parse().ok()?)).collect())
    }

    /// Waits until the gateway exits by itself.
    ///
    /// # Errors
    /// When it does not within `limit`.
    pub async fn exited(&mut self, limit: Duration) -> Result<ExitStatus> {
        Ok(within_for(limit, "exit of the gateway", self.process.wait()).await??)
    }

    /// Stops the gateway with SIGTERM and waits for it.
    ///
    /// # Errors
    /// When it does not exit within [`DEADLINE`] or exits with an error.
    pub async fn stop(mut self) -> Result<()> {
        self.signal(Signal::TERM)?;
        let status = self.exited(DEADLINE).await?;
        anyhow::ensure!(status.success(), "the gateway ended with {status}:\n{}", self.lines.text());
        Ok(())
    }
}

impl Drop for TestGateway {
    fn drop(&mut self) {
        // The process group belongs to this gateway alone: it was created at the start.
        let _ = kill_process_group(self.pid, Signal::KILL);
    }
}

impl Lines {
    fn follow(&self, stream: Option<impl AsyncRead + Unpin + Send + 'static>) {
        let (Some(stream), lines) = (stream, self.clone()) else {
            return;
        };
        tokio::spawn(async move {
            let mut reader = BufReader::new(stream).lines();
            while let Ok(Some(line)) = reader.next_line().await {
                lines.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
                lines.changes.send_replace(());
            }
        });
    }

    /// Returns all lines so far.
    pub fn text(&self) -> String {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).join("\n")
    }

    /// Number of lines so far that contain `word`.
    pub fn count(&self, word: &str) -> usize {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().filter(|line| line.contains(word)).count()
    }

    /// Returns the address of the last line that says at which port the gateway listens for `configured`.
    fn bound(&self, configured: SocketAddr) -> Option<SocketAddr> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let listening = lines.iter().rev().filter(|line| line.contains(" role="));
        let mut bound = listening.filter_map(|line| {
            let (_, rest) = line.split_once(" address=")?;
            rest.split(' ').next()?.trim_start_matches("udp:").parse::<SocketAddr>().ok()
        });
        bound.find(|bound| bound.ip() == configured.ip())
    }

    /// Waits until `count` lines contain `word`.
    ///
    /// # Errors
    /// When they do not within [`DEADLINE`].
    pub async fn until(&self, word: &str, count: usize) -> Result<()> {
        let mut changes = self.changes.subscribe();
        let met = within(word, async {
            while self.count(word) < count {
                // The sender is in `self`.
                let _ = changes.changed().await;
            }
        });
        met.await.with_context(|| format!("the gateway wrote:\n{}", self.text()))
    }
}

/// Returns the sum of the samples of `series` in Prometheus text; `series` is a name, or a name with its first labels.
pub fn sum_of_series(text: &str, series: &str) -> f64 {
    text.lines()
        .filter(|line| {
            let rest = line.strip_prefix(series);
            rest.is_some_and(|rest| series.contains('{') || rest.starts_with(['{', ' ']))
        })
        .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
        .sum()
}

fn command(binary: &Path, files_max: Option<u32>) -> Command {
    let Some(files_max) = files_max else {
        return Command::new(binary);
    };
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("ulimit -n {files_max} && exec \"$0\" \"$@\"")).arg(binary);
    command
}

fn substitute(config: &str, substitutes: &[(String, String)]) -> String {
    substitutes.iter().fold(config.to_owned(), |text, (word, value)| text.replace(word.as_str(), value))
}
