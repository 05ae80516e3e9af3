//! Admission queue: queues requests when more arrive than a worker can serve, and sheds those that cannot be served in
//! time.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use eddy_ids::{Millis, TICK};
use tokio::sync::Notify;

/// Requests that wait unread for their worker.
///
/// While the event loop is on time, no request is queued, and each request costs one check of a flag. When the loop is
/// late, sessions with readable data queue up, and each round of the loop admits the oldest: all requests wait equally
/// long, and all are served as long as the queue is shorter than the maximum delay.
///
/// When the oldest request has waited longer than that, or clients disconnect while they wait, deadlines are missed in
/// any case. From then on each round admits the newest: requests that are served are served in time, and the surplus
/// waits in the kernel's buffers, where it costs nothing, until it is too old to be useful. Refusing a request costs
/// nearly half as much as serving it, so only a few of the oldest are refused per round. Once the queue has been empty
/// for the maximum delay, the oldest come first again. If that happened sooner, each lull would begin another queue
/// that is served too late for users who close and come back.
///
/// The queue's clock stops while other programs use the processor: that is no overload by requests, and refusing
/// requests would not end it.
///
/// # Source
/// "Fail at Scale" (ACM Queue, 2015): adaptive last-in first-out with a bound on the delay.
#[derive(Debug, Default)]
pub(crate) struct AdmissionQueue {
    /// Whether requests are queued.
    is_queueing: Cell<bool>,
    order: Cell<AdmissionOrder>,
    /// Clock of the queue: time in which this worker had the processor or was idle. Not comparable with
    /// the worker's clock.
    now: Cell<Millis>,
    /// Last tick at which a request waited, on that clock.
    waited_at: Cell<Millis>,
    /// Maximum delay; requests that have waited longer are refused.
    delay_max: Cell<Millis>,
    /// Waiting requests by number, hence by age. At most as many as the worker has connections.
    waiting: RefCell<VecDeque<AdmissionWaiter>>,
    number_last: Cell<u64>,
    /// Requests admitted in their turn since the last tick.
    called: Cell<usize>,
    /// Number of their clients that had disconnected.
    hung_up: Cell<usize>,
    /// Whether more requests waited than one round admits.
    is_busy: Cell<bool>,
    /// Number of the oldest requests that may be refused until the next tick, and the rest of that number.
    refusals: Cell<usize>,
    refusals_left: Cell<usize>,
    /// Number of the oldest requests that may still be called in place of one whose client has disconnected.
    substitutes: Cell<usize>,
    /// Number of connections that may be accepted until the next round.
    admissions: Cell<usize>,
    /// Notified when that number changes.
    admitted: Notify,
    /// Notified when there may be requests to admit.
    pub(crate) stirred: Notify,
}

/// Order in which a round admits waiting requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AdmissionOrder {
    /// All requests can be served in time.
    #[default]
    OldestFirst,
    /// Not all requests can be served in time.
    NewestFirst,
}

/// Time between two ticks of a worker.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TickInterval {
    /// Time that has passed.
    pub(crate) elapsed: Millis,
    /// Part of it in which other programs had the processor.
    pub(crate) processor_wait: Millis,
}

impl TickInterval {
    /// Returns how late the tick came because of the worker's own work.
    fn own_lag(self) -> Millis {
        self.elapsed - TICK - self.processor_wait
    }

    /// Returns the time in which the worker had the processor or was idle.
    fn own(self) -> Millis {
        self.elapsed - self.processor_wait
    }
}

#[derive(Debug)]
struct AdmissionWaiter {
    number: u64,
    since: Millis,
    waker: Waker,
}

/// A session's place in the queue.
#[derive(Debug)]
pub(crate) struct Ticket {
    number: u64,
    since: Millis,
}

/// Time that a request has waited for its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Waited {
    /// Short enough that its client is still there.
    #[default]
    WithinDeadline,
    /// Longer than the maximum delay.
    TooLong,
}

/// Maximum number of requests admitted per round.
const ADMITTED_PER_ROUND_MAX: usize = 32;
/// Number of connections accepted per tick while each round has enough requests to admit.
const ADMITTED_MIN: usize = 1;
/// Number of requests admitted for each of the oldest that is refused, while there are enough to admit.
const ADMITTED_PER_REFUSAL: usize = 16;
/// Number of requests refused per tick in any case.
const REFUSALS_MIN: usize = 2;
/// Maximum number of requests refused per tick, after many ticks with time to spare.
const REFUSALS_MAX: usize = 1024;
/// Number of requests with disconnected clients that are removed per round.
const REMOVED_PER_ROUND_MAX: usize = 32;
/// Number of waiting requests for which memory is kept, so that they wait without an allocation.
const RETAINED_CAPACITY: usize = 64;
/// Requests are queued when the loop is later than the maximum delay divided by this.
const LAG_SHARE: u64 = 10;
/// Deadlines are missed when more than one in this many clients disconnects before its request is admitted.
const HUNG_UP_SHARE: usize = 4;

impl AdmissionQueue {
    /// Whether requests are queued instead of being read.
    pub(crate) fn is_queueing(&self) -> bool {
        self.is_queueing.get()
    }

    /// Whether more requests arrive than can be served in time.
    pub(crate) fn is_shedding(&self) -> bool {
        self.is_queueing.get() && self.order.get() == AdmissionOrder::NewestFirst
    }

    /// Accounts for the time since the last tick. A `delay_max` of zero turns the queue off.
    pub(crate) fn on_tick(&self, interval: TickInterval, delay_max: Millis) {
        self.now.set(self.now.get() + interval.own());
        let is_off = delay_max == Millis::ZERO;
        let is_late = interval.own_lag() > delay_max / LAG_SHARE;
        self.delay_max.set(if is_off { Millis::MAX } else { delay_max });
        let is_busy = self.is_busy.take() || is_late;
        let (called, hung_up) = (self.called.take(), self.hung_up.take());
        let refusals = if is_busy { called / ADMITTED_PER_REFUSAL } else { self.refusals.get() * 2 };
        self.refusals.set(refusals.clamp(REFUSALS_MIN, REFUSALS_MAX));
        self.refusals_left.set(self.refusals.get());
        let mut waiting = self.waiting.borrow_mut();
        let is_empty = waiting.is_empty();
        if is_empty {
            // Memory for a few is kept, so that an occasional waiting request costs no allocation.
            waiting.shrink_to(RETAINED_CAPACITY);
        }
        drop(waiting);
        if !is_empty {
            self.waited_at.set(self.now.get());
        }
        let is_over = self.now.get() - self.waited_at.get() > delay_max;
        if is_off || is_over {
            self.order.set(AdmissionOrder::OldestFirst);
        } else if hung_up * HUNG_UP_SHARE > called {
            self.order.set(AdmissionOrder::NewestFirst);
        }
        self.is_queueing.set(!is_off && (is_late || !is_empty));
        self.admit(if is_empty { ADMITTED_PER_ROUND_MAX } else { ADMITTED_MIN });
        if !is_empty {
            self.stirred.notify_one();
        }
    }

    /// Waits until another connection may be accepted: at once, unless requests are shed.
    pub(crate) async fn admission(&self) {
        while self.is_shedding() && self.admissions.get() == 0 {
            self.admitted.notified().await;
        }
    }

    /// Counts a connection that was accepted.
    pub(crate) fn count_accepted(&self) {
        self.admissions.set(self.admissions.get().saturating_sub(1));
    }

    /// Counts a client that had disconnected by the time its request was admitted.
    pub(crate) fn count_hung_up(&self) {
        self.hung_up.set(self.hung_up.get() + 1);
    }

    fn admit(&self, connections: usize) {
        self.admissions.set(self.admissions.get().max(connections));
        self.admitted.notify_waiters();
    }

    /// Enters the queue; ready once admitted.
    pub(crate) fn poll_admission(&self, ticket: &mut Option<Ticket>, cx: &Context<'_>) -> Poll<Waited> {
        let now = self.now.get();
        let mut waiting = self.waiting.borrow_mut();
        let Some(Ticket { number, since }) = *ticket else {
            let number = self.number_last.get() + 1;
            self.number_last.set(number);
            self.stirred.notify_one();
            waiting.push_back(AdmissionWaiter { number, since: now, waker: cx.waker().clone() });
            *ticket = Some(Ticket { number, since: now });
            return Poll::Pending;
        };
        if waiting.binary_search_by_key(&number, |waiting| waiting.number).is_ok() {
            return Poll::Pending;
        }
        *ticket = None;
        let is_in_time = now - since <= self.delay_max.get();
        Poll::Ready(if is_in_time { Waited::WithinDeadline } else { Waited::TooLong })
    }

    /// Admits the requests of this round, and refuses a few that have waited too long; returns how many.
    pub(crate) fn admit_round(&self) -> usize {
        let mut called = 0;
        while called < ADMITTED_PER_ROUND_MAX && self.admit_next() {
            called += 1;
        }
        self.called.set(self.called.get() + called);
        if called == ADMITTED_PER_ROUND_MAX {
            self.is_busy.set(true);
        }
        // Requests that already wait go first; the rest of the round is for new connections.
        self.admit(ADMITTED_PER_ROUND_MAX - called);
        self.substitutes.set(REMOVED_PER_ROUND_MAX);
        while let Some(left) = self.refusals_left.get().checked_sub(1)
            && self.admit_overdue()
        {
            self.refusals_left.set(left);
            called += 1;
        }
        called
    }

    /// Admits one request that can still be served in time.
    fn admit_next(&self) -> bool {
        let mut waiting = self.waiting.borrow_mut();
        if self.order.get() == AdmissionOrder::OldestFirst
            && waiting.front().is_some_and(|oldest| self.is_overdue(oldest))
        {
            self.order.set(AdmissionOrder::NewestFirst);
        }
        let next = match self.order.get() {
            AdmissionOrder::OldestFirst => waiting.pop_front(),
            AdmissionOrder::NewestFirst => waiting.pop_back_if(|newest| !self.is_overdue(newest)),
        };
        drop(waiting);
        next.map(|next| next.waker.wake()).is_some()
    }

    fn admit_overdue(&self) -> bool {
        let oldest = self.waiting.borrow_mut().pop_front_if(|oldest| self.is_overdue(oldest));
        oldest.map(|oldest| oldest.waker.wake()).is_some()
    }

    /// Calls another of the oldest requests in place of one whose client has disconnected.
    pub(crate) fn admit_substitute(&self) {
        if let Some(left) = self.substitutes.get().checked_sub(1)
            && self.admit_overdue()
        {
            self.substitutes.set(left);
        }
    }

    fn is_overdue(&self, waiting: &AdmissionWaiter) -> bool {
        self.now.get() - waiting.since > self.delay_max.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELAY_MAX: Millis = Millis::new(500);

    /// Returns a tick that is late by the worker's own work.
    fn late_by(lag: Millis) -> TickInterval {
        TickInterval { elapsed: TICK + lag, processor_wait: Millis::ZERO }
    }

    /// A queue that has begun to fill, as clients see it: one ticket each.
    struct Scenario {
        queue: AdmissionQueue,
        tickets: Vec<Option<Ticket>>,
    }

    impl Scenario {
        fn new() -> Self {
            let queue = AdmissionQueue::default();
            queue.on_tick(late_by(DELAY_MAX), DELAY_MAX);
            Self { queue, tickets: Vec::new() }
        }

        /// Creates a scenario in which deadlines are missed and the queue is empty.
        fn shedding() -> Self {
            let scenario = Self::new();
            scenario.queue.order.set(AdmissionOrder::NewestFirst);
            scenario
        }

        /// Advances the clock without a tick.
        fn pass(&self, time: Millis) {
            self.queue.now.set(self.queue.now.get() + time);
        }

        fn come(&mut self, count: usize) {
            for _ in 0..count {
                self.tickets.push(None);
                assert!(self.poll(self.tickets.len() - 1).is_pending());
            }
        }

        fn poll(&mut self, index: usize) -> Poll<Waited> {
            let cx = Context::from_waker(Waker::noop());
            self.queue.poll_admission(&mut self.tickets[index], &cx)
        }

        /// Returns the requests called since the last time, and whether they had waited too long.
        fn called(&mut self) -> Vec<(usize, Waited)> {
            let lined_up: Vec<usize> =
                (0..self.tickets.len()).filter(|index| self.tickets[*index].is_some()).collect();
            let polled = lined_up.into_iter().map(|index| (index, self.poll(index)));
            polled
                .filter_map(|(index, turn)| match turn {
                    Poll::Ready(waited) => Some((index, waited)),
                    Poll::Pending => None,
                })
                .collect()
        }

        fn called_indices(&mut self) -> Vec<usize> {
            self.called().iter().map(|(index, _)| *index).collect()
        }
    }

    #[test]
    fn no_request_is_queued_while_the_event_loop_is_on_time() {
        let queue = AdmissionQueue::default();
        for (lag_ms, is_queueing) in [(0, false), (50, false), (51, true), (2_000, true), (20, false)] {
            queue.on_tick(late_by(Millis::new(lag_ms)), DELAY_MAX);
            assert_eq!(queue.is_queueing(), is_queueing, "{lag_ms} ms");
        }
    }

    #[test]
    fn time_taken_by_other_processes_is_not_lag() {
        let queue = AdmissionQueue::default();
        for (elapsed_ms, processor_wait_ms, is_queueing) in
            [(1_000, 980, false), (1_000, 929, true), (1_000, 5_000, false), (71, 0, true)]
        {
            let (elapsed, processor_wait) = (Millis::new(elapsed_ms), Millis::new(processor_wait_ms));
            queue.on_tick(TickInterval { elapsed, processor_wait }, DELAY_MAX);
            assert_eq!(queue.is_queueing(), is_queueing, "{processor_wait_ms} of {elapsed_ms} ms");
        }
    }

    #[test]
    fn time_taken_by_other_processes_makes_no_request_overdue() {
        let mut scenario = Scenario::new();
        scenario.come(100);
        let away = Millis::new(10 * DELAY_MAX.get());
        let interval = TickInterval { elapsed: away, processor_wait: away };
        scenario.queue.on_tick(interval, DELAY_MAX);
        while scenario.queue.admit_round() > 0 {}
        let called = scenario.called();
        assert!(called.len() == 100 && called.iter().all(|(_, waited)| *waited == Waited::WithinDeadline));
    }

    #[test]
    fn requests_are_queued_until_the_queue_is_empty() {
        let mut scenario = Scenario::new();
        scenario.come(33);
        scenario.queue.on_tick(late_by(Millis::ZERO), DELAY_MAX);
        assert!(scenario.queue.is_queueing());
        scenario.queue.admit_round();
        scenario.queue.admit_round();
        scenario.queue.on_tick(late_by(Millis::ZERO), DELAY_MAX);
        assert!(!scenario.queue.is_queueing());
    }

    #[test]
    fn the_oldest_are_admitted_first_while_deadlines_are_met() {
        let mut scenario = Scenario::new();
        scenario.come(100);
        scenario.pass(DELAY_MAX);
        assert_eq!(scenario.queue.admit_round(), ADMITTED_PER_ROUND_MAX);
        assert_eq!(scenario.called_indices(), (0..ADMITTED_PER_ROUND_MAX).collect::<Vec<_>>());
        assert!(!scenario.queue.is_shedding());
    }

    #[test]
    fn the_newest_are_admitted_first_once_deadlines_are_missed() {
        let mut scenario = Scenario::new();
        scenario.come(1);
        scenario.pass(DELAY_MAX + Millis::new(1));
        scenario.come(100);
        assert_eq!(scenario.queue.admit_round(), ADMITTED_PER_ROUND_MAX + 1);
        let newest = 101 - ADMITTED_PER_ROUND_MAX..101;
        assert_eq!(scenario.called_indices(), std::iter::once(0).chain(newest).collect::<Vec<_>>());
        assert!(scenario.queue.is_shedding());
    }

    #[test]
    fn the_oldest_are_admitted_first_again_once_waits_are_short() {
        let mut scenario = Scenario::shedding();
        scenario.come(1);
        scenario.queue.on_tick(late_by(Millis::ZERO), DELAY_MAX);
        assert!(scenario.queue.is_shedding());
        scenario.queue.admit_round();
        scenario.queue.on_tick(late_by(DELAY_MAX - TICK), DELAY_MAX);
        assert!(scenario.queue.is_shedding(), "a lull is no end");
        scenario.queue.on_tick(late_by(DELAY_MAX), DELAY_MAX);
        assert!(scenario.queue.is_queueing() && !scenario.queue.is_shedding());
    }

    #[test]
    fn disconnecting_clients_indicate_missed_deadlines() {
        for (hung_up, is_shedding) in [(0, false), (8, false), (9, true)] {
            let mut scenario = Scenario::new();
            scenario.come(100);
            scenario.queue.admit_round();
            (0..hung_up).for_each(|_| scenario.queue.count_hung_up());
            scenario.queue.on_tick(late_by(Millis::ZERO), DELAY_MAX);
            assert_eq!(scenario.queue.is_shedding(), is_shedding, "{hung_up} of {ADMITTED_PER_ROUND_MAX}");
        }
    }

    #[test]
    fn a_few_overdue_requests_are_refused_oldest_first() {
        let mut scenario = Scenario::new();
        scenario.come(100);
        scenario.pass(DELAY_MAX + Millis::new(1));
        scenario.come(1);
        assert_eq!(scenario.queue.admit_round(), 1 + REFUSALS_MIN);
        assert_eq!(
            scenario.called(),
            [(0, Waited::TooLong), (1, Waited::TooLong), (100, Waited::WithinDeadline)]
        );
        assert_eq!(scenario.queue.admit_round(), 0, "the rest has time until the next tick");
    }

    #[test]
    fn more_are_refused_while_the_event_loop_is_on_time() {
        let mut scenario = Scenario::new();
        scenario.come(4 * REFUSALS_MAX);
        scenario.pass(DELAY_MAX + Millis::new(1));
        for expected in [4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024] {
            scenario.queue.on_tick(late_by(Millis::ZERO), DELAY_MAX);
            assert_eq!(scenario.queue.admit_round(), expected);
        }
        scenario.queue.on_tick(late_by(DELAY_MAX), DELAY_MAX);
        assert_eq!(scenario.queue.admit_round(), REFUSALS_MIN);
    }

    #[test]
    fn disconnected_requests_are_substituted_up_to_a_limit() {
        let mut scenario = Scenario::new();
        scenario.come(100);
        scenario.pass(DELAY_MAX + Millis::new(1));
        scenario.queue.admit_round();
        (0..90).for_each(|_| scenario.queue.admit_substitute());
        assert_eq!(scenario.called().len(), REFUSALS_MIN + REMOVED_PER_ROUND_MAX);
    }

    #[test]
    fn a_limit_of_zero_disables_the_queue_and_admits_all() {
        let mut scenario = Scenario::shedding();
        scenario.come(40);
        scenario.pass(Millis::new(60_000));
        scenario.queue.on_tick(late_by(Millis::new(10_000)), Millis::ZERO);
        assert!(!scenario.queue.is_queueing());
        while scenario.queue.admit_round() > 0 {}
        let called = scenario.called();
        assert!(called.len() == 40 && called.iter().all(|(_, waited)| *waited == Waited::WithinDeadline));
    }

    #[test]
    fn connections_are_accepted_up_to_the_capacity_of_a_round() {
        let mut scenario = Scenario::shedding();
        let accept_all = |queue: &AdmissionQueue| {
            let count = queue.admissions.get();
            (0..count + 1).for_each(|_| queue.count_accepted());
            count
        };
        assert_eq!(accept_all(&scenario.queue), ADMITTED_PER_ROUND_MAX, "nobody is here yet");
        scenario.come(ADMITTED_PER_ROUND_MAX + 2);
        scenario.queue.on_tick(late_by(DELAY_MAX / 2), DELAY_MAX);
        assert_eq!(accept_all(&scenario.queue), ADMITTED_MIN);
        scenario.queue.admit_round();
        assert_eq!(accept_all(&scenario.queue), 0);
        scenario.queue.admit_round();
        assert_eq!(accept_all(&scenario.queue), ADMITTED_PER_ROUND_MAX - 2);
    }

    #[test]
    fn at_triple_load_goodput_is_nearly_unchanged() {
        // A round takes as long as its work: 1 ms for a request, and half of that to refuse one.
        let (mut scenario, mut spent_us, mut served, mut refused) = (Scenario::new(), 0_u64, 0_u64, 0_u64);
        let (began, mut ticked, mut arrivals) = (scenario.queue.now.get(), Millis::ZERO, 0_u64);
        while spent_us < 5_000_000 {
            let now = Millis::new(spent_us / 1_000);
            if now - ticked >= TICK {
                scenario.queue.on_tick(late_by(now - ticked - TICK), DELAY_MAX);
                ticked = now;
                // Only ticks move the clock here.
                assert_eq!(scenario.queue.now.get(), began + now);
            }
            let due = spent_us * 3 / 1_000;
            scenario.come(usize::try_from(due - arrivals).unwrap());
            arrivals = due;
            scenario.queue.admit_round();
            spent_us += 10;
            for (_, waited) in scenario.called() {
                spent_us += if waited == Waited::WithinDeadline { 1_000 } else { 500 };
                served += u64::from(waited == Waited::WithinDeadline);
                refused += u64::from(waited == Waited::TooLong);
            }
            scenario.tickets.retain(Option::is_some);
        }
        assert!(served >= 4_500, "{served} of 5000 served in time");
        assert!(refused > 0, "some are told");
    }

    #[test]
    fn closed_loop_clients_wait_equally_long() {
        // 300 clients whose requests take 1 ms each: each waits for the others, and none longer than the maximum delay.
        let (mut scenario, mut spent_us, mut ticked) = (Scenario::new(), 0_u64, Millis::ZERO);
        let mut served = vec![0_u64; 300];
        scenario.come(served.len());
        while spent_us < 5_000_000 {
            let now = Millis::new(spent_us / 1_000);
            if now - ticked >= TICK {
                scenario.queue.on_tick(late_by(now - ticked - TICK), DELAY_MAX);
                ticked = now;
            }
            scenario.queue.admit_round();
            spent_us += 10;
            for (index, waited) in scenario.called() {
                assert_eq!(waited, Waited::WithinDeadline, "client {index} after {} ms", spent_us / 1_000);
                spent_us += 1_000;
                served[index] += 1;
                assert!(scenario.poll(index).is_pending());
            }
        }
        let (least, most) = (served.iter().min().unwrap(), served.iter().max().unwrap());
        // Within a round, clients return in the order of their numbers, so that some get slightly ahead.
        assert!(*least >= 15 && most - least <= 3, "{least} to {most} requests a client");
    }
}
