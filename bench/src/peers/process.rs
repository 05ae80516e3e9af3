//! A started program with all its descendant processes.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::measure::tree::{self, ProcessStat};

/// A running program; it is stopped on drop.
#[derive(Debug)]
pub struct ProcessTree {
    child: Child,
    handle: OwnedFd,
}

impl ProcessTree {
    /// Starts `command` in a process group of its own.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started.
    pub fn start(command: &mut Command) -> Result<Self> {
        command.process_group(0);
        let child = command.spawn().with_context(|| format!("cannot start {:?}", command.get_program()))?;
        let id = Pid::from_child(&child);
        running().insert(id.as_raw_nonzero().get());
        let handle = pidfd_open(id, PidfdFlags::empty()).context("cannot open a pidfd of the process")?;
        Ok(Self { child, handle })
    }

    /// Returns the process and all its descendants.
    pub fn members(&self) -> Vec<ProcessStat> {
        tree::members(self.id())
    }

    /// Takes its standard output if that is a pipe; works only once.
    pub fn take_output(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Sends a signal to the process itself.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        pidfd_send_signal(&self.handle, signal).context("cannot send a signal")
    }

    /// Returns its exit status if it has ended.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Asks it to stop, and kills it and all its descendants after a timeout.
    pub fn stop(&mut self) {
        let members = self.members();
        if self.ended().is_none() {
            let _ = self.signal(Signal::TERM);
        }
        await_end(&members, STOP_TIMEOUT);
        // Members of the group that were started meanwhile are still running.
        for member in members.into_iter().chain(self.members()) {
            end(member);
        }
        let _ = self.child.wait();
        running().remove(&self.id());
    }

    fn id(&self) -> i32 {
        Pid::from_child(&self.child).as_raw_nonzero().get()
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Stops every running program after an interrupted run.
pub fn stop_all() {
    let ids: Vec<i32> = running().iter().copied().collect();
    let members: Vec<ProcessStat> = ids.iter().flat_map(|&id| tree::members(id)).collect();
    // The id of a process that was not reaped is not reused, so these are ours.
    for handle in ids.iter().filter_map(|&id| handle_of(id)) {
        let _ = pidfd_send_signal(&handle, Signal::TERM);
    }
    await_end(&members, STOP_TIMEOUT);
    members.into_iter().for_each(end);
}

/// Makes this process receive `SIGTERM` when the thread that started it dies; returns whether the parent is still
/// alive.
///
/// The setting survives `exec`, so a target started through us does not outlive a run that was killed.
pub fn set_parent_death_signal(parent: u32) -> Result<bool> {
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
    let now = rustix::process::getppid().map(|id| id.as_raw_nonzero().get());
    Ok(now.and_then(|id| u32::try_from(id).ok()) == Some(parent))
}

fn await_end(members: &[ProcessStat], timeout: Duration) {
    let deadline = Instant::now() + timeout;
    while Instant::now() < deadline && members.iter().any(ProcessStat::is_running) {
        crate::pause(Duration::from_millis(10));
    }
}

/// Kills a process that is known to be ours, if it still runs.
fn end(member: ProcessStat) {
    let Some(handle) = handle_of(member.id) else { return };
    // The handle is held while the process is checked, so the id cannot be reused between the two.
    if member.is_running() {
        let _ = pidfd_send_signal(&handle, Signal::KILL);
    }
}

fn handle_of(id: i32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(id)?, PidfdFlags::empty()).ok()
}

fn running() -> MutexGuard<'static, BTreeSet<i32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Programs that were started and not yet stopped, for [`stop_all`].
static RUNNING: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

const STOP_TIMEOUT: Duration = Duration::from_secs(3);
