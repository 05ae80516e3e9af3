//! The tap origin: parses requests strictly, logs the events of each connection and responds by script.

use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use anyhow::{Context, Result};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::link::TapConnection;
use super::script::{OriginScript, echo};
use crate::place;
use crate::wire::{ConnectionEnd, DEADLINE, WireRequest, within};

/// An origin under the test's control.
#[derive(Debug)]
pub struct TapOrigin {
    address: SocketAddr,
    log: Log,
    accepting: JoinHandle<()>,
}

/// A request for which the origin needs a script; its body may not have arrived yet.
#[derive(Clone, Copy, Debug)]
pub struct TapRequest<'a> {
    /// The request.
    pub request: &'a WireRequest,
    /// Number of the connection, from 0 in the order of acceptance.
    pub connection: usize,
    /// Number of the request on its connection, from 0.
    pub number: usize,
}

/// An event at the origin.
#[derive(Clone, Debug)]
pub enum TapEvent {
    /// A connection was accepted.
    Connected {
        /// Number of the connection.
        connection: usize,
    },
    /// A request head arrived.
    Head {
        /// Number of the connection.
        connection: usize,
        /// The request, with the body as far as it arrived with the head.
        request: Box<WireRequest>,
    },
    /// A complete request arrived.
    Request {
        /// Number of the connection.
        connection: usize,
        /// The request.
        request: Box<WireRequest>,
        /// Bytes of the request.
        raw: Vec<u8>,
    },
    /// The strict parser rejected the received bytes.
    Bad {
        /// Number of the connection.
        connection: usize,
        /// Error of the parser.
        why: String,
        /// All unparsed bytes of the connection.
        raw: Vec<u8>,
    },
    /// The gateway ended the connection, or the script did.
    Ended {
        /// Number of the connection.
        connection: usize,
        /// End as seen by the origin; `None` when the script ended the connection.
        end: Option<ConnectionEnd>,
        /// Bytes after the last complete request.
        rest: Vec<u8>,
    },
}

/// Events at an origin, in order; shared with its connections.
#[derive(Clone, Default)]
pub struct Log {
    events: Arc<Mutex<Vec<TapEvent>>>,
    changes: Arc<watch::Sender<()>>,
}

/// Chooses the script of a request.
pub(super) type Choose = dyn Fn(TapRequest<'_>) -> OriginScript + Send + Sync;
/// Chooses the script of a new connection, before any bytes are read from it.
pub(super) type ChooseScript = dyn Fn(usize) -> Option<OriginScript> + Send + Sync;

impl TapOrigin {
    /// Starts an origin that answers every request with [`echo`].
    ///
    /// # Errors
    /// When no socket can be bound.
    pub async fn start() -> Result<Self> {
        Self::with(|asked| OriginScript::send(echo(asked.request))).await
    }

    /// Starts an origin that calls `choose` for each request.
    ///
    /// `choose` first sees the request with the part of the body that arrived with its head. When the script waits for
    /// the whole request, `choose` is called again with the whole request, which an echo needs.
    ///
    /// # Errors
    /// When no socket can be bound.
    pub async fn with(
        choose: impl Fn(TapRequest<'_>) -> OriginScript + Send + Sync + 'static,
    ) -> Result<Self> {
        Self::with_greeting(|_| None, choose).await
    }

    /// Starts an origin that also calls `greet` for each connection before it reads from it.
    ///
    /// # Errors
    /// When no socket can be bound.
    pub async fn with_greeting(
        greet: impl Fn(usize) -> Option<OriginScript> + Send + Sync + 'static,
        choose: impl Fn(TapRequest<'_>) -> OriginScript + Send + Sync + 'static,
    ) -> Result<Self> {
        Self::at(place::any_port(), greet, choose).await
    }

    /// Starts an origin at `address`.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub async fn at(
        address: SocketAddr,
        greet: impl Fn(usize) -> Option<OriginScript> + Send + Sync + 'static,
        choose: impl Fn(TapRequest<'_>) -> OriginScript + Send + Sync + 'static,
    ) -> Result<Self> {
        let listener = TcpListener::bind(address).await.context("cannot bind the origin")?;
        let address = listener.local_addr()?;
        let log = Log::default();
        let (greet, choose): (Arc<ChooseScript>, Arc<Choose>) = (Arc::new(greet), Arc::new(choose));
        let accepting = tokio::spawn(accept(listener, log.clone(), greet, choose));
        Ok(Self { address, log, accepting })
    }

    /// Starts an origin that responds with [`echo`] on its own thread, so that a busy test does not slow it.
    ///
    /// The thread ends with the process.
    ///
    /// # Errors
    /// When no socket can be bound.
    pub fn on_thread() -> Result<(SocketAddr, Log)> {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let Ok(runtime) = runtime else {
                return;
            };
            runtime.block_on(async {
                let origin = Self::start().await;
                // A failed send means that the test is over.
                let _ = sender.send(origin.as_ref().ok().map(|origin| (origin.address, origin.log.clone())));
                std::future::pending::<()>().await;
            });
        });
        receiver.recv_timeout(DEADLINE)?.context("cannot start the origin")
    }

    /// Returns the listening address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the log of events.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Stops accepting; the address refuses connections from now on. Open connections continue.
    pub async fn stop_accepting(&mut self) {
        self.accepting.abort();
        // The join error says "cancelled", as expected.
        let _ = (&mut self.accepting).await;
    }
}

impl Drop for TapOrigin {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, log: Log, greet: Arc<ChooseScript>, choose: Arc<Choose>) {
    let mut connections = tokio::task::JoinSet::new();
    for number in 0.. {
        let Ok((stream, _)) = listener.accept().await else {
            return;
        };
        log.push(TapEvent::Connected { connection: number });
        let link = TapConnection::new(stream, number, log.clone(), Arc::clone(&choose));
        connections.spawn(link.serve(greet(number)));
        while connections.try_join_next().is_some() {}
    }
}

impl Log {
    /// Adds an event and wakes the tasks that wait for one.
    pub fn push(&self, event: TapEvent) {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        self.changes.send_replace(());
    }

    /// Takes all events so far.
    pub fn take(&self) -> Vec<TapEvent> {
        std::mem::take(&mut *self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Calls `look` with the events so far.
    pub fn look<T>(&self, look: impl FnOnce(&[TapEvent]) -> T) -> T {
        look(&self.events.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the complete requests so far.
    pub fn requests(&self) -> Vec<WireRequest> {
        self.look(|events| events.iter().filter_map(TapEvent::request).cloned().collect())
    }

    /// Number of connections accepted so far.
    pub fn connections(&self) -> usize {
        self.look(|events| events.iter().filter(|event| matches!(event, TapEvent::Connected { .. })).count())
    }

    /// Waits until `is_met` accepts the events.
    ///
    /// # Errors
    /// When it does not within [`crate::wire::DEADLINE`]; the error shows the events.
    pub async fn until(&self, what: &str, is_met: impl Fn(&[TapEvent]) -> bool) -> Result<()> {
        let mut changes = self.changes.subscribe();
        let met = within(what, async {
            while !self.look(&is_met) {
                // The sender is in `self`.
                let _ = changes.changed().await;
            }
        });
        met.await.with_context(|| format!("events at the origin: {self:?}"))
    }

    /// Waits for `count` complete requests and returns all so far.
    ///
    /// # Errors
    /// As [`Log::until`].
    pub async fn until_requests(&self, count: usize) -> Result<Vec<WireRequest>> {
        self.until("requests at the origin", |events| {
            events.iter().filter_map(TapEvent::request).count() >= count
        })
        .await?;
        Ok(self.requests())
    }

    /// Waits until the gateway has ended `count` connections.
    ///
    /// # Errors
    /// As [`Log::until`].
    pub async fn until_ended(&self, count: usize) -> Result<()> {
        self.until("ended connections at the origin", |events| {
            events.iter().filter(|event| matches!(event, TapEvent::Ended { end: Some(_), .. })).count()
                >= count
        })
        .await
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.look(|events| {
            let mut list = f.debug_list();
            for event in events.iter().rev().take(20).rev() {
                list.entry(event);
            }
            list.finish()
        })
    }
}

impl TapEvent {
    /// Returns the request of a [`TapEvent::Request`].
    pub fn request(&self) -> Option<&WireRequest> {
        if let Self::Request { request, .. } = self { Some(request) } else { None }
    }
}
