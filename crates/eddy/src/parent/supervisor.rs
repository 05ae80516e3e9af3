//! The parent's main loop: waits for signals, messages, ended processes and deadlines, and keeps one gateway process
//! serving.

use std::iter;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use eddy_io::monotonic_ms;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::crash_context::CrashMessage;
use super::gateway::{GatewayPhase, GatewayProcess, ProcessExit};
use super::program::GatewayProgram;
use super::quarantine::Quarantine;
use super::restart::RestartPolicy;
use super::watchdog::{TICK, Watchdog};
use crate::control::{StartReason, ToChild};
use crate::log::Log;
use crate::notify::Notifier;
use crate::signals::{SignalAction, Signals};
use crate::sockets::SocketStore;

/// Parent of the gateway processes.
#[derive(Debug)]
pub(crate) struct Supervisor {
    /// Program of gateway processes.
    pub(super) program: GatewayProgram,
    /// Signals of this process.
    pub(super) signals: Signals,
    /// Log of this process.
    pub(super) log: Log,
    /// Connection to the service manager.
    pub(super) notifier: Notifier,
    /// Maximum time for a gateway process to become ready.
    pub(super) ready_timeout: Duration,
    pub(super) sockets: SocketStore,
    pub(super) processes: Vec<GatewayProcess>,
    pub(super) restart: RestartPolicy,
    pub(super) quarantine: Quarantine,
    pub(super) watchdog: Watchdog,
    /// Configuration in force, for a replacement that finds an invalid one on disk.
    pub(super) last_good: Option<OwnedFd>,
    pub(super) generation: u64,
    pub(super) stage: SupervisorStage,
    /// Whether a reload was requested while a new process was starting, which may have read the files too early.
    pub(super) is_reload_due: bool,
    /// Whether this process should execute the program on disk, because a gateway process of it serves.
    pub(super) is_exec_due: bool,
    pub(super) exit: Option<u8>,
}

/// Stage of the parent's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SupervisorStage {
    /// The first gateway process is starting; its failure is that of the parent.
    First,
    /// One gateway process should serve at any time.
    Serving,
    /// All processes should end.
    Stopping,
}

impl Supervisor {
    /// Creates a parent without processes and sockets.
    pub(crate) fn new(
        program: GatewayProgram,
        signals: Signals,
        log: Log,
        notifier: Notifier,
        ready_timeout: Duration,
    ) -> Self {
        Self {
            program,
            signals,
            log,
            notifier,
            ready_timeout,
            sockets: SocketStore::default(),
            processes: Vec::new(),
            restart: RestartPolicy::default(),
            quarantine: Quarantine::default(),
            watchdog: Watchdog::new(monotonic_ms()),
            last_good: None,
            generation: 0,
            stage: SupervisorStage::First,
            is_reload_due: false,
            is_exec_due: false,
            exit: None,
        }
    }

    /// Runs until all processes have ended, and returns the exit code.
    pub(crate) fn run(mut self) -> u8 {
        if super::program::replaces_parent_image() {
            if let Err(error) = self.restore_state() {
                tracing::error!(error = %format!("{error:#}"), "cannot restore the state of the previous parent process");
                return 70;
            }
        } else if self.start(StartReason::First).is_err() {
            return 70;
        }
        loop {
            self.step();
            if let Some(code) = self.exit {
                // The files of Unix sockets are removed with the sockets.
                self.sockets.retain(|_| false);
                return code;
            }
        }
    }

    fn step(&mut self) {
        self.wait();
        self.watchdog.look(monotonic_ms());
        let requests: Vec<SignalAction> = iter::from_fn(|| self.signals.next()).collect();
        // Messages are handled before signals: the sender of a signal may know already that a process serves, so the
        // parent must know it as well.
        self.handle_messages();
        for request in requests {
            self.handle_request(request);
        }
        self.handle_exits();
        self.enforce_deadlines();
        self.enforce_heartbeats();
        self.release_filters();
        self.ensure_gateway();
        if self.stage == SupervisorStage::Stopping && self.processes.is_empty() {
            self.exit.get_or_insert(0);
        }
        if std::mem::take(&mut self.is_exec_due) && self.stage == SupervisorStage::Serving {
            self.execute_successor();
        }
    }

    /// Waits for something to do, one tick at most.
    fn wait(&self) {
        let now = Instant::now();
        let deadlines = self.processes.iter().filter_map(GatewayProcess::deadline);
        let soonest = deadlines.chain(self.restart.not_before).min();
        let time = soonest.map_or(TICK, |deadline| deadline.saturating_duration_since(now)).min(TICK);
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(time.subsec_nanos()) + 1 };
        let mut watched = vec![PollFd::new(&self.signals, PollFlags::IN)];
        let connected = self.processes.iter().filter(|process| process.is_connected);
        watched.extend(connected.map(|process| PollFd::new(&process.channel, PollFlags::IN)));
        // An interrupted or failed wait only makes the next check early.
        let _ = poll(&mut watched, Some(&timeout));
    }

    /// Starts a gateway process.
    ///
    /// # Errors
    /// When it cannot be started; the reason is logged.
    pub(super) fn start(&mut self, reason: StartReason) -> Result<(), NotStarted> {
        self.generation += 1;
        let last_good = self.last_good.as_ref().filter(|_| reason == StartReason::Replacement);
        let started = GatewayProcess::start(
            &self.program,
            reason,
            self.generation,
            self.ready_timeout,
            last_good,
            &self.quarantine.held,
        );
        match started {
            Ok(process) => {
                tracing::debug!(
                    gateway = process.pid(),
                    generation = self.generation,
                    ?reason,
                    "gateway process started"
                );
                self.processes.push(process);
                Ok(())
            }
            Err(error) => {
                let program = self.program.path.display();
                tracing::error!(%error, %program, "cannot start a gateway process");
                Err(NotStarted)
            }
        }
    }

    fn handle_exits(&mut self) {
        let mut index = 0;
        while let Some(process) = self.processes.get(index) {
            match process.ending() {
                None => index += 1,
                Some(ending) => {
                    let process = self.processes.remove(index);
                    self.handle_exit(process, ending);
                }
            }
        }
    }

    fn handle_exit(&mut self, process: GatewayProcess, ending: ProcessExit) {
        let gateway = process.pid();
        let lived = process.started.elapsed();
        let cause =
            process.kill_reason.map_or_else(|| ending.to_string(), |reason| format!("{ending}, {reason}"));
        match (process.phase, self.stage) {
            (GatewayPhase::Draining(_), _) if ending == ProcessExit::Exited(0) => {
                tracing::info!(gateway, "gateway process has drained and ended");
            }
            (GatewayPhase::Draining(_), _) | (_, SupervisorStage::Stopping) => {
                tracing::warn!(gateway, cause, "gateway process ended before its exchanges were finished");
            }
            (GatewayPhase::Starting(_), SupervisorStage::First) => {
                if ending != ProcessExit::Exited(1) {
                    tracing::error!(gateway, cause, "the gateway process ended before it was ready");
                }
                self.exit = Some(ending.exit_code());
            }
            (GatewayPhase::Starting(_), SupervisorStage::Serving)
                if matches!(process.reason, StartReason::HandOver | StartReason::Renewal) =>
            {
                tracing::error!(
                    gateway,
                    cause,
                    "hand-over failed; the previous gateway process keeps serving"
                );
            }
            (
                GatewayPhase::Starting(_) | GatewayPhase::Serving,
                SupervisorStage::First | SupervisorStage::Serving,
            ) => {
                let wait_ms = self.restart.record_crash(Instant::now(), lived).as_millis();
                let words = process.crash_context.crash_message().unwrap_or_default();
                let entered = process.filters_entered();
                tracing::error!(
                    gateway,
                    cause,
                    filter = Some(entered.join(" or ")).filter(|names| !names.is_empty()),
                    said = Some(&*words.said).filter(|said| !said.is_empty()),
                    at = words.at.as_deref(),
                    lived_ms = u64::try_from(lived.as_millis()).unwrap_or(u64::MAX),
                    wait_ms = u64::try_from(wait_ms).unwrap_or(u64::MAX),
                    "gateway process ended unexpectedly; another one replaces it"
                );
                self.blame(&process, ending, &words, &entered);
            }
        }
        self.settle_sockets();
    }

    /// Quarantines the filter that a process died in, if enough earlier processes did.
    fn blame(
        &mut self,
        process: &GatewayProcess,
        ending: ProcessExit,
        words: &CrashMessage,
        entered: &[String],
    ) {
        // Filters are not to blame when the process was killed from outside or was too slow to start.
        let is_by_others = match process.kill_reason {
            Some(_) => process.hung_filter.is_none(),
            None => ending == ProcessExit::Killed(SIGKILL),
        };
        if is_by_others {
            return;
        }
        let limits = process.settings.quarantine;
        let suspects = process.crash_context.suspects(words, entered);
        for held in self.quarantine.record_crash(monotonic_ms(), suspects, limits) {
            tracing::error!(
                filter = held.name,
                deaths = held.deaths,
                within_ms = limits.within_ms,
                time_ms = limits.time_ms,
                "a filter is quarantined: the gateway process crashed in it repeatedly; the quarantine ends when its configuration or library changes, or its time is over"
            );
            // The cause of the early deaths is gone.
            self.restart.end_wait();
        }
    }

    /// Ends the quarantine of filters whose time is over.
    fn release_filters(&mut self) {
        let released = self.quarantine.release(monotonic_ms());
        if released.is_empty() {
            return;
        }
        for filter in released {
            tracing::warn!(filter, "the quarantine of a filter has ended");
        }
        let quarantined = self.quarantine.held.clone();
        for process in
            self.processes.iter().filter(|process| !matches!(process.phase, GatewayPhase::Draining(_)))
        {
            process.tell(&ToChild::Quarantine { quarantined: quarantined.clone() }, &[]);
        }
    }

    /// Kills processes that exceeded their deadline.
    fn enforce_deadlines(&mut self) {
        let now = Instant::now();
        for process in &mut self.processes {
            match process.phase {
                GatewayPhase::Starting(deadline) if deadline <= now => {
                    process.kill_because("it was not ready in time")
                }
                GatewayPhase::Draining(deadline) if deadline <= now => {
                    process.kill_because("it did not end in time")
                }
                GatewayPhase::Starting(_) | GatewayPhase::Draining(_) | GatewayPhase::Serving => {}
            }
        }
    }

    /// Kills a serving process with a hanging worker.
    fn enforce_heartbeats(&mut self) {
        for process in &mut self.processes {
            if process.phase != GatewayPhase::Serving || process.kill_reason.is_some() {
                continue;
            }
            if let Some(silent) = self.watchdog.silent_worker(process.last_heartbeats_ms()) {
                process.hung_filter = process.filter_of(silent.index);
                tracing::error!(
                    gateway = process.pid(),
                    worker = silent.index,
                    silent_ms = u64::try_from(silent.silence.as_millis()).unwrap_or(u64::MAX),
                    filter = process.hung_filter.as_deref(),
                    "a worker hangs; its process is killed"
                );
                process.kill_because("a worker hung");
            }
        }
    }

    /// Starts a replacement when no process serves or is about to.
    fn ensure_gateway(&mut self) {
        // A process started for a hand-over runs an untested program, so a replacement does not wait for it.
        let is_expected = |process: &GatewayProcess| match process.phase {
            GatewayPhase::Serving => process.kill_reason.is_none(),
            GatewayPhase::Starting(_) => {
                process.kill_reason.is_none() && process.reason == StartReason::Replacement
            }
            GatewayPhase::Draining(_) => false,
        };
        if self.stage != SupervisorStage::Serving || self.processes.iter().any(is_expected) {
            return;
        }
        let now = Instant::now();
        if self.restart.not_before.is_some_and(|moment| moment > now) {
            return;
        }
        if self.start(StartReason::Replacement).is_err() {
            self.restart.record_crash(now, Duration::ZERO);
        }
    }

    /// Closes the sockets that no process uses, as long as a process serves; without one, all are kept for the next.
    pub(super) fn settle_sockets(&mut self) {
        let is_serving = self.processes.iter().any(|process| process.phase == GatewayPhase::Serving);
        if !is_serving || self.stage != SupervisorStage::Serving {
            return;
        }
        let held: Vec<_> = self.sockets.iter().map(|(key, held)| (key.clone(), held.sockets.len())).collect();
        for (key, count) in held {
            let granted = self.processes.iter().filter_map(|process| process.granted.get(&key));
            let needed = granted.copied().max().unwrap_or(0);
            if needed < count {
                self.sockets.shrink(&key, needed);
                tracing::debug!(address = %key.place, kept = needed, "listening sockets closed");
            }
        }
    }

    /// Stops all processes: at first the serving one drains; when called again, all stop at once.
    pub(super) fn stop(&mut self) {
        let now = Instant::now();
        let is_hurried = self.stage == SupervisorStage::Stopping;
        self.stage = SupervisorStage::Stopping;
        for process in &mut self.processes {
            match process.phase {
                GatewayPhase::Serving if !is_hurried => {
                    process.tell(&ToChild::Drain { has_successor: false }, &[]);
                    process.phase = GatewayPhase::Draining(now + process.drain_time_max());
                }
                GatewayPhase::Draining(_) if !is_hurried => {}
                GatewayPhase::Starting(_) | GatewayPhase::Serving | GatewayPhase::Draining(_) => {
                    process.tell(&ToChild::Stop, &[]);
                    process.phase = GatewayPhase::Draining(now + STOP_TIME_MAX);
                }
            }
        }
    }
}

/// A gateway process could not be started; the reason was logged.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotStarted;

const SIGKILL: i32 = nix::sys::signal::Signal::SIGKILL as i32;

/// Maximum time to exit for a process that should stop at once.
pub(super) const STOP_TIME_MAX: Duration = Duration::from_secs(1);
