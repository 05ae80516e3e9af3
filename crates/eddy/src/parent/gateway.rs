//! One gateway process as its parent sees it.

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

/// A gateway process that has been started and not yet been seen to end.
#[derive(Debug)]
pub(super) struct GatewayProcess {
    /// Its process id, ours to wait for, so nobody else's.
    pub(super) pid: Pid,
    /// The parent's end of its control socket.
    pub(super) channel: Channel,
    /// Whether the other end is still open.
    pub(super) is_connected: bool,
    /// What it runs.
    pub(super) image: Image,
    /// Counts the processes.
    pub(super) generation: u64,
    /// Why it was started.
    pub(super) reason: StartReason,
    /// When it was started, or taken up from another parent image.
    pub(super) started: Instant,
    /// What it is doing.
    pub(super) phase: GatewayPhase,
    /// Why the parent has killed it, if so.
    pub(super) kill_reason: Option<&'static str>,
    /// The filter that a worker hung in, if that is why.
    pub(super) hung_in: Option<String>,
    /// The listening sockets it was given, and how many of each.
    pub(super) granted: BTreeMap<SocketKey, usize>,
    /// What it told of its configuration.
    pub(super) settings: ChildSettings,
    /// The configuration it runs with, until it serves and this becomes the parent's.
    pub(super) last_good: Option<OwnedFd>,
    /// What will be known of its end.
    pub(super) crash_context: CrashContext,
    serving_since_ms: u64,
    page: SharedPage,
    page_file: OwnedFd,
}

/// What a gateway process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GatewayPhase {
    /// It gets ready, until then at most.
    Starting(Instant),
    /// It accepts.
    Serving,
    /// It lets its exchanges end, until then at most.
    Draining(Instant),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProcessExit {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
}

impl GatewayProcess {
    /// Starts a process and welcomes it.
    ///
    /// # Errors
    /// What the kernel says of memory, sockets, fork or exec.
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
        // The welcome waits in the socket, whatever the process becomes.
        let welcome = ToChild::Welcome {
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
                (program.start_image(stdin)?, program.image().clone())
            }
            StartReason::HandOver => program.start_on_disk(stdin)?,
        };
        let started = Instant::now();
        Ok(Self {
            pid,
            channel,
            is_connected: true,
            image,
            generation,
            reason,
            started,
            phase: GatewayPhase::Starting(started + time_max),
            kill_reason: None,
            hung_in: None,
            granted: BTreeMap::new(),
            settings: ChildSettings::default(),
            last_good: None,
            crash_context: CrashContext::default(),
            serving_since_ms: monotonic_ms(),
            page,
            page_file,
        })
    }

    /// A process that another image of the parent started.
    ///
    /// # Errors
    /// When the shared page cannot be mapped.
    pub(super) fn adopt(parts: Adopted) -> io::Result<Self> {
        let page = SharedPage::from_fd(eddy_io::duplicate(&parts.page_file)?)?;
        Ok(Self {
            pid: parts.pid,
            channel: parts.channel,
            is_connected: true,
            image: parts.image,
            generation: parts.generation,
            reason: StartReason::HandOver,
            started: Instant::now(),
            phase: parts.phase,
            kill_reason: None,
            hung_in: None,
            granted: parts.granted,
            settings: parts.settings,
            last_good: None,
            crash_context: parts.crash_context,
            serving_since_ms: monotonic_ms(),
            page,
            page_file: parts.page_file,
        })
    }

    /// How the process ended, if it has.
    pub(super) fn ending(&self) -> Option<ProcessExit> {
        match rustix::process::waitpid(Some(self.pid), WaitOptions::NOHANG) {
            Ok(None) | Err(rustix::io::Errno::INTR) => None,
            Ok(Some((_, status))) => Some(ProcessExit::of(status)),
            // Not our child, or no longer: there is nothing to wait for.
            Err(_) => Some(ProcessExit::Exited(EXIT_UNKNOWN)),
        }
    }

    /// Sends a message; a process that does not take it is as good as gone, and the log says so.
    pub(super) fn tell(&self, message: &ToChild, descriptors: &[BorrowedFd<'_>]) {
        if let Err(error) = self.channel.send(message, descriptors) {
            tracing::warn!(gateway = self.pid(), %error, "the gateway process does not take a message");
        }
    }

    /// Ends the process at once; the record of its end will name the reason.
    pub(super) fn kill_because(&mut self, reason: &'static str) {
        if self.kill_reason.is_none() {
            self.kill_reason = Some(reason);
            // The process is not yet waited for, so the id is still its own; it may have ended by itself.
            let _ = rustix::process::kill_process(self.pid, rustix::process::Signal::KILL);
        }
    }

    /// When the parent must look at this process again, whatever it does.
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

    /// How long the parent waits for this process to drain; its own limit ends its exchanges before.
    pub(super) fn drain_time_max(&self) -> Duration {
        Duration::from_millis(self.settings.drain_timeout_ms).saturating_add(DRAIN_MARGIN)
    }

    /// Takes note that the process serves from now on.
    pub(super) fn handle_ready(&mut self) {
        self.phase = GatewayPhase::Serving;
        self.serving_since_ms = monotonic_ms();
    }

    /// The last sign of life of each worker, in milliseconds of the monotonic clock: its heartbeat, or its readiness.
    pub(super) fn signs_of_life_ms(&self) -> impl Iterator<Item = u64> {
        let beat = |index| self.page.worker(index).heartbeat_ms.load(Ordering::Relaxed);
        (0..self.settings.workers.min(WORKERS_MAX)).map(move |index| self.serving_since_ms.max(beat(index)))
    }

    /// The filter that a worker is in, or was when the process died.
    pub(super) fn filter_of(&self, worker: usize) -> Option<String> {
        let number = self.page.worker(worker).filter.load(Ordering::Relaxed);
        (number != 0).then(|| self.crash_context.name_of(number))
    }

    /// All filters that workers are in, or were when the process died.
    pub(super) fn filters_entered(&self) -> Vec<String> {
        if let Some(hung_in) = &self.hung_in {
            return vec![hung_in.clone()];
        }
        let mut names: Vec<String> =
            (0..self.settings.workers.min(WORKERS_MAX)).filter_map(|index| self.filter_of(index)).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The process id as a number, for records.
    pub(super) fn pid(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// The file of the shared page.
    pub(super) fn page_file(&self) -> BorrowedFd<'_> {
        self.page_file.as_fd()
    }
}

/// What of a process one image of the parent hands to the next.
#[derive(Debug)]
pub(super) struct Adopted {
    pub(super) pid: Pid,
    pub(super) channel: Channel,
    pub(super) image: Image,
    pub(super) generation: u64,
    pub(super) phase: GatewayPhase,
    pub(super) granted: BTreeMap<SocketKey, usize>,
    pub(super) settings: ChildSettings,
    pub(super) page_file: OwnedFd,
    pub(super) crash_context: CrashContext,
}

impl ProcessExit {
    /// The code this program should exit with when its first gateway process ends so.
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

/// What a process may take beside its drain timeout.
const DRAIN_MARGIN: Duration = Duration::from_secs(5);
