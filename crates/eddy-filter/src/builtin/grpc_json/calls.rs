//! Calls that are under way on a worker.

use std::cell::RefCell;

use super::call::Call;

/// Calls by number. As many as the worker has exchanges at once, whose number has a limit.
#[derive(Default)]
struct Calls {
    slots: Vec<Slot>,
    free: Vec<usize>,
}

#[derive(Default)]
struct Slot {
    /// Counts who had the slot, so that nobody gets another's call.
    turn: u32,
    call: Option<Box<Call>>,
}

thread_local! {
    // An exchange stays on its worker, so nobody waits for anybody here.
    static CALLS: RefCell<Calls> = RefCell::default();
}

/// Keeps a call; the number is never 0.
pub(super) fn keep(call: Call) -> u64 {
    CALLS.with_borrow_mut(|calls| {
        let at = calls.free.pop().unwrap_or(calls.slots.len());
        if at == calls.slots.len() {
            calls.slots.push(Slot::default());
        }
        let Some(slot) = calls.slots.get_mut(at) else { return 0 };
        slot.turn = slot.turn.wrapping_add(1);
        slot.call = Some(Box::new(call));
        u64::from(slot.turn) << 32 | (at as u64 + 1)
    })
}

/// Takes a call out, to be put back.
pub(super) fn take(state: u64) -> Option<Box<Call>> {
    CALLS.with_borrow_mut(|calls| calls.slot(state)?.call.take())
}

/// Puts a call back.
pub(super) fn put(state: u64, call: Box<Call>) {
    CALLS.with_borrow_mut(|calls| {
        if let Some(slot) = calls.slot(state) {
            slot.call = Some(call);
        }
    });
}

/// Forgets a call.
pub(super) fn forget(state: u64) {
    CALLS.with_borrow_mut(|calls| {
        if let Some(slot) = calls.slot(state) {
            slot.call = None;
            slot.turn = slot.turn.wrapping_add(1);
            calls.free.push(index(state));
        }
    });
}

impl Calls {
    fn slot(&mut self, state: u64) -> Option<&mut Slot> {
        self.slots.get_mut(index(state)).filter(|slot| u64::from(slot.turn) == state >> 32)
    }
}

/// The slot that a number names; one that there is not for 0.
fn index(state: u64) -> usize {
    usize::try_from(state & 0xffff_ffff).map_or(usize::MAX, |number| number.wrapping_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_names_one_call_only() {
        let one = keep(Call::default());
        assert!(take(one).is_some_and(|call| {
            put(one, call);
            true
        }));
        forget(one);
        assert!(take(one).is_none());
        let two = keep(Call::default());
        assert_eq!(two & 0xffff_ffff, one & 0xffff_ffff);
        assert!(one != two && take(one).is_none() && take(two).is_some());
        for state in [0, u64::MAX, 1 << 32] {
            forget(state);
            assert!(take(state).is_none());
        }
        forget(two);
    }
}
