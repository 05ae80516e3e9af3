//! Deadlines of a worker: a timer wheel that is cheap to arm and coarse to fire.
//!
//! Most deadlines never fire: the next event of their connection moves them. So arming a later deadline only stores it;
//! the wheel notices when the old one comes up, and files the entry again.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};

use slab::Slab;

/// Interval at which a worker advances its timers, in milliseconds; deadlines fire up to one tick late.
pub const TICK_MS: u64 = 20;

/// Slots of the wheel. Deadlines further away than this many ticks are looked at once per turn.
const SLOTS: usize = 512;
const NONE: usize = usize::MAX;
const NEVER: u64 = u64::MAX;

/// Deadlines of one worker.
#[derive(Debug)]
pub struct Timers {
    wheel: RefCell<Wheel>,
    now_ms: Cell<u64>,
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
    deadline_ms: u64,
    /// Tick in whose slot the entry is linked; `NEVER` when in none.
    filed: u64,
    previous: usize,
    next: usize,
    is_expired: bool,
    /// Start of the owner's idle time, in which it may be expired early; `NEVER` while it may not.
    idle_since_ms: u64,
    waker: Option<Waker>,
}

impl Timers {
    /// Creates timers that start at `now_ms`.
    pub fn new(now_ms: u64) -> Rc<Self> {
        let wheel = Wheel { entries: Slab::new(), slots: vec![NONE; SLOTS], fired: now_ms / TICK_MS };
        Rc::new(Self { wheel: RefCell::new(wheel), now_ms: Cell::new(now_ms) })
    }

    /// Returns the time of the last [`Self::advance`], in milliseconds.
    pub fn now_ms(&self) -> u64 {
        self.now_ms.get()
    }

    /// Returns a new timer, not armed.
    pub fn timer(self: &Rc<Self>) -> Timer {
        let entry = TimerEntry {
            deadline_ms: NEVER,
            filed: NEVER,
            previous: NONE,
            next: NONE,
            is_expired: false,
            idle_since_ms: NEVER,
            waker: None,
        };
        let key = self.wheel.borrow_mut().entries.insert(entry);
        Timer { timers: Rc::clone(self), key }
    }

    /// Fires every deadline up to `now_ms` and wakes its task.
    ///
    /// # Cost
    /// Proportional to the entries in the slots passed over; at most one turn of the wheel.
    pub fn advance(&self, now_ms: u64) {
        self.now_ms.set(now_ms);
        let mut wheel = self.wheel.borrow_mut();
        let target = now_ms / TICK_MS;
        // After a long pause every slot is passed once; no slot needs it twice.
        let first = (wheel.fired + 1).max(target.saturating_sub(SLOTS as u64 - 1));
        for tick in first..=target {
            wheel.fired = tick;
            wheel.fire(tick, now_ms);
        }
    }

    /// Expires up to `count` timers whose owners have been idle for at least `idle_ms`, the longest idle ones first;
    /// returns their number.
    ///
    /// # Cost
    /// Looks at every timer: for use under pressure only.
    pub fn shed(&self, count: usize, idle_ms: u64) -> usize {
        let mut wheel = self.wheel.borrow_mut();
        let latest = self.now_ms.get().saturating_sub(idle_ms);
        let may_be =
            wheel.entries.iter().filter(|(_, entry)| entry.idle_since_ms <= latest && !entry.is_expired);
        let mut candidates: Vec<(u64, usize)> =
            may_be.map(|(key, entry)| (entry.idle_since_ms, key)).collect();
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
    /// Sets the deadline `delay_ms` from now; it never fires early, and at most three ticks late.
    ///
    /// # Cost
    /// One store when the deadline is later than the previous one.
    pub fn arm(&self, delay_ms: u64) {
        // The known time may be one tick old; the timer must not fire early because of that.
        self.arm_at(self.timers.now_ms.get().saturating_add(delay_ms).saturating_add(TICK_MS));
    }

    /// Sets the deadline to a time on the clock of [`Timers::now_ms`].
    pub fn arm_at(&self, deadline_ms: u64) {
        self.timers.wheel.borrow_mut().arm(self.key, deadline_ms);
    }

    /// Removes the deadline.
    pub fn disarm(&self) {
        self.arm_at(NEVER);
    }

    /// Marks the owner as idle or busy. An idle owner may be expired early when the worker runs out of connections.
    pub fn set_idle(&self, is_idle: bool) {
        let since_ms = if is_idle { self.timers.now_ms.get() } else { NEVER };
        if let Some(entry) = self.timers.wheel.borrow_mut().entries.get_mut(self.key) {
            entry.idle_since_ms = since_ms;
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
    fn arm(&mut self, key: usize, deadline_ms: u64) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        entry.deadline_ms = deadline_ms;
        entry.is_expired = false;
        // Filed at or before the new deadline: the slot comes up in time and files the entry again.
        if deadline_ms != NEVER && entry.filed > deadline_ms.div_ceil(TICK_MS) {
            self.unlink(key);
            self.link(key, deadline_ms);
        }
    }

    fn fire(&mut self, tick: u64, now_ms: u64) {
        let Some(slot) = self.slots.get_mut(slot_of(tick)) else { return };
        let mut key = std::mem::replace(slot, NONE);
        while let Some(entry) = self.entries.get_mut(key) {
            let next = entry.next;
            entry.filed = NEVER;
            entry.previous = NONE;
            entry.next = NONE;
            let deadline_ms = entry.deadline_ms;
            if deadline_ms <= now_ms {
                entry.expire();
            } else if deadline_ms != NEVER {
                self.link(key, deadline_ms);
            }
            key = next;
        }
    }

    /// Links an unlinked entry into the slot of its deadline, or into the furthest slot before it.
    fn link(&mut self, key: usize, deadline_ms: u64) {
        let soonest = self.fired + 1;
        let tick = deadline_ms.div_ceil(TICK_MS).clamp(soonest, self.fired + SLOTS as u64 - 1);
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
        if entry.filed == NEVER {
            return;
        }
        let (previous, next, tick) = (entry.previous, entry.next, entry.filed);
        entry.filed = NEVER;
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
        self.deadline_ms = NEVER;
        if let Some(waker) = &self.waker {
            waker.wake_by_ref();
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the remainder is below SLOTS")]
fn slot_of(tick: u64) -> usize {
    (tick % SLOTS as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Advances tick by tick and returns when the timer fired.
    fn fires_at(timers: &Rc<Timers>, timer: &Timer, until_ms: u64) -> Option<u64> {
        let mut now = timers.now_ms();
        while now < until_ms {
            now += TICK_MS;
            timers.advance(now);
            if timer.is_expired() {
                return Some(now);
            }
        }
        None
    }

    #[test]
    fn fires_never_early_and_soon_after() {
        for delay in [0, 1, 19, 20, 21, 500, 10_219, 10_240, 10_241, 60_000, 100_001] {
            let timers = Timers::new(1_000_003);
            let timer = timers.timer();
            timer.arm(delay);
            let due = 1_000_003 + delay;
            let fired = fires_at(&timers, &timer, due + 1_000).unwrap();
            assert!(fired >= due && fired <= due + 3 * TICK_MS, "delay {delay}: due {due}, fired {fired}");
        }
    }

    #[test]
    fn moving_a_deadline_holds_both_ways() {
        let timers = Timers::new(0);
        let timer = timers.timer();
        timer.arm(100);
        timer.arm(5_000);
        assert_eq!(fires_at(&timers, &timer, 4_980), None);
        timer.arm(10_000);
        timer.arm(40);
        let fired = fires_at(&timers, &timer, 6_000).unwrap();
        assert!((5_020..=5_100).contains(&fired), "{fired}");
        timer.arm(100);
        assert!(!timer.is_expired());
        timer.disarm();
        assert_eq!(fires_at(&timers, &timer, 20_000), None);
    }

    #[test]
    fn a_deadline_that_is_moved_comes_at_its_new_time_and_no_earlier() {
        let timers = Timers::new(0);
        let timer = timers.timer();
        timer.arm_at(5_000);
        timer.arm_at(100);
        assert_eq!(fires_at(&timers, &timer, 6_000), Some(100));
        timer.arm_at(6_100);
        timer.arm_at(6_115);
        assert_eq!(fires_at(&timers, &timer, 7_000), Some(6_120));
    }

    #[test]
    fn a_pause_longer_than_the_wheel_fires_everything_once() {
        let timers = Timers::new(0);
        let all: Vec<_> = (0..2_000).map(|_| timers.timer()).collect();
        for (index, timer) in all.iter().enumerate() {
            timer.arm(index as u64 * 13);
        }
        timers.advance(1_000_000);
        assert!(all.iter().all(Timer::is_expired));
    }

    #[test]
    fn dropping_timers_in_any_order_keeps_the_others() {
        let timers = Timers::new(0);
        let mut all: Vec<_> = (0..100).map(|_| timers.timer()).collect();
        for timer in &all {
            timer.arm(200);
        }
        for index in [50, 0, 97, 3, 3] {
            all.remove(index);
        }
        timers.advance(300);
        assert!(all.iter().all(Timer::is_expired));
        assert_eq!(timers.wheel.borrow().entries.len(), 95);
    }

    #[test]
    fn only_those_that_are_idle_long_enough_are_shed() {
        let timers = Timers::new(1_000);
        let (kept, idle, busy_again) = (timers.timer(), timers.timer(), timers.timer());
        idle.set_idle(true);
        busy_again.set_idle(true);
        busy_again.set_idle(false);
        timers.advance(1_099);
        assert_eq!(timers.shed(10, 100), 0);
        timers.advance(1_100);
        assert_eq!(timers.shed(10, 100), 1);
        assert!(idle.is_expired() && !kept.is_expired() && !busy_again.is_expired());
    }

    #[test]
    fn those_idle_longest_are_shed_first() {
        let timers = Timers::new(0);
        let all = [300, 100, 400, 200].map(|since| (since, timers.timer()));
        for now in [100, 200, 300, 400] {
            timers.advance(now);
            for (since, timer) in &all {
                // The deadlines do not matter.
                timer.arm(10_000 - since);
                if *since == now {
                    timer.set_idle(true);
                }
            }
        }
        assert_eq!(timers.shed(2, 0), 2);
        let mut shed: Vec<u64> =
            all.iter().filter(|(_, timer)| timer.is_expired()).map(|(since, _)| *since).collect();
        shed.sort_unstable();
        assert_eq!(shed, [100, 200]);
        assert_eq!(timers.shed(9, 0), 2);
    }
}
