//! Accepts a limited number of admin connections, even when the process runs out of descriptors.

use std::fs::File;
use std::net::TcpListener as StdListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;
use std::{io, thread};

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::LocalSet;

use super::connection::serve;
use super::page::Pages;

/// Running admin listener; it stops accepting when dropped.
#[derive(Debug)]
pub(crate) struct AdminServer {
    /// Handed over to a process that replaces this one.
    socket: OwnedFd,
    // Dropping the sender is the message.
    _stop: oneshot::Sender<()>,
}

impl AdminServer {
    /// Serves `pages` on a listening socket, on a new thread.
    ///
    /// # Errors
    /// Errors of creating threads and descriptors.
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
                    Err(error) => tracing::error!(%error, "the admin listener cannot start"),
                }
            });
        })?;
        Ok(Self { socket, _stop: stop })
    }

    /// Returns the listening socket.
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
        // Invariant: the semaphore is never closed.
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
                    serve_with_deadline(CONNECTION_TIME_MAX, stream, pages).await;
                    drop(slot);
                });
                reserve.refill();
            }
            // When no descriptor is left, the reserve provides one, and connections are served one at a time.
            Err(_) if reserve.release() => {
                if let Ok(Ok((stream, _))) = tokio::time::timeout(ACCEPT_RETRY_PAUSE, listener.accept()).await
                {
                    serve_with_deadline(RESERVE_TIME_MAX, stream, Arc::clone(&pages)).await;
                }
                reserve.refill();
            }
            Err(_) => {
                reserve.refill();
                #[expect(
                    clippy::disallowed_methods,
                    reason = "no event tells that a descriptor is free again"
                )]
                tokio::time::sleep(ACCEPT_RETRY_PAUSE).await;
            }
        }
    }
    drop(listener);
    // Responses in progress are finished.
    let all = u32::try_from(CONNECTIONS_MAX).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(RESPONSE_DRAIN_TIME_MAX, slots.acquire_many(all)).await;
}

async fn serve_with_deadline(time_max: Duration, stream: TcpStream, pages: Arc<dyn Pages>) {
    // Errors of one client's connection do not matter to others.
    let _ = tokio::time::timeout(time_max, serve(stream, pages)).await;
}

/// Spare descriptor, held open to be released when the process runs out of them.
#[derive(Debug)]
struct Reserve {
    spare: Option<File>,
}

impl Reserve {
    /// Opens the spare descriptor.
    ///
    /// # Errors
    /// When no descriptor is left, or `/dev/null` is missing.
    fn new() -> io::Result<Self> {
        Ok(Self { spare: Some(File::open("/dev/null")?) })
    }

    /// Closes the spare descriptor; false when it is closed already.
    fn release(&mut self) -> bool {
        self.spare.take().is_some()
    }

    /// Opens the spare descriptor again, if possible.
    fn refill(&mut self) {
        if self.spare.is_none() {
            self.spare = File::open("/dev/null").ok();
        }
    }
}

/// Maximum concurrent connections; more wait in the backlog of the socket.
pub(super) const CONNECTIONS_MAX: usize = 64;

/// Maximum lifetime of a connection, regardless of its number of requests.
const CONNECTION_TIME_MAX: Duration = Duration::from_secs(60);

/// Maximum lifetime of a connection that uses the reserve, while others wait for it.
const RESERVE_TIME_MAX: Duration = Duration::from_secs(1);

/// Time for responses in progress after the listener has stopped.
const RESPONSE_DRAIN_TIME_MAX: Duration = Duration::from_secs(5);

/// Pause when not even the reserve helped.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(50);
