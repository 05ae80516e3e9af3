//! One gateway process, as seen by its parent.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use eddy_io::{SharedPage, WORKERS_MAX, monotonic_ms};
use nix::sys::signal::Signal;
use rustix::process::{Pid, WaitOptions, WaitStatus};

use super::crash_context::CrashContext;
use super::program::{GatewayProgram, Image};
use crate::control::{Channel, ChildSettings, PROTOCOL, Quarantined, SocketKey, StartReason, ToChild};

/// Gateway process that was started and is not known to have ended.
#[derive(Debug)]
pub(super) struct GatewayProcess {
    /// Process ID. It cannot be reused before this process waits for it.
    pub(super) pid: Pid,
    /// Parent's end of the control socket.
    pub(super) channel: Channel,
    /// Whether the other end is still open.
    pub(super) is_connected: bool,
    /// Executable image of the process.
    pub(super) image: Image,
    /// Number of this process among those started.
    pub(super) generation: u64,
    /// Why it was started.
    pub(super) reason: StartReason,
    /// When it was started, or taken over from another parent image.
    pub(super) started: Instant,
    /// State of the process.
    pub(super) phase: GatewayPhase,
    /// Why the parent has killed it, if so.
    pub(super) kill_reason: Option<&'static str>,
    /// Filter that a worker hung in, if that is why.
    pub(super) hung_filter: Option<String>,
    /// Listening sockets granted to it, with their number.
    pub(super) granted: BTreeMap<SocketKey, usize>,
    /// Settings that it reported.
    pub(super) settings: ChildSettings,
    /// Configuration it runs with; becomes the parent's once the process serves.
    pub(super) last_good: Option<OwnedFd>,
    /// Information for the report of a crash.
    pub(super) crash_context: CrashContext,
    /// File of the shared page.
    pub(super) page_file: OwnedFd,
    page: SharedPage,
    serving_since_ms: u64,
}

/// State of a gateway process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GatewayPhase {
    /// Becoming ready; killed after this time.
    Starting(Instant),
    /// Accepting connections.
    Serving,
    /// Draining; killed after this time.
    Draining(Instant),
}

/// Exit of a gateway process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessExit {
    /// Exited with this code.
    Exited(i32),
    /// Killed by this signal.
    Killed(i32),
}

impl GatewayProcess {
    /// Starts a process and sends it the first message.
    ///
    /// # Errors
    /// Errors of memory, sockets, fork or exec.
    pub(super) fn start(
        program: &GatewayProgram,
        reason: StartReason,
        generation: u64,
        time_max: Duration,
        last_good: Option<&OwnedFd>,
        quarantined: &[Quarantined],
    ) -> io::Result<Self> {
        let (page, page_file) = SharedPage::create()?;
        let (channel, stdin) = Channel::pair()?;
        // The message waits in the socket, even if the process fails to start.
        let welcome = ToChild::Start {
            protocol: PROTOCOL,
            generation,
            reason,
            has_last_good: last_good.is_some(),
            quarantined: quarantined.to_vec(),
        };
        let descriptors: Vec<BorrowedFd<'_>> =
            [Some(&page_file), last_good].into_iter().flatten().map(AsFd::as_fd).collect();
        channel.send(&welcome, &descriptors)?;
        let (pid, image) = match reason {
            StartReason::First | StartReason::Replacement | StartReason::Renewal => {
                (program.start_image(stdin)?, program.image.clone())
            }
            StartReason::HandOver => program.start_on_disk(stdin)?,
        };
        let mut process = Self::running(pid, channel, image, generation, page, page_file);
        process.reason = reason;
        process.phase = GatewayPhase::Starting(process.started + time_max);
        Ok(process)
    }

    /// Takes over a process that another image of the parent started, and which serves; the caller sets its state.
    ///
    /// # Errors
    /// When the shared page cannot be mapped.
    pub(super) fn adopt(
        pid: Pid,
        channel: Channel,
        image: Image,
        generation: u64,
        page_file: OwnedFd,
    ) -> io::Result<Self> {
        let page = SharedPage::from_fd(eddy_io::duplicate(&page_file)?)?;
        Ok(Self::running(pid, channel, image, generation, page, page_file))
    }

    fn running(
        pid: Pid,
        channel: Channel,
        image: Image,
        generation: u64,
        page: SharedPage,
        page_file: OwnedFd,
    ) -> Self {
        Self {
            pid,
            channel,
            is_connected: true,
            image,
            generation,
            reason: StartReason::HandOver,
            started: Instant::now(),
            phase: GatewayPhase::Serving,
            kill_reason: None,
            hung_filter: None,
            granted: BTreeMap::new(),
            settings: ChildSettings::default(),
            last_good: None,
            crash_context: CrashContext::default(),
            serving_since_ms: monotonic_ms(),
            page,
            page_file,
        }
    }

    /// Returns how the process ended, if it has.
    pub(super) fn ending(&self) -> Option<ProcessExit> {
        match rustix::process::waitpid(Some(self.pid), WaitOptions::NOHANG) {
            Ok(None) | Err(rustix::io::Errno::INTR) => None,
            Ok(Some((_, status))) => Some(ProcessExit::of(status)),
            // Not a child of this process, or no longer: there is nothing to wait for.
            Err(_) => Some(ProcessExit::Exited(EXIT_UNKNOWN)),
        }
    }

    /// Sends a message. A process that does not accept it is as good as gone, which is logged.
    pub(super) fn tell(&self, message: &ToChild, descriptors: &[BorrowedFd<'_>]) {
        if let Err(error) = self.channel.send(message, descriptors) {
            tracing::warn!(gateway = self.pid(), %error, "cannot send a message to the gateway process");
        }
    }

    /// Kills the process; the log entry of its end states the reason.
    pub(super) fn kill_because(&mut self, reason: &'static str) {
        if self.kill_reason.is_none() {
            self.kill_reason = Some(reason);
            // The process ID cannot have been reused, because the process is not yet waited for; it may have ended by
            // itself.
            let _ = rustix::process::kill_process(self.pid, rustix::process::Signal::KILL);
        }
    }

    /// Returns the time at which the parent must check this process again.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.phase {
            GatewayPhase::Starting(deadline) | GatewayPhase::Draining(deadline)
                if self.kill_reason.is_none() =>
            {
                Some(deadline)
            }
            GatewayPhase::Starting(_) | GatewayPhase::Draining(_) | GatewayPhase::Serving => None,
        }
    }

    /// Returns the time that the parent waits for this process to drain; the process's own limit ends its exchanges
    /// before.
    pub(super) fn drain_time_max(&self) -> Duration {
        Duration::from_millis(self.settings.drain_timeout_ms).saturating_add(DRAIN_MARGIN)
    }

    /// Records that the process serves from now on.
    pub(super) fn handle_ready(&mut self) {
        self.phase = GatewayPhase::Serving;
        self.serving_since_ms = monotonic_ms();
    }

    /// Returns the last sign of life of each worker, in milliseconds of the monotonic clock: its heartbeat, or its
    /// readiness.
    pub(super) fn last_heartbeats_ms(&self) -> impl Iterator<Item = u64> {
        let beat = |index| self.page.worker(index).heartbeat_ms.load(Ordering::Relaxed);
        (0..self.settings.workers.min(WORKERS_MAX)).map(move |index| self.serving_since_ms.max(beat(index)))
    }

    /// Returns the filter that a worker is in, or was in when the process died.
    pub(super) fn filter_of(&self, worker: usize) -> Option<String> {
        let number = self.page.worker(worker).filter.load(Ordering::Relaxed);
        (number != 0).then(|| self.crash_context.name_of(number))
    }

    /// Returns all filters that workers are in, or were in when the process died.
    pub(super) fn filters_entered(&self) -> Vec<String> {
        if let Some(hung_filter) = &self.hung_filter {
            return vec![hung_filter.clone()];
        }
        let mut names: Vec<String> =
            (0..self.settings.workers.min(WORKERS_MAX)).filter_map(|index| self.filter_of(index)).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Returns the process ID as a number, for log entries.
    pub(super) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }
}

impl ProcessExit {
    /// Returns the exit code of this program when its first gateway process ends in this way.
    pub(super) fn exit_code(self) -> u8 {
        match self {
            Self::Exited(code) => u8::try_from(code).ok().filter(|code| *code != 0).unwrap_or(70),
            Self::Killed(_) => 70,
        }
    }

    fn of(status: WaitStatus) -> Self {
        match status.terminating_signal() {
            Some(signal) => Self::Killed(signal),
            None => Self::Exited(status.exit_status().unwrap_or(EXIT_UNKNOWN)),
        }
    }
}

impl std::fmt::Display for ProcessExit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Killed(signal) => match Signal::try_from(*signal) {
                Ok(known) => write!(f, "signal {signal} ({})", known.as_str()),
                Err(_) => write!(f, "signal {signal}"),
            },
        }
    }
}

const EXIT_UNKNOWN: i32 = -1;

/// Maximum time to exit after the drain timeout.
const DRAIN_MARGIN: Duration = Duration::from_secs(5);
