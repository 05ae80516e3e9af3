//! Datagram session: one client and one endpoint, until both have been silent for long enough.

use std::cell::Cell;
use std::future::poll_fn;
use std::io::ErrorKind;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use eddy_config::SessionEnds;
use eddy_ids::{Millis, WorkerTime};
use eddy_io::{DatagramLink, DatagramListener, Flow, PeerAddress, Timer};
use eddy_upstream::LinkPermit;

use crate::access::{Datagrams, SessionRecord, SessionStart};
use crate::fault::Fault;
use crate::session::datagram::flows::Flows;
use crate::session::datagram::reach::{ConnectedEndpoint, is_healthy, reach};
use crate::session::listener::{ListenerHandle, has_room};
use crate::session::serve::ConnectionSlot;
use crate::stats::{DatagramLoss, ListenerSeries};
use crate::upstream::EndpointGuard;
use crate::worker::Worker;

/// Maximum number of datagrams forwarded per turn, so that other sessions get theirs.
pub(super) const TURN_DATAGRAMS_MAX: usize = 64;

/// The datagram sessions of a listener on one worker.
pub(crate) type SessionFlows = Flows<Session>;

/// A session. Client datagrams are forwarded by the reader of the listener's socket; endpoint datagrams by the
/// session's own task.
pub(crate) struct Session {
    pub(super) flow: Flow,
    worker: Rc<Worker>,
    flows: Rc<SessionFlows>,
    /// Responses are sent from the socket that the client sends to.
    socket: Rc<DatagramListener>,
    link: DatagramLink,
    /// Counts as a link to the endpoint.
    _link_permit: LinkPermit,
    guard: EndpointGuard,
    /// Whether the endpoint was healthy when it was selected.
    was_healthy: bool,
    place: ConnectionSlot,
    timer: Timer,
    idle_timeout: Millis,
    ends: SessionEnds,
    /// Time of the last datagram in either direction.
    last_at: Cell<WorkerTime>,
    /// Time of the last response, or of the session's start.
    last_response_at: Cell<WorkerTime>,
    up: Passed,
    down: Passed,
    /// Reason why the session has ended, once it has.
    end: Cell<Option<DatagramSessionEnd>>,
    start: SessionStart,
    attempts: u8,
}

/// Traffic in one direction.
#[derive(Default)]
struct Passed {
    datagrams: Cell<u64>,
    bytes: Cell<u64>,
}

/// Reason why a session has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DatagramSessionEnd {
    /// No datagram passed in either direction for too long.
    Idle,
    /// All datagrams of the client have got their responses.
    Answered,
    /// The session was closed to make room, or the listener is gone.
    Closed,
    /// The endpoint has left its cluster or is unhealthy.
    EndpointUnavailable,
    /// The endpoint does not accept datagrams.
    Refused,
    /// The endpoint did not respond although responses are expected.
    NoResponse,
}

/// Result of a turn of forwarding responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DatagramReadProgress {
    /// No more responses for now.
    Drained,
    /// There may be more.
    Over,
    /// The client's socket accepts no more for now.
    Blocked,
}

impl Session {
    /// Begins a session: selects an endpoint and waits for its responses.
    ///
    /// # Cost
    /// Six system calls and some allocations. When there is no room, only the check.
    pub(super) fn begin(
        worker: &Rc<Worker>,
        handle: &Rc<ListenerHandle>,
        flows: &Rc<SessionFlows>,
        socket: &Rc<DatagramListener>,
        flow: Flow,
    ) -> Result<Rc<Self>, DatagramLoss> {
        if !has_room(worker, handle) {
            return Err(DatagramLoss::Sessions);
        }
        if worker.pressure.is_high() {
            return Err(DatagramLoss::Overload);
        }
        let plan = worker.plan();
        let listener = handle.current().ok_or(DatagramLoss::NoEndpoint)?;
        let (way, cluster) = listener.way(None).ok_or(DatagramLoss::NoEndpoint)?;
        let ConnectedEndpoint { guard, link, link_permit, attempts } = reach(worker, cluster, flow)?;
        let timer = worker.timers.timer();
        let session = Rc::new(Self {
            flow,
            worker: Rc::clone(worker),
            flows: Rc::clone(flows),
            socket: Rc::clone(socket),
            link,
            _link_permit: link_permit,
            was_healthy: is_healthy(&guard) == Some(true),
            guard,
            place: ConnectionSlot::take(worker, handle),
            timer,
            idle_timeout: Millis::of(listener.config.timeouts.idle),
            ends: way.ends,
            last_at: Cell::new(worker.timers.now()),
            last_response_at: Cell::new(worker.timers.now()),
            up: Passed::default(),
            down: Passed::default(),
            end: Cell::new(None),
            start: SessionStart::of(&plan.plan, &listener.config),
            attempts,
        });
        session.restart_idle_timeout();
        flows.add(session.flow, &session);
        tokio::task::spawn_local(Rc::clone(&session).serve());
        Ok(session)
    }

    /// Forwards a datagram to the endpoint.
    ///
    /// # Errors
    /// The reason why it is lost. After [`DatagramLoss::Refused`] the session has ended, and another one may forward
    /// the datagram.
    pub(super) fn forward_to_endpoint(&self, bytes: &[u8]) -> Result<(), DatagramLoss> {
        // Checked here as well, since a client that keeps sending would keep the session open forever.
        if let Some(end) = self.unusable_reason() {
            self.finish(end);
            return Err(DatagramLoss::Refused);
        }
        if let Err(error) = self.link.try_send(bytes) {
            let kind = error.kind();
            if !is_gone(kind) {
                let is_full = kind == ErrorKind::WouldBlock;
                return Err(if is_full { DatagramLoss::Full } else { DatagramLoss::Unsendable });
            }
            // The error reports the rejection of an earlier datagram; this one has not been sent.
            self.finish(DatagramSessionEnd::Refused);
            return Err(DatagramLoss::Refused);
        }
        self.up.count(bytes.len());
        if let Some(series) = self.series() {
            series.datagrams.taken.increment();
            series.bytes_in.add(bytes.len() as u64);
        }
        self.restart_idle_timeout();
        if self.ends.datagrams_max.is_some_and(|most| self.up.datagrams.get() >= u64::from(most.get())) {
            self.flows.forget(self.flow, self);
        }
        Ok(())
    }

    /// Forwards responses until the session ends, and then writes its access log entry.
    async fn serve(self: Rc<Self>) {
        let end = self.until_end().await;
        self.finish(end);
        self.record(self.end.get().unwrap_or(end));
    }

    async fn until_end(&self) -> DatagramSessionEnd {
        let mut closing = pin!(self.flows.closing.notified());
        let mut turn = DatagramReadProgress::Drained;
        loop {
            if turn == DatagramReadProgress::Over {
                tokio::task::yield_now().await;
            }
            {
                let (mut ready, mut writable) = (pin!(self.link.ready()), pin!(self.socket.writable()));
                let due = poll_fn(|cx| {
                    self.timer.register(cx);
                    let is_closed = closing.as_mut().poll(cx).is_ready() || self.flows.is_closed();
                    if let Some(end) =
                        self.end.get().or_else(|| is_closed.then_some(DatagramSessionEnd::Closed))
                    {
                        return Poll::Ready(Some(end));
                    }
                    if self.timer.is_expired() {
                        return Poll::Ready(Some(self.why_expired()));
                    }
                    let awaited = match turn {
                        DatagramReadProgress::Blocked => writable.as_mut().poll(cx),
                        DatagramReadProgress::Drained | DatagramReadProgress::Over => ready.as_mut().poll(cx),
                    };
                    // Waiting fails only when the worker's event loop ends.
                    awaited.map(|waited| waited.err().map(|_| DatagramSessionEnd::Closed))
                });
                if let Some(end) = due.await {
                    return end;
                }
            }
            match self.forward_responses() {
                Ok(next) => turn = next,
                Err(end) => return end,
            }
        }
    }

    /// Forwards the endpoint's responses.
    fn forward_responses(&self) -> Result<DatagramReadProgress, DatagramSessionEnd> {
        let mut room = self.flows.room.borrow_mut();
        for passed in 0..TURN_DATAGRAMS_MAX {
            let count = match self.link.try_receive(&mut room) {
                Ok(count) => count,
                // Readiness without data: yield before polling again.
                Err(error) if error.kind() == ErrorKind::WouldBlock && passed == 0 => {
                    return Ok(DatagramReadProgress::Over);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Ok(DatagramReadProgress::Drained);
                }
                Err(_) => return Err(DatagramSessionEnd::Refused),
            };
            self.last_response_at.set(self.worker.timers.now());
            if self.down.datagrams.get() == 0 {
                self.guard.succeeded(self.worker.timers.now());
            }
            let sent = self.socket.try_send(room.get(..count).unwrap_or_default(), &self.flow);
            self.down.count(if sent.is_ok() { count } else { 0 });
            self.restart_idle_timeout();
            if let Some(series) = self.series() {
                match &sent {
                    Ok(()) => {
                        series.datagrams.given.increment();
                        series.bytes_out.add(count as u64);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        series.datagrams.lose(DatagramLoss::Full);
                    }
                    Err(_) => series.datagrams.lose(DatagramLoss::Unsendable),
                }
            }
            if self.is_answered() {
                return Err(DatagramSessionEnd::Answered);
            }
            if sent.is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
                return Ok(DatagramReadProgress::Blocked);
            }
        }
        Ok(DatagramReadProgress::Over)
    }

    /// Returns the reason to send nothing more to the endpoint, if there is one.
    fn unusable_reason(&self) -> Option<DatagramSessionEnd> {
        match is_healthy(&self.guard) {
            Some(true) => {}
            // No endpoint was healthier when this one was selected.
            Some(false) if !self.was_healthy => {}
            Some(false) | None => return Some(DatagramSessionEnd::EndpointUnavailable),
        }
        // If all expected responses had arrived, the session would have ended with the last one.
        let silent = self.worker.timers.now() - self.last_response_at.get();
        (self.ends.responses.is_some() && silent >= self.idle_timeout)
            .then_some(DatagramSessionEnd::NoResponse)
    }

    fn is_answered(&self) -> bool {
        self.ends.responses.is_some_and(|each| {
            self.down.datagrams.get() >= self.up.datagrams.get().saturating_mul(each.get().into())
        })
    }

    /// Restarts the idle timeout after a datagram in either direction.
    fn restart_idle_timeout(&self) {
        if self.end.get().is_none() {
            self.last_at.set(self.worker.timers.now());
            self.timer.arm(self.idle_timeout);
            // The session may be closed to make room: one that is still needed begins anew.
            self.timer.set_idle(true);
        }
    }

    fn why_expired(&self) -> DatagramSessionEnd {
        let silent = self.worker.timers.now() - self.last_at.get();
        if silent < self.idle_timeout {
            DatagramSessionEnd::Closed
        } else if self.ends.responses.is_some() && self.down.datagrams.get() == 0 {
            DatagramSessionEnd::NoResponse
        } else {
            DatagramSessionEnd::Idle
        }
    }

    /// Ends the session, once: it accepts no more datagrams, and the result is reported to its endpoint's health.
    fn finish(&self, end: DatagramSessionEnd) {
        if self.end.get().is_some() {
            return;
        }
        self.end.set(Some(end));
        self.flows.forget(self.flow, self);
        // Wakes the session's task.
        self.timer.arm_at(WorkerTime::ZERO);
        let Some(fault) = end.fault() else { return };
        self.guard.cluster.series.failures.increment();
        self.guard.failed(self.worker.timers.now());
        if let Some(series) = self.series() {
            series.faults.count(fault);
        }
    }

    fn series(&self) -> Option<&ListenerSeries> {
        self.place.series.as_deref()
    }

    fn record(&self, end: DatagramSessionEnd) {
        let record = SessionRecord {
            start: &self.start,
            client: PeerAddress::Tcp(self.flow.client),
            server_name: None,
            tls: None,
            bytes_in: self.up.bytes.get(),
            bytes_out: self.down.bytes.get(),
            datagrams: Some(Datagrams { taken: self.up.datagrams.get(), given: self.down.datagrams.get() }),
            cluster: &self.guard.cluster.config.name,
            endpoint: Some(&self.guard.address),
            attempts: self.attempts,
            reason: end.word(),
        };
        self.worker.log_session(&record);
    }
}

impl DatagramSessionEnd {
    /// Returns the fault of the endpoint, if the end is one.
    fn fault(self) -> Option<Fault> {
        match self {
            Self::Refused => Some(Fault::ConnectFailed),
            Self::NoResponse => Some(Fault::UpstreamIdle),
            Self::Idle | Self::Answered | Self::Closed | Self::EndpointUnavailable => None,
        }
    }

    /// Returns the reason for the access log entry.
    fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Answered => "answered",
            Self::Closed => "closed",
            Self::EndpointUnavailable => "endpoint_left",
            Self::Refused | Self::NoResponse => self.fault().map_or("-", Fault::reason),
        }
    }
}

impl Passed {
    fn count(&self, bytes: usize) {
        self.datagrams.set(self.datagrams.get().saturating_add(1));
        self.bytes.set(self.bytes.get().saturating_add(bytes as u64));
    }
}

/// Whether an error means that datagrams are not accepted at the endpoint.
fn is_gone(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable)
}
