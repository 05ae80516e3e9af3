//! Accepts admin connections, some at a time, whatever else the process runs out of.

use std::net::TcpListener as StdListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::LocalSet;

use super::connection::serve;
use super::reserve::Reserve;

/// What the admin listener shows.
pub(crate) trait Pages: Send + Sync {
    /// The page at `path`, or nothing when there is none; `query` is what stands behind `?`. Called on the admin thread,
    /// so it may take its time.
    fn page(&self, path: &[u8], query: &[u8]) -> Option<Page>;
}

/// One answer of the admin listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Status code.
    pub(crate) status: u16,
    /// `Content-Type`.
    pub(crate) content_type: &'static str,
    /// The body.
    pub(crate) body: String,
}

/// A running admin listener; it stops accepting when dropped.
#[derive(Debug)]
pub(crate) struct AdminServer {
    /// Lent to a process that takes this one's place.
    socket: OwnedFd,
    // Dropping the sender is the message.
    _stop: oneshot::Sender<()>,
}

impl AdminServer {
    /// Serves `pages` on a listening socket, on a thread of its own.
    ///
    /// # Errors
    /// What the kernel says of threads and descriptors.
    pub(crate) fn start(socket: OwnedFd, pages: Arc<dyn Pages>) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = StdListener::from(eddy_io::duplicate(&socket)?);
        listener.set_nonblocking(true)?;
        let reserve = Reserve::new()?;
        let (stop, stopped) = oneshot::channel();
        thread::Builder::new().name("eddy-admin".to_owned()).spawn(move || {
            LocalSet::new().block_on(&runtime, async move {
                match TcpListener::from_std(listener) {
                    Ok(listener) => accept_all(listener, reserve, pages, stopped).await,
                    Err(error) => tracing::error!(%error, "the admin listener cannot be served"),
                }
            });
        })?;
        Ok(Self { socket, _stop: stop })
    }

    /// The socket that it listens at.
    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

async fn accept_all(
    listener: TcpListener,
    mut reserve: Reserve,
    pages: Arc<dyn Pages>,
    mut stopped: oneshot::Receiver<()>,
) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        // Invariant: nobody closes the semaphore.
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        let accepted = tokio::select! {
            biased;
            _ = &mut stopped => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, _)) => {
                let pages = Arc::clone(&pages);
                tokio::task::spawn_local(async move {
                    serve_within(CONNECTION_TIME_MAX, stream, pages).await;
                    drop(slot);
                });
                reserve.refill();
            }
            // With no descriptor left the reserve gives one, and connections are served one at a time.
            Err(_) if reserve.release() => {
                if let Ok(Ok((stream, _))) = tokio::time::timeout(RESERVE_WAIT, listener.accept()).await {
                    serve_within(RESERVE_TIME_MAX, stream, Arc::clone(&pages)).await;
                }
                reserve.refill();
            }
            Err(_) => {
                reserve.refill();
                tokio::time::sleep(RESERVE_WAIT).await;
            }
        }
    }
    drop(listener);
    // Answers that are being given are finished.
    let all = u32::try_from(CONNECTIONS_MAX).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(LAST_ANSWERS_TIME_MAX, slots.acquire_many(all)).await;
}

async fn serve_within(time_max: Duration, stream: TcpStream, pages: Arc<dyn Pages>) {
    // What a client does to its own connection concerns nobody else.
    let _ = tokio::time::timeout(time_max, serve(stream, pages)).await;
}

/// Most connections at once; more wait in the queue of the socket.
pub(super) const CONNECTIONS_MAX: usize = 64;

/// Longest a connection lives, however many requests it carries.
const CONNECTION_TIME_MAX: Duration = Duration::from_secs(60);

/// Longest a connection lives that uses the reserve, while others wait for it.
const RESERVE_TIME_MAX: Duration = Duration::from_secs(1);

/// How long answers may still be given after the listener was stopped.
const LAST_ANSWERS_TIME_MAX: Duration = Duration::from_secs(5);

/// How long to wait when not even the reserve helped.
const RESERVE_WAIT: Duration = Duration::from_millis(50);
