//! Handles the messages of gateway processes to their parent.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

use super::gateway::GatewayPhase;
use super::program::Image;
use super::supervisor::{STOP_TIME_MAX, Supervisor, SupervisorStage};
use crate::control::{
    ChildSettings, DESCRIPTORS_PER_MESSAGE, Received, STATE_FORMAT, SocketKey, SocketPlace, StartReason,
    ToChild, ToParent,
};
use crate::log::LogSettings;
use crate::sockets::SocketBindError;

impl Supervisor {
    /// Handles the waiting messages, a limited number per process.
    pub(super) fn handle_messages(&mut self) {
        for index in 0..self.processes.len() {
            for _ in 0..MESSAGES_PER_ROUND {
                let Some(process) = self.processes.get_mut(index).filter(|process| process.is_connected)
                else {
                    break;
                };
                let gateway = process.pid();
                match process.channel.receive() {
                    Ok(Received::Nothing) => break,
                    Ok(Received::Message(message, descriptors)) => {
                        self.handle_message(index, message, descriptors)
                    }
                    Ok(Received::Unknown(text)) => {
                        tracing::warn!(gateway, text, "unknown message from the gateway process")
                    }
                    // The process is ending or faulty; all that is left is to wait for its end.
                    Ok(Received::Closed) => process.is_connected = false,
                    Err(error) => {
                        tracing::error!(gateway, %error, "cannot read from the gateway process");
                        break;
                    }
                }
            }
        }
    }

    fn handle_message(&mut self, index: usize, message: ToParent, descriptors: Vec<OwnedFd>) {
        let Some(process) = self.processes.get_mut(index) else { return };
        match message {
            ToParent::Listen { request, key, sockets } => self.handle_listen(index, request, key, sockets),
            ToParent::Inherited { key, bound } => {
                // Later ones would conflict with the sockets that this parent has bound itself.
                if self.stage == SupervisorStage::First {
                    self.sockets.inherit(key, bound, descriptors);
                }
            }
            ToParent::Release { keys } => {
                process.granted.retain(|key, _| !keys.contains(key));
                self.settle_sockets();
            }
            ToParent::Ready { settings, listening, admin, version, state_format } => {
                process.settings = settings;
                self.handle_ready(index, &listening, admin.as_ref(), &version, state_format);
            }
            ToParent::LastGood => {
                let file = descriptors.into_iter().next();
                match process.phase {
                    GatewayPhase::Serving => self.last_good = file,
                    GatewayPhase::Starting(_) | GatewayPhase::Draining(_) => process.last_good = file,
                }
            }
            ToParent::Filters { names } => process.crash_context.add_filters(names),
            ToParent::FilterDetails { filters } => process.crash_context.add_about(filters),
            ToParent::CrashMessage => {
                if let Some(file) = descriptors.into_iter().next() {
                    process.crash_context.set_file(file);
                }
            }
            ToParent::Renew => self.renew(index),
            ToParent::Reloading => self.notifier.reloading(),
            ToParent::Reloaded { settings } => {
                process.settings = settings.clone();
                self.adopt_log(&settings);
                self.notifier.ready();
            }
        }
    }

    fn handle_listen(&mut self, index: usize, request: u64, key: SocketKey, wanted: usize) {
        let Some(process) = self.processes.get_mut(index) else { return };
        let held = match self.sockets.acquire(&key, wanted) {
            Ok(held) => held,
            Err(error) => {
                let is_in_use = matches!(error, SocketBindError::InUse { .. });
                let answer = ToChild::NotBound { request, problem: error.to_string(), is_in_use };
                return process.tell(&answer, &[]);
            }
        };
        process.granted.insert(key, held.sockets.len());
        let mut batches = held.sockets.chunks(DESCRIPTORS_PER_MESSAGE).peekable();
        while let Some(batch) = batches.next() {
            let descriptors: Vec<BorrowedFd<'_>> = batch.iter().map(AsFd::as_fd).collect();
            let is_last = batches.peek().is_none();
            process.tell(&ToChild::Sockets { request, bound: held.bound.clone(), is_last }, &descriptors);
        }
    }

    /// Handles the readiness of a process: it serves from now on, and the previous one drains.
    fn handle_ready(
        &mut self,
        index: usize,
        listening: &[SocketPlace],
        admin: Option<&SocketPlace>,
        version: &str,
        state_format: u32,
    ) {
        let Some(fresh) = self.processes.get_mut(index) else { return };
        if !matches!(fresh.phase, GatewayPhase::Starting(_)) || fresh.kill_reason.is_some() {
            return;
        }
        fresh.handle_ready();
        let (gateway, reason, generation) = (fresh.pid(), fresh.reason, fresh.generation);
        let image = fresh.image.clone();
        self.last_good = fresh.last_good.take();
        let settings = fresh.settings.clone();
        self.adopt_log(&settings);
        let now = Instant::now();
        for (_, process) in self.processes.iter_mut().enumerate().filter(|(other, _)| *other != index) {
            match process.phase {
                GatewayPhase::Serving => {
                    process.tell(&ToChild::Drain { has_successor: true }, &[]);
                    process.phase = GatewayPhase::Draining(now + process.drain_time_max());
                }
                // A replacement that comes too late.
                GatewayPhase::Starting(_) if process.reason == StartReason::Replacement => {
                    process.tell(&ToChild::Stop, &[]);
                    process.phase = GatewayPhase::Draining(now + STOP_TIME_MAX);
                }
                GatewayPhase::Starting(_) | GatewayPhase::Draining(_) => {}
            }
        }
        if self.stage == SupervisorStage::First {
            self.stage = SupervisorStage::Serving;
            self.sockets.keep_inherited();
            announce(listening, admin);
        }
        tracing::info!(gateway, generation, version, "ready");
        self.notifier.ready();
        self.settle_sockets();
        match reason {
            StartReason::HandOver => self.finish_hand_over(index, image, state_format),
            StartReason::Renewal => {
                tracing::info!("filter libraries renewed; the previous process drains");
                self.repeat_reload(index);
            }
            StartReason::First | StartReason::Replacement => {}
        }
    }

    fn finish_hand_over(&mut self, index: usize, image: Image, state_format: u32) {
        tracing::info!(program = %self.program.path.display(), "handed over; the previous process drains");
        let is_ours = Image::running().is_ok_and(|running| running.is_same_file(&image));
        self.program.image = image;
        // A program that cannot parse the state must not get it: this image stays its parent.
        self.is_exec_due = !is_ours && state_format == STATE_FORMAT;
        self.repeat_reload(index);
    }

    /// Passes on a reload that was requested while the process was starting.
    fn repeat_reload(&mut self, index: usize) {
        if std::mem::take(&mut self.is_reload_due)
            && let Some(process) = self.processes.get(index)
        {
            process.tell(&ToChild::Reload, &[]);
        }
    }

    /// Applies the log settings of the gateway process, which has combined those of configuration and command line.
    pub(super) fn adopt_log(&self, settings: &ChildSettings) {
        if let Ok(level) = settings.log_level.parse() {
            self.log.set(LogSettings { level, is_json: settings.is_log_json });
        }
    }
}

fn announce(listening: &[SocketPlace], admin: Option<&SocketPlace>) {
    for place in listening {
        tracing::info!(address = %place, role = "listener", "listening");
    }
    if let Some(place) = admin {
        tracing::info!(address = %place, role = "admin", "listening");
    }
}

/// Messages read from one process before the next one has its turn.
const MESSAGES_PER_ROUND: usize = 64;
