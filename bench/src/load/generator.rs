//! Drives many connections from one thread, in a closed or an open loop.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use super::connection::{ExchangeStage, LoadConnection, ReadProgress, SendProgress};
use super::exchange::LoadExchange;
use super::response::Mismatch;
use super::schedule::Schedule;
use super::tally::LoadStats;

/// Load on one target.
#[derive(Debug)]
pub struct Generator<'a> {
    target: SocketAddr,
    exchange: &'a LoadExchange,
    epoll: OwnedFd,
    /// Connection slots; an empty slot is connected when it is first used.
    connections: Vec<Option<LoadConnection>>,
    buffer: Vec<u8>,
    /// Connections opened so far from a source address of their own.
    sources_used: u32,
    in_flight: usize,
    begun: Instant,
    tally: LoadStats,
}

impl<'a> Generator<'a> {
    /// Creates a generator with `connections` slots; connections are opened on first use.
    pub fn new(target: SocketAddr, exchange: &'a LoadExchange, connections: usize) -> Result<Self> {
        // Requests are sent on time to the microsecond; the default timer slack of 50 µs would show in the latencies.
        rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).context("cannot set the timer slack")?;
        Ok(Self {
            target,
            exchange,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            connections: (0..connections).map(|_| None).collect(),
            buffer: vec![0; READ_BYTES],
            sources_used: 0,
            in_flight: 0,
            begun: Instant::now(),
            tally: LoadStats::default(),
        })
    }

    /// Keeps every connection busy for `window`, then waits for the last responses.
    pub fn run_closed(&mut self, window: Duration) -> Result<LoadStats> {
        self.begin(window);
        let mut free: Vec<usize> = (0..self.connections.len()).collect();
        let mut events = Vec::with_capacity(EVENTS_MAX);
        loop {
            let now = self.begun.elapsed();
            if now < window {
                for index in free.drain(..) {
                    self.start(index, now)?;
                }
            } else if self.in_flight == 0 {
                break;
            }
            if !self.wait(&mut events, window + GRACE)? {
                break;
            }
            let now = self.begun.elapsed();
            for event in &events {
                self.turn(*event, now, &mut free);
            }
            self.check_errors()?;
        }
        Ok(self.end())
    }

    /// Sends `rate` requests per second for `window`, whether or not responses keep up, then waits for the last ones.
    ///
    /// Latency counts from the moment a request was due, so a stall of the target counts for every request that it
    /// delayed.
    pub fn run_open(&mut self, window: Duration, rate: f64, seed: u64) -> Result<LoadStats> {
        self.begin(window);
        let mut schedule = Schedule::new(rate, seed);
        let mut free: VecDeque<usize> = (0..self.connections.len()).collect();
        let mut due = VecDeque::new();
        let mut freed = Vec::new();
        let mut events = Vec::with_capacity(EVENTS_MAX);
        loop {
            let now = self.begun.elapsed();
            while schedule.due() <= now && schedule.due() < window {
                due.push_back(schedule.due());
                schedule.advance();
            }
            while let (Some(&moment), Some(&index)) = (due.front(), free.front()) {
                due.pop_front();
                free.pop_front();
                self.tally.delays.push(self.begun.elapsed().saturating_sub(moment));
                self.start(index, moment)?;
            }
            if schedule.due() >= window && due.is_empty() && self.in_flight == 0 {
                break;
            }
            let until = if schedule.due() < window { schedule.due() } else { window + GRACE };
            if !self.wait(&mut events, until)? && until > window {
                break;
            }
            for event in &events {
                let now = self.begun.elapsed();
                self.turn(*event, now, &mut freed);
            }
            free.extend(freed.drain(..));
            self.check_errors()?;
        }
        Ok(self.end())
    }

    fn begin(&mut self, window: Duration) {
        self.tally = LoadStats { window, ..LoadStats::default() };
        self.in_flight = 0;
        self.begun = Instant::now();
    }

    fn end(&mut self) -> LoadStats {
        if self.in_flight > 0 {
            self.tally
                .add_error(format!("no response within {} s of the end of the window", GRACE.as_secs()));
            self.connections.iter_mut().for_each(|place| *place = None);
        }
        let mut tally = std::mem::take(&mut self.tally);
        tally.sort();
        tally
    }

    fn check_errors(&self) -> Result<()> {
        if self.tally.error_count() > ERRORS_MAX {
            bail!("too many errors from {}: {}", self.target, self.tally.error_text());
        }
        Ok(())
    }

    /// Waits for events until the offset `until` of the window. Returns `false` on timeout.
    fn wait(&self, events: &mut Vec<epoll::Event>, until: Duration) -> Result<bool> {
        let left = until.saturating_sub(self.begun.elapsed());
        let timeout = Timespec::try_from(left).context("a window too long")?;
        events.clear();
        match epoll::wait(&self.epoll, spare_capacity(events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(!events.is_empty()),
            Err(error) => Err(error).context("cannot wait for events"),
        }
    }

    /// Begins an exchange in slot `index`.
    fn start(&mut self, index: usize, due: Duration) -> Result<()> {
        let place = self.connections.get_mut(index).context("a place that does not exist")?;
        let mut connection = match place.take() {
            Some(connection) => connection,
            None => {
                let source = self.exchange.is_once.then(|| source_address(self.sources_used));
                self.sources_used = self.sources_used.wrapping_add(1);
                let connection = LoadConnection::open(self.target, source)?;
                epoll::add(&self.epoll, connection.socket(), key_of(index), epoll::EventFlags::IN)?;
                connection
            }
        };
        self.in_flight += 1;
        match connection.begin(due, self.exchange) {
            Ok(SendProgress::All) => {}
            Ok(SendProgress::Part) => {
                let interest = epoll::EventFlags::IN | epoll::EventFlags::OUT;
                epoll::modify(&self.epoll, connection.socket(), key_of(index), interest)?;
            }
            // The cause of a failed write is read from the socket on its next event.
            Err(_) => {}
        }
        *place = Some(connection);
        Ok(())
    }

    /// Handles an event; pushes the slot to `free` when its exchange is over.
    fn turn(&mut self, event: epoll::Event, now: Duration, free: &mut Vec<usize>) {
        let Ok(index) = usize::try_from(event.data.u64()) else { return };
        let flags = event.flags;
        let Some(Some(connection)) = self.connections.get_mut(index) else { return };
        if flags.contains(epoll::EventFlags::OUT) && connection.send(self.exchange) == Ok(SendProgress::All) {
            // A failure here shows as endless events and so in the errors; it cannot be handled better.
            let _ = epoll::modify(&self.epoll, connection.socket(), key_of(index), epoll::EventFlags::IN);
        }
        if !flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::HUP | epoll::EventFlags::ERR) {
            return;
        }
        let stage = connection.stage;
        let due = connection.due;
        let read = connection.read(&mut self.buffer, self.exchange);
        let is_kept = match (read, stage) {
            (Ok(ReadProgress::More), _) => return,
            (Ok(ReadProgress::Response { is_last }), ExchangeStage::Waiting) => {
                self.tally.add_response(now, due);
                connection.stage = ExchangeStage::Idle;
                self.tally.reconnects += u64::from(is_last && !self.exchange.is_once);
                // A client that asked for `Connection: close` closes as soon as it has the response; some targets
                // wait for that.
                !is_last && !self.exchange.is_once
            }
            (Ok(ReadProgress::End), ExchangeStage::Idle) => {
                self.tally.reconnects += 1;
                self.connections[index] = None;
                return;
            }
            (Ok(ReadProgress::End), ExchangeStage::Waiting) => {
                self.tally.add_mismatch(Mismatch::End);
                false
            }
            (Ok(ReadProgress::Response { .. }), ExchangeStage::Idle) => {
                self.tally.add_mismatch(Mismatch::Surplus);
                false
            }
            (Err(mismatch), _) => {
                self.tally.add_mismatch(mismatch);
                false
            }
        };
        if !is_kept {
            self.connections[index] = None;
        }
        if stage != ExchangeStage::Idle {
            self.in_flight = self.in_flight.saturating_sub(1);
            free.push(index);
        }
    }
}

/// Returns one of about 50,000 loopback addresses in turn. With a connection per request, one address would run out
/// of ports.
fn source_address(count: u32) -> Ipv4Addr {
    let [.., third, fourth] = (count % SOURCES).to_be_bytes();
    Ipv4Addr::new(127, 1, third, fourth)
}

fn key_of(index: usize) -> epoll::EventData {
    epoll::EventData::new_u64(index as u64)
}

const READ_BYTES: usize = 256 * 1024;
const EVENTS_MAX: usize = 256;
const SOURCES: u32 = 50_000;
/// Grace period for the last responses after a window.
const GRACE: Duration = Duration::from_secs(5);
/// Number of errors after which a window is aborted.
const ERRORS_MAX: u64 = 100;

#[cfg(test)]
mod tests {
    use super::super::exchange::ScenarioRequest;
    use super::*;
    use crate::origin::BenchOrigin;

    const WINDOW: Duration = Duration::from_millis(60);

    fn origin() -> SocketAddr {
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let mut origin = BenchOrigin::bind(([127, 0, 0, 1], 0).into()).unwrap();
            sender.send(origin.address()).unwrap();
            origin.serve()
        });
        receiver.recv().unwrap()
    }

    #[expect(clippy::needless_pass_by_value, reason = "each caller makes one for this call")]
    fn check_closed(request: ScenarioRequest) {
        let target = origin();
        let exchange = request.exchange(target);
        let mut generator = Generator::new(target, &exchange, 4).unwrap();
        let tally = generator.run_closed(WINDOW).unwrap();
        assert_eq!(tally.error_text(), "", "{request:?}");
        assert!(tally.requests > 4, "{request:?}: {}", tally.requests);
        assert!(tally.requests - tally.requests_in_time <= 4);
    }

    #[test]
    fn a_closed_loop_receives_every_response() {
        check_closed(ScenarioRequest::Get { prefix: String::new(), bytes: 128 });
        check_closed(ScenarioRequest::Get { prefix: "/route-7".to_owned(), bytes: 1 << 20 });
        check_closed(ScenarioRequest::Post { bytes: 64 * 1024 });
    }

    #[test]
    fn a_connection_per_request_is_opened_and_closed() {
        check_closed(ScenarioRequest::GetOnce { bytes: 128 });
    }

    #[test]
    fn an_open_loop_keeps_its_rate() {
        let target = origin();
        let exchange = ScenarioRequest::Get { prefix: String::new(), bytes: 128 }.exchange(target);
        let mut generator = Generator::new(target, &exchange, 8).unwrap();
        let tally = generator.run_open(Duration::from_millis(500), 1000.0, 1).unwrap();
        assert_eq!(tally.error_text(), "");
        assert!((400..600).contains(&tally.requests), "{}", tally.requests);
        assert!(tally.latency(0.5) <= tally.latency(0.99));
        assert_eq!(tally.delays.len() as u64, tally.requests);
    }

    #[test]
    fn an_open_loop_charges_a_stall_to_every_request_it_held_up() {
        let target = origin();
        let exchange = ScenarioRequest::Get { prefix: String::new(), bytes: 1 << 20 }.exchange(target);
        let mut generator = Generator::new(target, &exchange, 1).unwrap();
        // The rate is far more than one connection can carry: requests wait for it, and their latency shows that.
        let tally = generator.run_open(WINDOW, 50_000.0, 1).unwrap();
        assert_eq!(tally.error_text(), "");
        assert!(tally.latency(0.99).unwrap() > WINDOW, "{:?}", tally.latency(0.99));
    }

    #[test]
    fn a_wrong_response_is_counted() {
        let target = origin();
        let mut exchange = ScenarioRequest::Get { prefix: String::new(), bytes: 128 }.exchange(target);
        exchange.expected.body = Some(vec![b'x'; 128]);
        let mut generator = Generator::new(target, &exchange, 1).unwrap();
        let failure = generator.run_closed(WINDOW).unwrap_err();
        assert!(failure.to_string().contains("wrong body"), "{failure}");
    }

    #[test]
    fn sources_are_loopback_and_differ() {
        assert_eq!(source_address(0), Ipv4Addr::new(127, 1, 0, 0));
        assert_eq!(source_address(257), Ipv4Addr::new(127, 1, 1, 1));
        assert!(source_address(u32::MAX).is_loopback());
    }
}
