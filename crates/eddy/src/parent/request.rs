//! Handles signals to the parent.

use super::gateway::{GatewayPhase, GatewayProcess};
use super::supervisor::{Supervisor, SupervisorStage};
use crate::control::{StartReason, ToChild};
use crate::signals::SignalAction;

impl Supervisor {
    /// Executes the action of a signal.
    pub(super) fn handle_request(&mut self, request: SignalAction) {
        match request {
            SignalAction::Reload => self.reload(),
            SignalAction::ReopenLogs => {
                for process in &self.processes {
                    process.tell(&ToChild::ReopenLogs, &[]);
                }
            }
            SignalAction::HandOver => self.hand_over(),
            SignalAction::Drain => {
                if self.stage != SupervisorStage::Stopping {
                    self.notifier.stopping();
                    tracing::info!("draining; another signal stops at once");
                }
                self.stop();
                // From now on new connections should be refused, not queued: the workers hold the last copies of the
                // sockets and close them once their queues are empty.
                self.sockets.retain(|key| key.role == crate::control::SocketRole::Admin);
            }
            // Ended processes are checked for in every round.
            SignalAction::ChildEnded => {}
        }
    }

    fn reload(&mut self) {
        self.restart.end_wait();
        self.is_reload_due = self.is_starting();
        if let Some(process) = self.serving() {
            process.tell(&ToChild::Reload, &[]);
        }
    }

    fn hand_over(&mut self) {
        if let Some(problem) = self.obstacle() {
            tracing::warn!(problem, "hand-over refused");
            return;
        }
        tracing::info!(program = %self.program.path.display(), "handing over to the program on disk");
        if self.start(StartReason::HandOver).is_err() {
            tracing::error!("hand-over failed; the previous gateway process keeps serving");
        }
    }

    /// Starts a process that the serving one has requested.
    pub(super) fn renew(&mut self, index: usize) {
        if self.processes.get(index).is_none_or(|process| process.phase != GatewayPhase::Serving) {
            return;
        }
        if self.is_starting() {
            // The starting process may have read the old files; it will reload them.
            self.is_reload_due = true;
            return;
        }
        if let Some(problem) = self.obstacle() {
            tracing::warn!(problem, "changed filter libraries are not loaded; try again later");
            return;
        }
        tracing::info!("handing over to a new process because filter libraries have changed");
        if self.start(StartReason::Renewal).is_err() {
            tracing::error!("hand-over failed; the previous gateway process keeps serving");
        }
    }

    /// Returns why no process can take over now, if so.
    fn obstacle(&self) -> Option<&'static str> {
        if self.is_starting() {
            Some("a gateway process is still starting")
        } else if self.stage != SupervisorStage::Serving || self.serving().is_none() {
            Some("no gateway process is serving")
        } else if self.processes.len() >= PROCESSES_MAX {
            Some("too many gateway processes are still draining")
        } else {
            None
        }
    }

    fn is_starting(&self) -> bool {
        self.processes.iter().any(|process| matches!(process.phase, GatewayPhase::Starting(_)))
    }

    /// Returns the serving process, if there is one.
    pub(super) fn serving(&self) -> Option<&GatewayProcess> {
        self.processes.iter().find(|process| process.phase == GatewayPhase::Serving)
    }
}

/// Maximum gateway processes: one that serves, the others draining.
const PROCESSES_MAX: usize = 8;
