//! Random sequences of crossings, resumes, timeouts, replies and resets: no exchange receives the message of another.
//!
//! One thread simulates workers and filters, so that a seed reproduces a run. `EDDY_SOAK` runs ten million steps;
//! `EDDY_SEED` runs one seed.

use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Wake, Waker};

use eddy_filter::{Direction, EDITS_BYTES_MAX, FilterLogLevel, Handle, HostApi, HostError, Verdict};
use eddy_upstream::Rng;

use crate::host::FilterHost;
use crate::host::inbox::{FilterResume, Inbox, WorkerMessage};
use crate::host::slots::Slots;

const WORKERS: usize = 3;
/// Concurrent exchanges per worker: few, so that slots are reused often.
const EXCHANGES: usize = 12;
/// Handles of ended exchanges that filters still hold.
const STALE: usize = 64;

/// Expected state of an exchange, compared with the real tables.
struct ExpectedExchange {
    handle: Handle,
    turn: u32,
    ways: [DirectionModel; 2],
    woken: Arc<Flag>,
}

#[derive(Clone, Copy, Default)]
struct DirectionModel {
    /// The turn that can be claimed.
    announced: Option<u32>,
    /// The turn that the exchange waits for.
    waits: Option<u32>,
    /// Number of the accepted resume.
    accepted: Option<u64>,
}

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}

#[derive(Debug, Default)]
struct ScheduleCounts {
    crossings: u64,
    opened: u64,
    closed: u64,
    accepted: u64,
    refused: u64,
    came: u64,
    orphans: u64,
    timeouts: u64,
}

struct ScheduleSimulation {
    rng: Rng,
    host: Arc<FilterHost>,
    slots: Vec<Slots>,
    inboxes: Vec<Arc<Inbox>>,
    live: Vec<Vec<ExpectedExchange>>,
    stale: VecDeque<(Handle, u32)>,
    number: u64,
    /// Resumes that are in an inbox and not delivered yet, by number.
    in_flight: HashMap<u64, Handle>,
    tally: ScheduleCounts,
}

const DIRECTIONS: [Direction; 2] = [Direction::Request, Direction::Response];

impl ScheduleSimulation {
    fn new(seed: u64) -> Self {
        let host = FilterHost::new(WORKERS, EXCHANGES, FilterLogLevel::Off);
        Self {
            rng: Rng::new(seed),
            slots: (0..WORKERS).map(|_| Slots::default()).collect(),
            inboxes: (0..WORKERS).map(|worker| host.inbox(worker).unwrap()).collect(),
            live: (0..WORKERS).map(|_| Vec::new()).collect(),
            stale: VecDeque::new(),
            number: 0,
            in_flight: HashMap::new(),
            tally: ScheduleCounts::default(),
            host,
        }
    }

    fn step(&mut self) {
        let worker = self.rng.index(WORKERS);
        match self.rng.below(100) {
            0..=7 => self.open(worker),
            8..=37 => self.cross(worker),
            38..=62 => self.resume_random_exchange(worker),
            63..=76 => self.take(worker),
            77..=89 => self.poll_exchange(worker),
            90..=94 => self.time_out(worker),
            95..=97 => self.close_random_exchange(worker),
            _ => self.close_again(worker),
        }
    }

    fn open(&mut self, worker: usize) {
        if self.live[worker].len() >= EXCHANGES {
            return;
        }
        let handle = self.slots[worker].open(&self.host.table, worker).expect("there is room");
        assert_eq!(handle.worker(), worker);
        assert!(self.live.iter().flatten().all(|known| known.handle != handle), "{handle:?} is taken");
        assert!(self.stale.iter().all(|(old, _)| *old != handle), "{handle:?} was used before");
        self.live[worker].push(ExpectedExchange {
            handle,
            turn: 0,
            ways: Default::default(),
            woken: Arc::default(),
        });
        self.tally.opened += 1;
    }

    /// A hook is called: it continues or pauses, and may be resumed before it returns.
    fn cross(&mut self, worker: usize) {
        let Some(index) = self.pick(worker) else { return };
        let direction = DIRECTIONS[self.rng.index(2)];
        let early = u32::from(self.rng.below(4) == 0) + u32::from(self.rng.below(8) == 0);
        let is_paused = self.rng.below(3) > 0;
        self.cross_with(worker, index, direction, early, is_paused);
    }

    fn cross_with(&mut self, worker: usize, index: usize, direction: Direction, early: u32, is_paused: bool) {
        let known = &mut self.live[worker][index];
        let way = &mut known.ways[direction as usize];
        if way.waits.is_some() {
            return;
        }
        known.turn += 1;
        let (handle, turn) = (known.handle, known.turn);
        *way = DirectionModel { announced: Some(turn), ..DirectionModel::default() };
        self.host.table.announce(handle, direction, turn);
        self.tally.crossings += 1;
        (0..early).for_each(|_| self.resume(handle, turn));
        let way = &mut self.live[worker][index].ways[direction as usize];
        if is_paused {
            way.waits = Some(turn);
            self.poll_all(worker, handle);
        } else {
            let is_unclaimed = way.announced.take().is_some();
            assert_eq!(self.host.table.withdraw(handle, direction), is_unclaimed);
        }
    }

    /// A filter resumes: a waiting exchange, with the right turn or another, or one that ended long ago.
    fn resume_random_exchange(&mut self, worker: usize) {
        let (handle, turn) = match self.rng.below(10) {
            // A generation that no slot reaches.
            0 => (Handle::from_number(self.rng.bits() >> self.rng.below(40) | 1 << 31), self.turn()),
            1..=2 => match self.rng.index(self.stale.len()) {
                index if index < self.stale.len() => self.stale[index],
                _ => return,
            },
            draw => {
                let Some(index) = self.pick(worker) else { return };
                let known = &self.live[worker][index];
                let right = known.ways[self.rng.index(2)].announced.unwrap_or(known.turn);
                (known.handle, if draw == 3 { self.turn() } else { right })
            }
        };
        for _ in 0..1 + self.rng.below(8) / 7 {
            self.resume(handle, turn);
        }
    }

    fn turn(&mut self) -> u32 {
        u32::try_from(self.rng.below(40)).unwrap()
    }

    /// Calls the host and compares the result with the expected one.
    fn resume(&mut self, handle: Handle, turn: u32) {
        let verdict = match self.rng.below(64) {
            0..=8 => Verdict::Reply,
            _ => Verdict::Continue,
        };
        let is_too_large = self.rng.below(4096) == 0;
        self.resume_with(handle, turn, verdict, is_too_large);
    }

    fn resume_with(&mut self, handle: Handle, turn: u32, verdict: Verdict, is_too_large: bool) {
        self.number += 1;
        let mut edits = [handle.number(), turn.into(), self.number].map(u64::to_le_bytes).concat();
        if is_too_large {
            edits.resize(EDITS_BYTES_MAX + 1, 0);
        }
        let known = self.live.iter_mut().flatten().find(|known| known.handle == handle);
        let way = known.map(|known| {
            known
                .ways
                .iter_mut()
                .find(|way| turn != 0 && way.announced.is_some_and(|announced| announced == turn))
        });
        let expected = match way {
            _ if is_too_large => Err(HostError::TooLarge),
            None => Err(HostError::Gone),
            Some(None) => Err(HostError::Stale),
            Some(Some(way)) => {
                way.announced = None;
                way.accepted = Some(self.number);
                self.in_flight.insert(self.number, handle);
                Ok(())
            }
        };
        assert_eq!(self.host.resume(handle, turn, verdict, &edits), expected, "{handle:?}, turn {turn}");
        if expected.is_ok() {
            self.tally.accepted += 1;
        } else {
            self.tally.refused += 1;
        }
    }

    /// The worker empties its inbox.
    fn take(&mut self, worker: usize) {
        let mut messages = Vec::new();
        {
            let taken = pin!(self.inboxes[worker].take(&mut messages));
            if taken.poll(&mut Context::from_waker(Waker::noop())).is_pending() {
                let missing = self.in_flight.values().filter(|handle| handle.worker() == worker).count();
                assert_eq!(missing, 0, "an inbox forgot messages");
                return;
            }
        }
        for message in messages {
            let WorkerMessage::Resumed(resumed) = message else { panic!("nobody ordered anything") };
            let number = number_of(&resumed);
            assert_eq!(
                self.in_flight.remove(&number),
                Some(resumed.exchange),
                "told twice, or never accepted"
            );
            let (handle, direction, turn) = (resumed.exchange, resumed.direction, resumed.turn);
            let known = self.live[worker].iter().find(|known| known.handle == handle);
            assert_eq!(self.slots[worker].deliver(resumed), known.is_some());
            let Some(known) = known else {
                self.tally.orphans += 1;
                continue;
            };
            if known.ways[direction as usize].waits == Some(turn) {
                assert!(known.woken.0.load(Relaxed), "{handle:?} sleeps on");
            }
        }
    }

    /// An exchange is polled because it was woken, or for another reason.
    fn poll_exchange(&mut self, worker: usize) {
        let woken = self.live[worker].iter().position(|known| known.woken.0.load(Relaxed));
        let index = if self.rng.below(4) == 0 { self.pick(worker) } else { woken };
        let Some(index) = index else { return };
        let handle = self.live[worker][index].handle;
        self.poll_all(worker, handle);
    }

    /// An exchange that is polled checks both of its messages.
    fn poll_all(&mut self, worker: usize, handle: Handle) {
        for direction in DIRECTIONS {
            // The first direction may have ended the exchange.
            let Some(index) = self.live[worker].iter().position(|known| known.handle == handle) else {
                return;
            };
            self.poll(worker, index, direction);
        }
    }

    /// Returns whether the exchange has resumed in this direction.
    fn poll(&mut self, worker: usize, index: usize, direction: Direction) -> bool {
        let known = &mut self.live[worker][index];
        known.woken.0.store(false, Relaxed);
        let Some(turn) = known.ways[direction as usize].waits else { return false };
        let waker = Waker::from(Arc::clone(&known.woken));
        let Some(resumed) = self.slots[worker].poll(known.handle, direction, turn, &waker) else {
            return false;
        };
        let way = &mut known.ways[direction as usize];
        assert_eq!((resumed.exchange, resumed.direction, resumed.turn), (known.handle, direction, turn));
        assert_eq!(Some(number_of(&resumed)), way.accepted.take(), "another's edits");
        assert_eq!(way.announced, None);
        way.waits = None;
        self.tally.came += 1;
        if resumed.verdict == Verdict::Reply {
            self.close(worker, index);
        }
        true
    }

    /// A pause times out; arrived messages are processed first.
    fn time_out(&mut self, worker: usize) {
        let Some(index) = self.pick(worker) else { return };
        let handle = self.live[worker][index].handle;
        let direction = DIRECTIONS[self.rng.index(2)];
        self.time_out_with(worker, handle, direction);
    }

    fn time_out_with(&mut self, worker: usize, handle: Handle, direction: Direction) {
        self.poll_all(worker, handle);
        let known = self.live[worker].iter_mut().find(|known| known.handle == handle);
        let Some(known) = known.filter(|known| known.ways[direction as usize].waits.is_some()) else {
            return;
        };
        let way = &mut known.ways[direction as usize];
        let is_unclaimed = way.announced.is_some();
        *way = DirectionModel::default();
        assert_eq!(self.host.table.withdraw(known.handle, direction), is_unclaimed);
        self.tally.timeouts += 1;
    }

    fn close_random_exchange(&mut self, worker: usize) {
        if let Some(index) = self.pick(worker) {
            self.close(worker, index);
        }
    }

    fn close(&mut self, worker: usize, index: usize) {
        let known = self.live[worker].swap_remove(index);
        self.slots[worker].close(&self.host.table, known.handle);
        self.tally.closed += 1;
        if self.stale.len() == STALE {
            self.stale.pop_front();
        }
        self.stale.push_back((known.handle, known.turn));
        assert!(!self.host.table.is_open(known.handle));
    }

    /// Closing a handle again takes nothing from the current user of the slot.
    fn close_again(&mut self, worker: usize) {
        let ended = self.stale.iter().filter(|(handle, _)| handle.worker() == worker);
        let ended: Vec<Handle> = ended.map(|(handle, _)| *handle).collect();
        if let Some(handle) = ended.get(self.rng.index(ended.len())) {
            self.slots[worker].close(&self.host.table, *handle);
        }
    }

    fn pick(&mut self, worker: usize) -> Option<usize> {
        let len = self.live[worker].len();
        (len > 0).then(|| self.rng.index(len))
    }

    /// Ends everything and checks that nothing is left.
    fn finish(mut self) -> ScheduleCounts {
        for worker in 0..WORKERS {
            self.take(worker);
            for index in (0..self.live[worker].len()).rev() {
                let handle = self.live[worker][index].handle;
                for direction in DIRECTIONS {
                    let Some(known) = self.live[worker].get(index).filter(|known| known.handle == handle)
                    else {
                        break;
                    };
                    let is_due = known.ways[direction as usize].accepted.is_some()
                        && known.ways[direction as usize].waits.is_some();
                    assert_eq!(
                        self.poll(worker, index, direction),
                        is_due,
                        "what was accepted came to nothing"
                    );
                }
            }
            while !self.live[worker].is_empty() {
                self.close(worker, 0);
            }
        }
        assert!(self.in_flight.is_empty());
        assert_eq!(self.tally.opened, self.tally.closed);
        self.tally
    }
}

/// Returns the number of a resume from its edits, which also name its exchange and turn.
fn number_of(resumed: &FilterResume) -> u64 {
    let words: Vec<u64> =
        resumed.edits.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())).collect();
    let [handle, turn, number] = words[..] else { panic!("edits of {} words", words.len()) };
    assert_eq!((handle, turn), (resumed.exchange.number(), resumed.turn.into()), "another's edits");
    number
}

#[expect(clippy::disallowed_methods, reason = "a test that is steered from outside")]
fn variable(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(value.parse().unwrap_or(1))
}

#[test]
fn every_exchange_gets_its_own_resume_in_any_order() {
    let is_long = variable("EDDY_SOAK").is_some();
    let (seeds, steps) = if is_long { (100, 100_000_u64) } else { (30, 10_000) };
    let first = variable("EDDY_SEED").unwrap_or(1);
    let seeds = if variable("EDDY_SEED").is_some() { 1 } else { seeds };
    let mut total = ScheduleCounts::default();
    for seed in first..first + seeds {
        let played = std::panic::catch_unwind(|| {
            let mut play = ScheduleSimulation::new(seed);
            (0..steps).for_each(|_| play.step());
            play.finish()
        });
        let Ok(tally) = played else {
            panic!("fails with EDDY_SEED={seed}{}", if is_long { " EDDY_SOAK=1" } else { "" })
        };
        total.add(&tally);
    }
    println!("{} steps of {seeds} seeds: {total:?}", steps * seeds);
    let ScheduleCounts { came, refused, orphans, timeouts, .. } = total;
    assert!([came, refused, orphans, timeouts].iter().all(|count| *count > steps / 100), "{total:?}");
}

/// Every sequence of six of the events that can happen to an exchange and to the next one in its slot.
#[test]
fn all_interleavings_of_six_events_are_correct() {
    let mut play = ScheduleSimulation::new(1);
    let mut orders = 0;
    for order in 0..8_u32.pow(6) {
        play.open(0);
        for place in 0..6 {
            play.one_of_eight(order / 8_u32.pow(place) % 8);
        }
        play.take(0);
        while !play.live[0].is_empty() {
            play.close(0, 0);
        }
        orders += 1;
    }
    println!("{orders} orders of six: {:?}", play.finish());
}

impl ScheduleSimulation {
    fn one_of_eight(&mut self, what: u32) {
        if self.live[0].is_empty() {
            self.open(0);
        }
        let known = &self.live[0][0];
        let (handle, turn) = (known.handle, known.turn);
        let old = self.stale.back().map_or(handle, |(old, _)| *old);
        match what {
            0 => self.cross_with(0, 0, Direction::Request, 0, true),
            1 => self.cross_with(0, 0, Direction::Response, 0, true),
            2 => self.cross_with(0, 0, Direction::Request, 1, false),
            3 => self.resume_with(handle, turn, Verdict::Continue, false),
            4 => self.resume_with(handle, turn.saturating_sub(1), Verdict::Reply, false),
            5 => self.time_out_with(0, handle, Direction::Request),
            6 => {
                self.take(0);
                self.poll_all(0, handle);
            }
            _ => {
                self.resume_with(old, turn, Verdict::Reply, false);
                self.slots[0].close(&self.host.table, old);
                self.close(0, 0);
            }
        }
    }
}

impl ScheduleCounts {
    fn add(&mut self, other: &Self) {
        self.crossings += other.crossings;
        self.opened += other.opened;
        self.closed += other.closed;
        self.accepted += other.accepted;
        self.refused += other.refused;
        self.came += other.came;
        self.orphans += other.orphans;
        self.timeouts += other.timeouts;
    }
}

/// Four threads resume while the worker withdraws the announcement: exactly one of the five succeeds.
#[test]
fn either_a_resuming_thread_or_the_cancelling_worker_wins() {
    let rounds = if variable("EDDY_SOAK").is_some() { 400_000 } else { 10_000 };
    let host = FilterHost::new(1, 4, FilterLogLevel::Off);
    let mut slots = Slots::default();
    let inbox = host.inbox(0).unwrap();
    let barrier = std::sync::Barrier::new(5);
    let target = std::sync::Mutex::new(None);
    let (mut resumed, mut given_up, mut wrong) = (0_u64, 0_u64, 0);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4_u64)
            .map(|thread| {
                let (host, barrier, target) = (&host, &barrier, &target);
                scope.spawn(move || {
                    let mut claims = Vec::new();
                    for _ in 0..rounds {
                        barrier.wait();
                        let (handle, turn): (Handle, u32) = target.lock().unwrap().unwrap();
                        let edits = [handle.number(), turn.into(), thread].map(u64::to_le_bytes).concat();
                        if host.resume(handle, turn, Verdict::Continue, &edits).is_ok() {
                            claims.push(handle);
                        }
                        barrier.wait();
                    }
                    claims
                })
            })
            .collect();
        let mut rng = Rng::new(1);
        let mut handles = Vec::new();
        for round in 0..rounds {
            let handle = slots.open(&host.table, 0).unwrap();
            let (direction, turn) = (DIRECTIONS[rng.index(2)], u32::try_from(round).unwrap() % 9 + 1);
            host.table.announce(handle, direction, turn);
            *target.lock().unwrap() = Some((handle, turn));
            barrier.wait();
            (0..rng.below(400)).for_each(|_| std::hint::spin_loop());
            let is_unclaimed = host.table.withdraw(handle, direction);
            barrier.wait();
            let mut messages = Vec::new();
            let _ = pin!(inbox.take(&mut messages)).poll(&mut Context::from_waker(Waker::noop()));
            // A panic here would leave the others at the barrier forever.
            let is_right = messages.len() == usize::from(!is_unclaimed)
                && messages.iter().all(|message| {
                    let WorkerMessage::Resumed(resumed) = message else { return false };
                    (resumed.exchange, resumed.direction, resumed.turn) == (handle, direction, turn)
                        && resumed.edits.starts_with(&handle.number().to_le_bytes())
                });
            wrong += u32::from(!is_right);
            handles.extend(messages.iter().map(|_| handle));
            slots.close(&host.table, handle);
            *(if is_unclaimed { &mut given_up } else { &mut resumed }) += 1;
        }
        let mut claims: Vec<Handle> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        claims.sort_by_key(|handle| handle.number());
        handles.sort_by_key(|handle| handle.number());
        assert_eq!(claims, handles);
    });
    assert_eq!(wrong, 0, "messages of nobody, of another, or too many");
    println!("{} steps of 5 threads: {resumed} resumed, {given_up} given up", rounds * 5);
}
