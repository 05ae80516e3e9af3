//! Deadlines of a worker: a timer wheel that is cheap to arm and coarse to fire.
//!
//! Most deadlines never fire: the next event of their connection moves them. So arming a later deadline only stores it;
//! the wheel notices when the old one comes up, and files the entry again.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};

use eddy_ids::{Millis, TICK, WorkerTime};
use slab::Slab;

/// Slots of the wheel. Deadlines further away than this many ticks are looked at once per turn.
const SLOTS: usize = 512;
const NONE: usize = usize::MAX;
/// Tick of an entry that is in no slot.
const UNFILED: u64 = u64::MAX;

/// Deadlines of one worker.
#[derive(Debug)]
pub struct Timers {
    wheel: RefCell<Wheel>,
    now: Cell<WorkerTime>,
}

/// One deadline, owned by a task of the worker.
#[derive(Debug)]
pub struct Timer {
    timers: Rc<Timers>,
    key: usize,
}

#[derive(Debug)]
struct Wheel {
    entries: Slab<TimerEntry>,
    /// First entry of each slot.
    slots: Vec<usize>,
    /// Last tick that was fired.
    fired: u64,
}

#[derive(Debug)]
struct TimerEntry {
    deadline: WorkerTime,
    /// Tick in whose slot the entry is linked; `UNFILED` when in none.
    filed: u64,
    previous: usize,
    next: usize,
    is_expired: bool,
    /// Start of the owner's idle time, in which it may be expired early; [`WorkerTime::NEVER`] while it may not.
    idle_since: WorkerTime,
    waker: Option<Waker>,
}

impl Timers {
    /// Creates timers that start at `now`.
    pub fn new(now: WorkerTime) -> Rc<Self> {
        let wheel = Wheel { entries: Slab::new(), slots: vec![NONE; SLOTS], fired: tick_before(now) };
        Rc::new(Self { wheel: RefCell::new(wheel), now: Cell::new(now) })
    }

    /// Returns the time of the last [`Self::advance`].
    pub fn now(&self) -> WorkerTime {
        self.now.get()
    }

    /// Returns a new timer, not armed.
    pub fn timer(self: &Rc<Self>) -> Timer {
        let entry = TimerEntry {
            deadline: WorkerTime::NEVER,
            filed: UNFILED,
            previous: NONE,
            next: NONE,
            is_expired: false,
            idle_since: WorkerTime::NEVER,
            waker: None,
        };
        let key = self.wheel.borrow_mut().entries.insert(entry);
        Timer { timers: Rc::clone(self), key }
    }

    /// Fires every deadline up to `now` and wakes its task.
    ///
    /// # Cost
    /// Proportional to the entries in the slots passed over; at most one turn of the wheel.
    pub fn advance(&self, now: WorkerTime) {
        self.now.set(now);
        let mut wheel = self.wheel.borrow_mut();
        let target = tick_before(now);
        // After a long pause every slot is passed once; no slot needs it twice.
        let first = (wheel.fired + 1).max(target.saturating_sub(SLOTS as u64 - 1));
        for tick in first..=target {
            wheel.fired = tick;
            wheel.fire(tick, now);
        }
    }

    /// Expires up to `count` timers whose owners have been idle for at least `idle`, the longest idle ones first;
    /// returns their number.
    ///
    /// # Cost
    /// Looks at every timer: for use under pressure only.
    pub fn shed(&self, count: usize, idle: Millis) -> usize {
        let mut wheel = self.wheel.borrow_mut();
        let latest = self.now.get() - idle;
        let may_be =
            wheel.entries.iter().filter(|(_, entry)| entry.idle_since <= latest && !entry.is_expired);
        let mut candidates: Vec<(WorkerTime, usize)> =
            may_be.map(|(key, entry)| (entry.idle_since, key)).collect();
        if count < candidates.len() {
            candidates.select_nth_unstable(count);
            candidates.truncate(count);
        }
        for (_, key) in &candidates {
            if let Some(entry) = wheel.entries.get_mut(*key) {
                entry.expire();
            }
        }
        candidates.len()
    }
}

impl Timer {
    /// Sets the deadline `delay` from now; it never fires early, and at most three ticks late.
    ///
    /// # Cost
    /// One store when the deadline is later than the previous one.
    pub fn arm(&self, delay: Millis) {
        self.arm_at(self.timers.now.get().deadline(delay));
    }

    /// Sets the deadline to a time on the clock of [`Timers::now`].
    pub fn arm_at(&self, deadline: WorkerTime) {
        self.timers.wheel.borrow_mut().arm(self.key, deadline);
    }

    /// Removes the deadline.
    pub fn disarm(&self) {
        self.arm_at(WorkerTime::NEVER);
    }

    /// Marks the owner as idle or busy. An idle owner may be expired early when the worker runs out of connections.
    pub fn set_idle(&self, is_idle: bool) {
        let since = if is_idle { self.timers.now.get() } else { WorkerTime::NEVER };
        if let Some(entry) = self.timers.wheel.borrow_mut().entries.get_mut(self.key) {
            entry.idle_since = since;
        }
    }

    /// Registers the current task to be woken.
    pub fn register(&self, cx: &Context<'_>) {
        if let Some(entry) = self.timers.wheel.borrow_mut().entries.get_mut(self.key) {
            match &mut entry.waker {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
        }
    }

    /// Whether the deadline has passed since it was last set.
    pub fn is_expired(&self) -> bool {
        self.timers.wheel.borrow().entries.get(self.key).is_some_and(|entry| entry.is_expired)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let mut wheel = self.timers.wheel.borrow_mut();
        wheel.unlink(self.key);
        wheel.entries.remove(self.key);
    }
}

impl Wheel {
    fn arm(&mut self, key: usize, deadline: WorkerTime) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        entry.deadline = deadline;
        entry.is_expired = false;
        // Filed at or before the new deadline: the slot comes up in time and files the entry again.
        if deadline != WorkerTime::NEVER && entry.filed > tick_after(deadline) {
            self.unlink(key);
            self.link(key, deadline);
        }
    }

    fn fire(&mut self, tick: u64, now: WorkerTime) {
        let Some(slot) = self.slots.get_mut(slot_of(tick)) else { return };
        let mut key = std::mem::replace(slot, NONE);
        while let Some(entry) = self.entries.get_mut(key) {
            let next = entry.next;
            entry.filed = UNFILED;
            entry.previous = NONE;
            entry.next = NONE;
            let deadline = entry.deadline;
            if deadline <= now {
                entry.expire();
            } else if deadline != WorkerTime::NEVER {
                self.link(key, deadline);
            }
            key = next;
        }
    }

    /// Links an unlinked entry into the slot of its deadline, or into the furthest slot before it.
    fn link(&mut self, key: usize, deadline: WorkerTime) {
        let soonest = self.fired + 1;
        let tick = tick_after(deadline).clamp(soonest, self.fired + SLOTS as u64 - 1);
        let Some(slot) = self.slots.get_mut(slot_of(tick)) else { return };
        let next = std::mem::replace(slot, key);
        if let Some(entry) = self.entries.get_mut(key) {
            entry.filed = tick;
            entry.previous = NONE;
            entry.next = next;
        }
        if let Some(entry) = self.entries.get_mut(next) {
            entry.previous = key;
        }
    }

    fn unlink(&mut self, key: usize) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        if entry.filed == UNFILED {
            return;
        }
        let (previous, next, tick) = (entry.previous, entry.next, entry.filed);
        entry.filed = UNFILED;
        if let Some(entry) = self.entries.get_mut(next) {
            entry.previous = previous;
        }
        if let Some(entry) = self.entries.get_mut(previous) {
            entry.next = next;
        } else if let Some(slot) = self.slots.get_mut(slot_of(tick)) {
            *slot = next;
        }
    }
}

impl TimerEntry {
    fn expire(&mut self) {
        self.is_expired = true;
        self.deadline = WorkerTime::NEVER;
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }
}

/// Returns the last tick up to `time`.
fn tick_before(time: WorkerTime) -> u64 {
    time.as_millis() / TICK.get()
}

/// Returns the first tick from `time` on.
fn tick_after(time: WorkerTime) -> u64 {
    time.as_millis().div_ceil(TICK.get())
}

#[expect(clippy::cast_possible_truncation, reason = "the remainder is below SLOTS")]
fn slot_of(tick: u64) -> usize {
    (tick % SLOTS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> WorkerTime {
        WorkerTime::from_millis(millis)
    }

    /// Advances tick by tick and returns when the timer fired.
    fn fires_at(timers: &Rc<Timers>, timer: &Timer, until: u64) -> Option<u64> {
        let mut now = timers.now();
        while now < at(until) {
            now += TICK;
            timers.advance(now);
            if timer.is_expired() {
                return Some(now.as_millis());
            }
        }
        None
    }

    #[test]
    fn fires_never_early_and_soon_after() {
        for delay in [0, 1, 19, 20, 21, 500, 10_219, 10_240, 10_241, 60_000, 100_001] {
            let timers = Timers::new(at(1_000_003));
            let timer = timers.timer();
            timer.arm(Millis::new(delay));
            let due = 1_000_003 + delay;
            let fired = fires_at(&timers, &timer, due + 1_000).unwrap();
            assert!(fired >= due && fired <= due + 3 * TICK.get(), "delay {delay}: due {due}, fired {fired}");
        }
    }

    #[test]
    fn a_deadline_can_be_moved_earlier_and_later() {
        let timers = Timers::new(at(0));
        let timer = timers.timer();
        timer.arm(Millis::new(100));
        timer.arm(Millis::new(5_000));
        assert_eq!(fires_at(&timers, &timer, 4_980), None);
        timer.arm(Millis::new(10_000));
        timer.arm(Millis::new(40));
        let fired = fires_at(&timers, &timer, 6_000).unwrap();
        assert!((5_020..=5_100).contains(&fired), "{fired}");
        timer.arm(Millis::new(100));
        assert!(!timer.is_expired());
        timer.disarm();
        assert_eq!(fires_at(&timers, &timer, 20_000), None);
    }

    #[test]
    fn a_moved_deadline_fires_at_its_new_time_and_no_earlier() {
        let timers = Timers::new(at(0));
        let timer = timers.timer();
        timer.arm_at(at(5_000));
        timer.arm_at(at(100));
        assert_eq!(fires_at(&timers, &timer, 6_000), Some(100));
        timer.arm_at(at(6_100));
        timer.arm_at(at(6_115));
        assert_eq!(fires_at(&timers, &timer, 7_000), Some(6_120));
    }

    #[test]
    fn a_pause_longer_than_the_wheel_fires_everything_once() {
        let timers = Timers::new(at(0));
        let all: Vec<_> = (0..2_000).map(|_| timers.timer()).collect();
        for (index, timer) in all.iter().enumerate() {
            timer.arm(Millis::new(index as u64 * 13));
        }
        timers.advance(at(1_000_000));
        assert!(all.iter().all(Timer::is_expired));
    }

    #[test]
    fn dropping_timers_in_any_order_keeps_the_others() {
        let timers = Timers::new(at(0));
        let mut all: Vec<_> = (0..100).map(|_| timers.timer()).collect();
        for timer in &all {
            timer.arm(Millis::new(200));
        }
        for index in [50, 0, 97, 3, 3] {
            all.remove(index);
        }
        timers.advance(at(300));
        assert!(all.iter().all(Timer::is_expired));
        assert_eq!(timers.wheel.borrow().entries.len(), 95);
    }

    #[test]
    fn only_connections_idle_long_enough_are_shed() {
        let timers = Timers::new(at(1_000));
        let (kept, idle, busy_again) = (timers.timer(), timers.timer(), timers.timer());
        idle.set_idle(true);
        busy_again.set_idle(true);
        busy_again.set_idle(false);
        timers.advance(at(1_099));
        assert_eq!(timers.shed(10, Millis::new(100)), 0);
        timers.advance(at(1_100));
        assert_eq!(timers.shed(10, Millis::new(100)), 1);
        assert!(idle.is_expired() && !kept.is_expired() && !busy_again.is_expired());
    }

    #[test]
    fn the_longest_idle_connections_are_shed_first() {
        let timers = Timers::new(at(0));
        let all = [300, 100, 400, 200].map(|since| (since, timers.timer()));
        for now in [100, 200, 300, 400] {
            timers.advance(at(now));
            for (since, timer) in &all {
                // The deadlines do not matter.
                timer.arm(Millis::new(10_000 - since));
                if *since == now {
                    timer.set_idle(true);
                }
            }
        }
        assert_eq!(timers.shed(2, Millis::ZERO), 2);
        let mut shed: Vec<u64> =
            all.iter().filter(|(_, timer)| timer.is_expired()).map(|(since, _)| *since).collect();
        shed.sort_unstable();
        assert_eq!(shed, [100, 200]);
        assert_eq!(timers.shed(9, Millis::ZERO), 2);
    }
}
