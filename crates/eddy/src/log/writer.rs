//! The writer thread of the log, and its bounded queue.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use eddy_io::LineOutput;

/// Queues lines without ever blocking.
#[derive(Debug)]
pub(super) struct LogWriter {
    queue: SyncSender<WriterCommand>,
    dropped: Arc<AtomicU64>,
}

enum WriterCommand {
    Line(String),
    Flush(SyncSender<()>),
}

impl LogWriter {
    /// Starts the thread that writes to `sink`.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub(super) fn start(sink: impl Write + Send + 'static) -> io::Result<Self> {
        let (queue, orders) = sync_channel(LINES_MAX);
        let dropped = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&dropped);
        thread::Builder::new().name("eddy-log".to_owned()).spawn(move || write_all(sink, &orders, &seen))?;
        Ok(Self { queue, dropped })
    }

    /// Queues a line, or counts it as dropped when the queue is full.
    pub(super) fn write(&self, line: String) {
        if self.queue.try_send(WriterCommand::Line(line)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until the lines queued so far are written, for one second at most.
    pub(super) fn flush(&self) {
        let (done, written) = sync_channel(1);
        if self.queue.try_send(WriterCommand::Flush(done)).is_ok() {
            // A sink that accepts nothing for a second is not waited for any longer.
            let _ = written.recv_timeout(FLUSH_TIME_MAX);
        }
    }
}

/// Writes until the last sender is dropped. When the sink fails, the line is lost; the next one is still tried.
fn write_all(sink: impl Write, orders: &Receiver<WriterCommand>, dropped: &AtomicU64) {
    let mut sink = LineOutput::new(sink);
    while let Ok(order) = orders.recv() {
        match order {
            WriterCommand::Line(line) => {
                if sink.write_lines(line.as_bytes()).is_err() {
                    dropped.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                let lost = dropped.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    tracing::warn!(
                        count = lost,
                        "log entries were dropped; standard error could not be written"
                    );
                }
            }
            WriterCommand::Flush(done) => {
                let _ = done.try_send(());
            }
        }
    }
}

/// Maximum queued lines; with lines of maximum length this is 8 MiB.
const LINES_MAX: usize = 1024;
const FLUSH_TIME_MAX: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    /// A sink that waits for permission before each write.
    struct Gate {
        open: Receiver<()>,
        written: std::sync::mpsc::Sender<String>,
    }

    impl Write for Gate {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.open.recv();
            let _ = self.written.send(String::from_utf8_lossy(bytes).into_owned());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_blocked_sink_does_not_block_writers() {
        let (permit, open) = channel();
        let (written, lines) = channel();
        let writer = LogWriter::start(Gate { open, written }).unwrap();
        for number in 0..LINES_MAX + 10 {
            writer.write(format!("{number}\n"));
        }
        assert!(writer.dropped.load(Ordering::Relaxed) >= 8);
        drop(permit);
        assert_eq!(lines.recv().unwrap(), "0\n");
        assert_eq!(lines.recv().unwrap(), "1\n");
    }

    #[test]
    fn a_truncated_line_does_not_swallow_the_next() {
        struct Cut(std::sync::mpsc::Sender<Vec<u8>>, u32);

        impl Write for Cut {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.1 += 1;
                let count = match self.1 {
                    1 => 3,
                    2 => return Err(io::ErrorKind::StorageFull.into()),
                    _ => bytes.len(),
                };
                let _ = self.0.send(bytes[..count].to_vec());
                Ok(count)
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        let (written, lines) = channel();
        let writer = LogWriter::start(Cut(written, 0)).unwrap();
        writer.write("first\n".to_owned());
        writer.write("second\n".to_owned());
        writer.flush();
        assert_eq!(lines.try_iter().collect::<Vec<_>>().concat(), b"fir\nsecond\n");
    }

    #[test]
    fn flush_waits_for_the_lines_before() {
        let (permit, open) = channel();
        let (written, lines) = channel();
        let writer = LogWriter::start(Gate { open, written }).unwrap();
        drop(permit);
        writer.write("first\n".to_owned());
        writer.flush();
        assert_eq!(lines.try_recv().unwrap(), "first\n");
    }
}
