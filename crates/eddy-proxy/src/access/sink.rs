//! Thread that writes access log entries to their target, however slow that is.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use eddy_config::LogTarget;
use eddy_io::{LineOutput, LinesLost, duplicate};

use crate::stats::SinkSeries;

/// Maximum number of chunks queued for the target: about 4 MiB in chunks of 32 KiB.
const CHUNKS_MAX: usize = 128;

/// Pause before another try to queue a chunk behind a full queue.
const SETTLE_PAUSE: Duration = Duration::from_millis(10);

/// Entries on their way to the target.
#[derive(Debug)]
pub(crate) struct RecordChunk {
    pub(crate) bytes: Vec<u8>,
    /// Number of entries.
    pub(crate) records: u64,
    /// Channel that returns the emptied buffer.
    pub(crate) back: Sender<Vec<u8>>,
}

/// Output of the access log. Changing its target never blocks.
#[derive(Debug)]
pub(crate) struct AccessLogSink {
    /// Channel for workers' chunks.
    pub(crate) sender: SyncSender<RecordChunk>,
    wanted: Arc<Mutex<SinkTarget>>,
    thread: JoinHandle<()>,
}

/// Target that the thread writes to from its next chunk on.
#[derive(Debug, Default)]
struct SinkTarget {
    target: Option<LogTarget>,
    /// Incremented when the target must be reopened.
    version: u64,
}

struct SinkOutput {
    version: u64,
    output: Option<LineOutput<File>>,
    /// Whether the last write failed, so that a full disk is logged once.
    is_failing: bool,
    /// Standard error as it was at the start; it may be redirected later, for the output of filters.
    stderr: io::Result<OwnedFd>,
}

impl AccessLogSink {
    /// Starts the thread, without a target.
    pub(crate) fn start(series: Arc<SinkSeries>) -> io::Result<Self> {
        let (sender, receiver) = sync_channel(CHUNKS_MAX);
        let wanted = Arc::new(Mutex::new(SinkTarget::default()));
        let theirs = Arc::clone(&wanted);
        let opened = SinkOutput::new();
        let thread = std::thread::Builder::new()
            .name("eddy-access-log".to_owned())
            .spawn(move || run(opened, &receiver, &theirs, &series))?;
        Ok(Self { sender, wanted, thread })
    }

    /// Sets the target; an unchanged target is not reopened.
    pub(crate) fn set_target(&self, target: Option<LogTarget>) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        if wanted.target != target {
            wanted.target = target;
            wanted.version += 1;
        }
    }

    /// Reopens the target, for example after log rotation.
    pub(crate) fn reopen(&self) {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner).version += 1;
    }

    /// Waits until all chunks queued before have been written, but no longer than `patience`.
    pub(crate) fn settle(&self, patience: Duration) {
        let begun = Instant::now();
        let (back, written) = channel();
        // An empty chunk is returned when its turn has come. When the target accepts nothing, no chunk is ever
        // returned.
        let mut marker = RecordChunk { bytes: Vec::new(), records: 0, back };
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

    /// Writes the queued chunks and ends the thread, once every worker's sender is gone.
    pub(crate) fn finish(self) {
        let Self { sender, thread, .. } = self;
        drop(sender);
        if thread.join().is_err() {
            tracing::error!("the access log thread panicked");
        }
    }
}

fn run(
    mut opened: SinkOutput,
    receiver: &Receiver<RecordChunk>,
    wanted: &Mutex<SinkTarget>,
    series: &SinkSeries,
) {
    while let Ok(mut chunk) = receiver.recv() {
        opened.follow(wanted);
        let lost = opened.write(&chunk);
        if lost > 0 {
            series.records_lost.add(lost);
        }
        chunk.bytes.clear();
        // The worker, and so the need for its buffer, may be gone.
        let _ = chunk.back.send(chunk.bytes);
    }
}

impl SinkOutput {
    fn new() -> Self {
        Self { version: 0, output: None, is_failing: false, stderr: duplicate(io::stderr()) }
    }

    fn follow(&mut self, wanted: &Mutex<SinkTarget>) {
        let (version, target) = {
            let wanted = wanted.lock().unwrap_or_else(PoisonError::into_inner);
            if wanted.version == self.version && (self.output.is_some() || wanted.target.is_none()) {
                return;
            }
            (wanted.version, wanted.target.clone())
        };
        self.version = version;
        self.output = target.and_then(|target| match self.open(&target) {
            Ok(output) => Some(output),
            Err(error) => {
                let name = match &target {
                    LogTarget::Stdout => "standard output".to_owned(),
                    LogTarget::Stderr => "standard error".to_owned(),
                    LogTarget::File(path) => format!("\"{}\"", path.display()),
                };
                self.log_failure(&error, &format!("{name} cannot be opened"));
                None
            }
        });
    }

    fn open(&self, target: &LogTarget) -> io::Result<LineOutput<File>> {
        Ok(match target {
            LogTarget::Stdout => LineOutput::new(duplicate(io::stdout())?.into()),
            LogTarget::Stderr => match &self.stderr {
                Ok(stderr) => LineOutput::new(duplicate(stderr)?.into()),
                Err(error) => return Err(error.kind().into()),
            },
            LogTarget::File(path) => {
                let file = OpenOptions::new().create(true).append(true).open(path)?;
                // A previous process may have met a full disk.
                if is_mid_line(&file, path) { LineOutput::torn(file) } else { LineOutput::new(file) }
            }
        })
    }

    /// Writes a chunk and returns how many of its entries are lost. Without a target, nothing is lost.
    fn write(&mut self, chunk: &RecordChunk) -> u64 {
        let Some(output) = &mut self.output else {
            return if self.is_failing { chunk.records } else { 0 };
        };
        if output.is_mid_line() && is_empty(output.get()) {
            output.begin_line();
        }
        match output.write_lines(&chunk.bytes) {
            Ok(()) => {
                self.is_failing = false;
                0
            }
            Err(LinesLost { written, source }) => {
                self.log_failure(&source, "cannot be written");
                // An entry is a line: it is lost if its line break was not written.
                let unwritten = chunk.bytes.get(written..).unwrap_or_default();
                unwritten.iter().filter(|byte| **byte == b'\n').count() as u64
            }
        }
    }

    fn log_failure(&mut self, error: &io::Error, what: &str) {
        if !self.is_failing {
            self.is_failing = true;
            tracing::error!(%error, "the access log {what}; entries are lost");
        }
    }
}

/// Whether a file is empty, as after a rotation that truncates it.
fn is_empty(file: &File) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0)
}

/// Whether the file opened at `path` ends in the middle of a line; an unreadable file counts as complete.
fn is_mid_line(file: &File, path: &Path) -> bool {
    let Ok(metadata) = file.metadata() else { return false };
    // Opening a pipe for reading would make this process its reader.
    let Some(last) = metadata.len().checked_sub(1).filter(|_| metadata.is_file()) else { return false };
    let Ok(reader) = File::open(path) else { return false };
    let is_same =
        reader.metadata().is_ok_and(|other| (other.dev(), other.ino()) == (metadata.dev(), metadata.ino()));
    let mut byte = [b'\n'];
    is_same && reader.read_exact_at(&mut byte, last).is_ok() && byte != *b"\n"
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn chunk(text: &str) -> RecordChunk {
        let (back, _) = channel();
        let records = text.matches('\n').count() as u64;
        RecordChunk { bytes: text.as_bytes().to_vec(), records, back }
    }

    fn opened(target: &Path) -> (SinkOutput, Mutex<SinkTarget>) {
        let target = Some(LogTarget::File(target.into()));
        (SinkOutput::new(), Mutex::new(SinkTarget { target, version: 1 }))
    }

    #[test]
    fn entries_begin_on_their_own_lines_after_a_truncated_line() {
        let path = std::env::temp_dir().join(format!("eddy-sink-{}", std::process::id()));
        for (before, after) in [("", ""), ("whole\n", "whole\n"), ("to", "to\n")] {
            fs::write(&path, before).unwrap();
            let (mut opened, wanted) = opened(&path);
            opened.follow(&wanted);
            assert_eq!(opened.write(&chunk("one\ntwo\n")), 0);
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("{after}one\ntwo\n"));
        }
        // Torn by this process, and then emptied by a rotation that copies.
        let (mut opened, wanted) = opened(&path);
        opened.follow(&wanted);
        opened.output = opened.output.map(|output| LineOutput::torn(output.get().try_clone().unwrap()));
        fs::write(&path, "").unwrap();
        assert_eq!(opened.write(&chunk("one\n")), 0);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\n");
        fs::remove_file(&path).unwrap();
    }

    #[test]
    fn entries_that_a_full_disk_rejects_are_dropped_and_counted() {
        let (mut opened, wanted) = opened(Path::new("/dev/full"));
        opened.follow(&wanted);
        assert_eq!(opened.write(&chunk("one\ntwo\n")), 2);
        assert!(opened.is_failing);
        let (mut opened, wanted) = self::opened(Path::new("/nonexistent/log"));
        opened.follow(&wanted);
        assert_eq!(opened.write(&chunk("one\ntwo\nthree\n")), 3);
    }
}
