//! Signals as a descriptor: blocked in every thread, and read by the main loop.
//!
//! Blocked signals stay pending across an exec, so the parent loses none while it executes a new image in its own
//! place.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// Action requested by a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignalAction {
    /// SIGHUP: reload the configuration.
    Reload,
    /// SIGUSR1: reopen log files.
    ReopenLogs,
    /// SIGUSR2: start the program on disk and hand over to it.
    HandOver,
    /// SIGTERM, SIGINT or SIGQUIT: drain and exit.
    Drain,
    /// SIGCHLD: a child may have ended.
    ChildEnded,
}

/// Signals of this process, as a descriptor to poll.
#[derive(Debug)]
pub(crate) struct Signals {
    descriptor: SignalFd,
}

impl Signals {
    /// Blocks eddy's signals in this thread and all threads it starts. Call it before any other thread exists.
    ///
    /// # Errors
    /// Errors of `sigprocmask` or `signalfd`.
    pub(crate) fn block() -> io::Result<Self> {
        let mut mask = SigSet::empty();
        for (signal, _) in REQUESTS {
            mask.add(signal);
        }
        // With SIGXFSZ blocked, a file that reaches its size limit behaves like a full disk: the write fails, and the
        // process lives on.
        let mut blocked = mask;
        blocked.add(Signal::SIGXFSZ);
        blocked.thread_block()?;
        let descriptor = SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        Ok(Self { descriptor })
    }

    /// Returns the next pending signal's action, if any.
    pub(crate) fn next(&self) -> Option<SignalAction> {
        let signal = self.descriptor.read_signal().ok().flatten()?;
        REQUESTS
            .iter()
            .find(|(known, _)| i64::from(*known as i32) == i64::from(signal.ssi_signo))
            .map(|(_, request)| *request)
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

const REQUESTS: [(Signal, SignalAction); 7] = [
    (Signal::SIGHUP, SignalAction::Reload),
    (Signal::SIGUSR1, SignalAction::ReopenLogs),
    (Signal::SIGUSR2, SignalAction::HandOver),
    (Signal::SIGTERM, SignalAction::Drain),
    (Signal::SIGINT, SignalAction::Drain),
    (Signal::SIGQUIT, SignalAction::Drain),
    (Signal::SIGCHLD, SignalAction::ChildEnded),
];
