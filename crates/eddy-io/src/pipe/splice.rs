//! One direction of a relay whose bytes stay in the kernel.

use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use rustix::pipe::{SpliceFlags, splice};
use tokio::io::Interest;

use super::pool::{LeasedPipe, PipePool};
use crate::transport::Stream;

/// Moves bytes from one stream to another by `splice(2)`.
///
/// It holds a pipe only while the pipe holds bytes, so idle connections cost none. Bytes that were read are not lost
/// when [`Splice::poll`] has to wait: they stay in the pipe.
#[derive(Debug, Default)]
pub struct Splice {
    pipe: Option<LeasedPipe>,
}

/// Result of one step of [`Splice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spliced {
    /// This many bytes were written.
    Bytes(usize),
    /// All requested bytes were read and written.
    Done,
    /// The source has ended, and all earlier bytes were written.
    End,
    /// No pipe is available: the bytes must be copied.
    NoPipe,
}

/// Side of the relay that failed.
#[derive(Debug)]
pub enum SpliceFault {
    /// The source failed.
    Source(io::Error),
    /// The sink failed.
    Sink(io::Error),
}

impl Splice {
    /// Whether bytes wait for the sink; otherwise the relay waits for the source.
    pub fn holds_bytes(&self) -> bool {
        self.held() > 0
    }

    /// Returns the number of bytes read but not yet written.
    pub fn held(&self) -> usize {
        self.pipe.as_ref().map_or(0, LeasedPipe::held)
    }

    /// Moves the bytes that the source has, once through the pipe. `left` is the number of bytes that may still be read
    /// from it, and is reduced by those that were read.
    ///
    /// # Errors
    /// [`SpliceFault`]; also when either stream is a TLS stream.
    ///
    /// # Cost
    /// Two system calls for up to 256 KiB; one more when the source turns out to be empty or its limit is reached.
    pub fn poll(
        &mut self,
        cx: &mut Context<'_>,
        source: &Stream,
        sink: &Stream,
        pool: &Rc<PipePool>,
        left: &mut u64,
    ) -> Poll<Result<Spliced, SpliceFault>> {
        if !self.holds_bytes() {
            if *left == 0 {
                return Poll::Ready(Ok(Spliced::Done));
            }
            match ready!(self.poll_source(cx, source, pool, *left)).map_err(SpliceFault::Source)? {
                PipeFill::Bytes(count) => {
                    *left = left.saturating_sub(count as u64);
                    if *left == 0 {
                        source.settle();
                    }
                }
                PipeFill::End => return Poll::Ready(Ok(Spliced::End)),
                PipeFill::NoPipe => return Poll::Ready(Ok(Spliced::NoPipe)),
            }
        }
        let written = ready!(self.poll_sink(cx, sink)).map_err(SpliceFault::Sink)?;
        Poll::Ready(Ok(Spliced::Bytes(written)))
    }

    fn poll_source(
        &mut self,
        cx: &mut Context<'_>,
        source: &Stream,
        pool: &Rc<PipePool>,
        left: u64,
    ) -> Poll<io::Result<PipeFill>> {
        loop {
            ready!(source.poll_readable(cx))?;
            let Some(mut pipe) = pool.take() else { return Poll::Ready(Ok(PipeFill::NoPipe)) };
            let room = usize::try_from(left).unwrap_or(usize::MAX).min(pipe.capacity());
            // The pipe is empty, so `WouldBlock` can only mean an empty socket.
            let moved = source.try_io(Interest::READABLE, || {
                Ok(splice(source, None, pipe.write_end(), None, room, SpliceFlags::NONBLOCK)?)
            });
            match moved {
                Ok(0) => return Poll::Ready(Ok(PipeFill::End)),
                Ok(count) => {
                    pipe.filled(count);
                    self.pipe = Some(pipe);
                    return Poll::Ready(Ok(PipeFill::Bytes(count)));
                }
                Err(error) if is_transient(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn poll_sink(&mut self, cx: &mut Context<'_>, sink: &Stream) -> Poll<io::Result<usize>> {
        let Some(pipe) = &mut self.pipe else { return Poll::Ready(Ok(0)) };
        loop {
            ready!(sink.poll_writable(cx))?;
            // Never `MORE`: it delays the last segment for 200 ms.
            let moved = sink.try_io(Interest::WRITABLE, || {
                Ok(splice(pipe.read_end(), None, sink, None, pipe.held(), SpliceFlags::NONBLOCK)?)
            });
            match moved {
                Ok(count) => {
                    pipe.drained(count);
                    if pipe.held() == 0 {
                        self.pipe = None;
                    }
                    return Poll::Ready(Ok(count));
                }
                Err(error) if is_transient(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

/// Whether the call is to be repeated once the socket is ready.
fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

/// Result of filling the pipe.
enum PipeFill {
    Bytes(usize),
    End,
    NoPipe,
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::OwnedFd;
    use std::sync::Arc;

    use super::*;
    use crate::pipe::{PIPE_BYTES, SharedPipes};

    /// Returns a stream of the event loop, and a blocking peer at its other end.
    fn pair() -> (Stream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (ours, _) = listener.accept().unwrap();
        ours.set_nonblocking(true).unwrap();
        (Stream::Tcp(tokio::net::TcpStream::from_std(OwnedFd::from(ours).into()).unwrap()), peer)
    }

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    fn pattern(len: usize) -> Vec<u8> {
        (0..len).map(|index| u8::try_from(index * 7 % 251).unwrap()).collect()
    }

    async fn relay(source: &Stream, sink: &Stream, pool: &Rc<PipePool>, left: &mut u64) -> (u64, Spliced) {
        let (mut moved, mut splice) = (0, Splice::default());
        loop {
            let step = poll_fn(|cx| splice.poll(cx, source, sink, pool, left)).await.unwrap();
            match step {
                Spliced::Bytes(count) => moved += count as u64,
                end @ (Spliced::Done | Spliced::End | Spliced::NoPipe) => return (moved, end),
            }
        }
    }

    fn pool() -> Rc<PipePool> {
        PipePool::new(Arc::new(SharedPipes::with_budget(4 * PIPE_BYTES as u64)))
    }

    #[test]
    fn all_bytes_arrive_as_sent() {
        block_on(async {
            let ((source, mut sender), (sink, mut taker)) = (pair(), pair());
            let sent = pattern(3_000_000);
            let expected = sent.clone();
            let writer = std::thread::spawn(move || {
                sender.write_all(&sent).unwrap();
            });
            let reader = std::thread::spawn(move || {
                let mut got = Vec::new();
                taker.read_to_end(&mut got).unwrap();
                got
            });
            let pool = pool();
            let (moved, end) = relay(&source, &sink, &pool, &mut u64::MAX.clone()).await;
            assert_eq!((moved, end), (3_000_000, Spliced::End));
            drop(sink);
            writer.join().unwrap();
            assert!(reader.join().unwrap() == expected);
        });
    }

    #[test]
    fn no_more_bytes_are_read_than_allowed() {
        block_on(async {
            let ((mut source, mut sender), (sink, mut taker)) = (pair(), pair());
            sender.write_all(&pattern(1000)).unwrap();
            let mut left = 600;
            let (moved, end) = relay(&source, &sink, &pool(), &mut left).await;
            assert_eq!((moved, end, left), (600, Spliced::Done, 0));
            let mut got = [0; 600];
            taker.read_exact(&mut got).unwrap();
            assert!(got == pattern(1000)[..600]);
            assert!(!source.is_quiet(), "there is more");
            let mut rest = crate::Buffer::with_capacity(1024);
            poll_fn(|cx| source.poll_fill(cx, &mut rest)).await.unwrap();
            assert!(rest.held() == &pattern(1000)[600..]);
            // A source that is read up to both its last byte and the limit is known to be empty.
            sender.write_all(b"hello").unwrap();
            assert_eq!(relay(&source, &sink, &pool(), &mut 5).await, (5, Spliced::Done));
            assert!(source.is_quiet());
        });
    }

    #[test]
    fn bytes_that_the_sink_does_not_accept_stay_in_the_pipe_and_stop_reading() {
        block_on(async {
            let ((source, mut sender), (sink, mut taker)) = (pair(), pair());
            let total: usize = 32 * 1024 * 1024;
            let writer = std::thread::spawn(move || sender.write_all(&pattern(total)));
            let pool = pool();
            let (mut splice, mut left, mut moved) = (Splice::default(), u64::MAX, 0_u64);
            // The receiver reads nothing until the relay is stuck.
            while !splice.holds_bytes() {
                let step = poll_fn(|cx| match splice.poll(cx, &source, &sink, &pool, &mut left) {
                    Poll::Pending if splice.holds_bytes() => Poll::Ready(None),
                    step @ (Poll::Ready(_) | Poll::Pending) => step.map(Some),
                });
                if let Some(Spliced::Bytes(count)) = step.await.transpose().unwrap() {
                    moved += count as u64;
                }
            }
            assert!(splice.held() <= PIPE_BYTES);
            assert_eq!(u64::MAX - left, moved + splice.held() as u64);
            let reader = std::thread::spawn(move || {
                let mut got = Vec::new();
                taker.read_to_end(&mut got).unwrap();
                got
            });
            loop {
                match poll_fn(|cx| splice.poll(cx, &source, &sink, &pool, &mut left)).await.unwrap() {
                    Spliced::Bytes(count) => moved += count as u64,
                    Spliced::End => break,
                    other @ (Spliced::Done | Spliced::NoPipe) => panic!("{other:?}"),
                }
            }
            drop(sink);
            writer.join().unwrap().unwrap();
            assert_eq!(moved, total as u64);
            assert!(reader.join().unwrap() == pattern(total));
        });
    }

    #[test]
    fn without_a_pipe_nothing_is_read() {
        block_on(async {
            let ((source, mut sender), (sink, _taker)) = (pair(), pair());
            sender.write_all(b"hello").unwrap();
            let pool = PipePool::new(Arc::new(SharedPipes::with_budget(0)));
            let (moved, end) = relay(&source, &sink, &pool, &mut 5).await;
            assert_eq!((moved, end), (0, Spliced::NoPipe));
        });
    }

    #[test]
    fn a_closed_sink_is_distinguished_from_a_closed_source() {
        block_on(async {
            let ((source, mut sender), (sink, taker)) = (pair(), pair());
            drop(taker);
            let pool = pool();
            let mut splice = Splice::default();
            let fault = loop {
                sender.write_all(b"hello").unwrap();
                match poll_fn(|cx| splice.poll(cx, &source, &sink, &pool, &mut u64::MAX.clone())).await {
                    Ok(_) => {}
                    Err(fault) => break fault,
                }
            };
            assert!(matches!(fault, SpliceFault::Sink(_)), "{fault:?}");
            let ((source, sender), (sink, _taker)) = (pair(), pair());
            socket2::SockRef::from(&sender).set_linger(Some(std::time::Duration::ZERO)).unwrap();
            drop(sender);
            let mut splice = Splice::default();
            let fault = poll_fn(|cx| splice.poll(cx, &source, &sink, &pool, &mut u64::MAX.clone())).await;
            assert!(matches!(fault, Err(SpliceFault::Source(_))), "{fault:?}");
        });
    }
}
