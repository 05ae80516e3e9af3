//! The thread that writes access records to their target, however slow that is.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use eddy_config::LogTarget;

use crate::stats::SinkSeries;

/// Chunks that may wait for the target; with those of 32 KiB some 4 MiB.
const CHUNKS_MAX: usize = 128;

/// How long to wait before trying again to queue behind a full queue.
const SETTLE_PAUSE: Duration = Duration::from_millis(10);

/// Records on their way to the target.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub(crate) bytes: Vec<u8>,
    /// How many records they are.
    pub(crate) records: u64,
    /// Where the emptied buffer goes.
    pub(crate) back: Sender<Vec<u8>>,
}

/// Where records go. Changing it never waits for the target.
#[derive(Debug)]
pub(crate) struct Sink {
    sender: SyncSender<Chunk>,
    wanted: Arc<Mutex<Wanted>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What the thread is to write to from its next chunk on.
#[derive(Debug, Default)]
struct Wanted {
    target: Option<LogTarget>,
    /// Counts the times that the target is to be opened anew.
    version: u64,
}

#[derive(Default)]
struct Opened {
    version: u64,
    output: Option<Output>,
    /// Whether the last write failed, so that a full disk is told of once.
    is_failing: bool,
}

enum Output {
    Stdout,
    Stderr,
    File(File),
}

impl Sink {
    /// Starts the thread, with no target yet.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub(crate) fn start(series: Arc<SinkSeries>) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(CHUNKS_MAX);
        let wanted = Arc::new(Mutex::new(Wanted::default()));
        let theirs = Arc::clone(&wanted);
        let thread = std::thread::Builder::new()
            .name("eddy-access-log".to_owned())
            .spawn(move || run(&receiver, &theirs, &series))?;
        Ok(Self { sender, wanted, thread: Mutex::new(Some(thread)) })
    }

    /// Where workers send their chunks.
    pub(crate) fn sender(&self) -> SyncSender<Chunk> {
        self.sender.clone()
    }

    /// Sets the target; a target that stays the same is not opened anew.
    pub(crate) fn set_target(&self, target: Option<LogTarget>) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        if wanted.target != target {
            wanted.target = target;
            wanted.version += 1;
        }
    }

    /// Opens the target anew, as after a rotation.
    pub(crate) fn reopen(&self) {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).version += 1;
    }

    /// Waits until what was handed over before has been written, but no longer than `patience`.
    pub(crate) fn settle(&self, patience: Duration) {
        let begun = Instant::now();
        let (back, written) = channel();
        // An empty chunk comes back when its turn has come. Where the target takes nothing, none ever does.
        let mut marker = Chunk { bytes: Vec::new(), records: 0, back };
        let (_open, pause) = channel::<()>();
        while let Err(TrySendError::Full(refused)) = self.sender.try_send(marker) {
            if begun.elapsed() >= patience {
                return;
            }
            marker = refused;
            let _ = pause.recv_timeout(SETTLE_PAUSE);
        }
        let _ = written.recv_timeout(patience.saturating_sub(begun.elapsed()));
    }

    /// Writes out what is waiting and ends the thread, once every worker's sender is gone.
    pub(crate) fn finish(self) {
        let Self { sender, thread, .. } = self;
        drop(sender);
        let thread = thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread
            && thread.join().is_err()
        {
            tracing::error!("the access log's thread had panicked");
        }
    }
}

fn run(receiver: &Receiver<Chunk>, wanted: &Mutex<Wanted>, series: &SinkSeries) {
    let mut opened = Opened::default();
    while let Ok(mut chunk) = receiver.recv() {
        opened.follow(wanted);
        if !opened.write(&chunk.bytes) {
            series.records_lost.add(chunk.records);
        }
        chunk.bytes.clear();
        // The worker may be gone; then so is the need for its buffer.
        let _ = chunk.back.send(chunk.bytes);
    }
}

impl Opened {
    fn follow(&mut self, wanted: &Mutex<Wanted>) {
        let (version, target) = {
            let wanted = wanted.lock().unwrap_or_else(PoisonError::into_inner);
            if wanted.version == self.version && (self.output.is_some() || wanted.target.is_none()) {
                return;
            }
            (wanted.version, wanted.target.clone())
        };
        self.version = version;
        self.output = target.and_then(|target| match target {
            LogTarget::Stdout => Some(Output::Stdout),
            LogTarget::Stderr => Some(Output::Stderr),
            LogTarget::File(path) => match OpenOptions::new().create(true).append(true).open(&path) {
                Ok(file) => Some(Output::File(file)),
                Err(error) => {
                    self.tell(&error, &format!("\"{}\" cannot be opened", path.display()));
                    None
                }
            },
        });
    }

    /// Writes a chunk; whether all of it was. With no target there is nothing to lose.
    fn write(&mut self, bytes: &[u8]) -> bool {
        let written = match &mut self.output {
            None => return !self.is_failing,
            Some(Output::Stdout) => io::stdout().lock().write_all(bytes),
            Some(Output::Stderr) => io::stderr().lock().write_all(bytes),
            Some(Output::File(file)) => file.write_all(bytes),
        };
        match &written {
            Ok(()) => self.is_failing = false,
            Err(error) => self.tell(error, "cannot be written"),
        }
        written.is_ok()
    }

    fn tell(&mut self, error: &io::Error, what: &str) {
        if !self.is_failing {
            self.is_failing = true;
            tracing::error!(%error, "the access log {what}; records are lost until it can");
        }
    }
}
