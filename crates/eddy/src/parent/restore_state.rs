//! Executes a new image of the parent in the place of the old one, and restores the state there.
//!
//! The state travels through a socket: the old image writes it, including descriptors, and leaves the reading end as
//! standard input. Nothing has to be undone when the exec fails, and no descriptor is ever referred to by its number.

use std::collections::VecDeque;
use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::process::Pid;

use super::crash_context::CrashContext;
use super::gateway::{GatewayPhase, GatewayProcess};
use super::program::{Image, RESTORE_VARIABLE};
use super::quarantine::Quarantine;
use super::state::{ParentState, ProcessState, SocketState};
use super::supervisor::{Supervisor, SupervisorStage};
use crate::control::{
    Channel, DESCRIPTORS_PER_MESSAGE, Received, STATE_FORMAT, memory_file, read_memory_file,
};
use crate::sockets::HeldSockets;

impl Supervisor {
    /// Executes the image that now serves, keeping the process ID. Returns only on failure; nothing has changed then.
    pub(super) fn execute_successor(&self) {
        tracing::info!(program = %self.program.path.display(), "the parent process executes the program on disk");
        self.log.flush();
        let Err(error) = self.try_execute_successor();
        tracing::error!(%error, "cannot execute the program on disk; this parent process continues");
    }

    fn try_execute_successor(&self) -> io::Result<std::convert::Infallible> {
        let (writer, reader) = Channel::pair()?;
        let (state, descriptors) = self.state();
        let description = memory_file("eddy-state", &serde_json::to_vec(&state)?)?;
        writer.send(&descriptors.len(), &[description.as_fd()])?;
        for batch in descriptors.chunks(DESCRIPTORS_PER_MESSAGE) {
            writer.send(&batch.len(), batch)?;
        }
        rustix::stdio::dup2_stdin(&reader)?;
        let arguments =
            std::env::args_os().map(|text| c_string(text.into_vec())).collect::<io::Result<Vec<_>>>()?;
        let mark = [(OsString::from(RESTORE_VARIABLE), OsString::from("1"))];
        let environment = std::env::vars_os()
            .filter(|(name, _)| name != RESTORE_VARIABLE)
            .chain(mark)
            .map(|(name, value)| c_string([name.as_bytes(), b"=", value.as_bytes()].concat()))
            .collect::<io::Result<Vec<_>>>()?;
        // Signals stay blocked across the exec, so none is lost and none kills an image that is not ready for it.
        let path = c_string(self.program.image.path().into_os_string().into_vec())?;
        Ok(nix::unistd::execve(&path, &arguments, &environment)?)
    }

    fn state(&self) -> (ParentState, Vec<BorrowedFd<'_>>) {
        let mut descriptors = Vec::new();
        let mut sockets = Vec::new();
        for (key, held) in self.sockets.iter() {
            descriptors.extend(held.sockets.iter().map(AsFd::as_fd));
            sockets.push(SocketState {
                key: key.clone(),
                bound: held.bound.clone(),
                count: held.sockets.len(),
            });
        }
        let now = Instant::now();
        let mut processes = Vec::new();
        for process in &self.processes {
            descriptors.extend([process.channel.as_fd(), process.page_file.as_fd(), process.image.as_fd()]);
            let left = process.deadline().map(|deadline| deadline.saturating_duration_since(now));
            processes.push(ProcessState {
                pid: process.pid(),
                generation: process.generation,
                drain_left_ms: left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
                granted: process.granted.iter().map(|(key, count)| (key.clone(), *count)).collect(),
                settings: process.settings.clone(),
                filters: process.crash_context.names(),
                about: process.crash_context.about(),
                has_last_words: process.crash_context.file().is_some(),
            });
        }
        descriptors.extend(self.last_good.as_ref().map(AsFd::as_fd));
        descriptors.extend(self.processes.iter().filter_map(|process| process.crash_context.file()));
        let has_last_good = self.last_good.is_some();
        let state = ParentState {
            format: STATE_FORMAT,
            path: self.program.path.as_os_str().as_bytes().to_vec(),
            generation: self.generation,
            sockets,
            processes,
            has_last_good,
            quarantined: self.quarantine.held.clone(),
        };
        (state, descriptors)
    }

    /// Restores the state that the previous image left at standard input.
    ///
    /// # Errors
    /// When the state is incomplete, or written by an unknown version.
    pub(super) fn restore_state(&mut self) -> anyhow::Result<()> {
        let channel = Channel::from_stdin().context("no state on standard input")?;
        let (count, first) = receive(&channel)?;
        let description = first.into_iter().next().context("no description of the state")?;
        let state: ParentState = serde_json::from_slice(&read_memory_file(&description)?)?;
        ensure!(
            state.format == STATE_FORMAT,
            "the state has format {}, this program supports {STATE_FORMAT}",
            state.format
        );
        let mut descriptors = VecDeque::new();
        while descriptors.len() < count {
            let (_, batch) = receive(&channel)?;
            ensure!(!batch.is_empty(), "descriptors are missing");
            descriptors.extend(batch);
        }
        let mut next = || descriptors.pop_front().context("a descriptor is missing");
        for socket in state.sockets {
            let sockets = (0..socket.count).map(|_| next()).collect::<anyhow::Result<Vec<OwnedFd>>>()?;
            self.sockets.adopt(socket.key, HeldSockets::bound_before(socket.bound, sockets));
        }
        for process in state.processes {
            let (channel, page_file, image) = (next()?, next()?, next()?);
            self.processes.push(adopt(process, channel, page_file, image)?);
        }
        self.last_good = if state.has_last_good { Some(next()?) } else { None };
        for process in self.processes.iter_mut().filter(|process| process.crash_context.is_file_awaited) {
            process.crash_context.set_file(next()?);
        }
        self.program.path = OsString::from_vec(state.path).into();
        self.generation = state.generation;
        self.quarantine = Quarantine::adopt(state.quarantined);
        self.stage = SupervisorStage::Serving;
        if let Some(serving) = self.serving() {
            let (settings, image) = (serving.settings.clone(), serving.image.clone());
            self.adopt_log(&settings);
            self.program.image = image;
        }
        self.notifier.ready();
        tracing::info!(
            generation = self.generation,
            version = env!("CARGO_PKG_VERSION"),
            "the parent process has restored its state"
        );
        Ok(())
    }
}

fn receive(channel: &Channel) -> anyhow::Result<(usize, Vec<OwnedFd>)> {
    match channel.receive()? {
        Received::Message(count, descriptors) => Ok((count, descriptors)),
        Received::Unknown(_) | Received::Nothing | Received::Closed => bail!("the state is incomplete"),
    }
}

fn adopt(
    state: ProcessState,
    channel: OwnedFd,
    page_file: OwnedFd,
    image: OwnedFd,
) -> anyhow::Result<GatewayProcess> {
    let pid = Pid::from_raw(state.pid).context("a process ID is invalid")?;
    let (channel, image) = (Channel::from_fd(channel), Image::from_fd(image));
    let mut process = GatewayProcess::adopt(pid, channel, image, state.generation, page_file)?;
    if let Some(left_ms) = state.drain_left_ms {
        process.phase = GatewayPhase::Draining(Instant::now() + Duration::from_millis(left_ms));
    }
    process.granted = state.granted.into_iter().collect();
    process.settings = state.settings;
    process.crash_context = CrashContext::adopt(state.filters, state.about, state.has_last_words);
    Ok(process)
}

fn c_string(bytes: Vec<u8>) -> io::Result<CString> {
    Ok(CString::new(bytes)?)
}
