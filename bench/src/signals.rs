//! Handling of an interrupted run: the targets are stopped before exit.

use std::thread;

use anyhow::{Context, Result};
use tokio::runtime::Builder;
use tokio::signal::unix::{SignalKind, signal};

use crate::peers;

/// Watches for SIGINT, SIGTERM and SIGHUP on a thread of its own, for the lifetime of the process.
pub(crate) fn watch() -> Result<()> {
    let runtime =
        Builder::new_current_thread().enable_io().build().context("cannot install signal handlers")?;
    thread::Builder::new().name("signals".to_owned()).spawn(move || runtime.block_on(stop_on_signal()))?;
    Ok(())
}

async fn stop_on_signal() {
    let open = |kind| signal(kind).ok();
    let (Some(mut interrupt), Some(mut terminate), Some(mut hangup)) =
        (open(SignalKind::interrupt()), open(SignalKind::terminate()), open(SignalKind::hangup()))
    else {
        return;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
    peers::stop_all();
    #[expect(
        clippy::exit,
        reason = "the run cannot go on without its targets, and the main thread waits for them"
    )]
    std::process::exit(INTERRUPTED)
}

/// Exit status that a shell reports for a program ended by SIGINT.
const INTERRUPTED: i32 = 130;
