//! Per-worker state of a filter for its exchanges.

use eddy_filter::{Phase, Verdict};

use crate::library::PhaseContext;

/// Exchange states by number. There are as many as the worker has concurrent exchanges, which are limited.
///
/// A filter kind has one on each thread. An exchange stays on its worker, so there is no locking.
#[derive(Debug)]
pub(crate) struct Exchanges<T> {
    slots: Vec<ExchangeStateSlot<T>>,
    free: Vec<usize>,
}

#[derive(Debug)]
struct ExchangeStateSlot<T> {
    /// Counts the uses of the slot, so that a stale number does not access another exchange's state.
    turn: u32,
    facts: Option<Box<T>>,
}

impl<T> Default for Exchanges<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Exchanges<T> {
    /// Stores a state and returns its number, which is never 0.
    pub(crate) fn keep(&mut self, facts: Box<T>) -> u64 {
        let at = self.free.pop().unwrap_or(self.slots.len());
        if at == self.slots.len() {
            self.slots.push(ExchangeStateSlot { turn: 0, facts: None });
        }
        let Some(slot) = self.slots.get_mut(at) else { return 0 };
        slot.turn = slot.turn.wrapping_add(1);
        slot.facts = Some(facts);
        u64::from(slot.turn) << 32 | (at as u64 + 1)
    }

    /// Takes out a state, to be put back.
    pub(crate) fn take(&mut self, number: u64) -> Option<Box<T>> {
        self.slot(number)?.facts.take()
    }

    /// Puts back a state.
    pub(crate) fn put(&mut self, number: u64, facts: Box<T>) {
        if let Some(slot) = self.slot(number) {
            slot.facts = Some(facts);
        }
    }

    /// Drops a state and frees its slot.
    pub(crate) fn forget(&mut self, number: u64) {
        if let Some(slot) = self.slot(number) {
            slot.facts = None;
            slot.turn = slot.turn.wrapping_add(1);
            self.free.push(index(number));
        }
    }

    fn slot(&mut self, number: u64) -> Option<&mut ExchangeStateSlot<T>> {
        self.slots.get_mut(index(number)).filter(|slot| u64::from(slot.turn) == number >> 32)
    }
}

/// State of a filter for an exchange.
pub(crate) trait ExchangeState: Default {
    /// Whether the state needs to be kept.
    fn has_any(&self) -> bool;

    /// Calls `visitor` with the states of all exchanges of this worker.
    fn with_all<R>(visitor: impl FnOnce(&mut Exchanges<Self>) -> R) -> R;
}

/// Implements [`ExchangeState`] for a type, with storage on each worker. A state is kept if any of the members is
/// `Some`.
macro_rules! keep_facts {
    ($facts:ty, $($member:ident),+) => {
        thread_local! {
            /// Exchanges in progress on this worker.
            static EXCHANGES: std::cell::RefCell<$crate::protobuf::Exchanges<$facts>> =
                std::cell::RefCell::default();
        }

        impl $crate::protobuf::ExchangeState for $facts {
            fn has_any(&self) -> bool {
                $(self.$member.is_some())||+
            }

            fn with_all<R>(
                visitor: impl FnOnce(&mut $crate::protobuf::Exchanges<Self>) -> R,
            ) -> R {
                EXCHANGES.with_borrow_mut(visitor)
            }
        }
    };
}
pub(crate) use keep_facts;

/// Enters a phase with the state of its exchange; a body without state continues unchanged.
pub(crate) fn enter<T: ExchangeState>(
    answer: &mut PhaseContext<'_>,
    phase: impl FnOnce(&mut T, &mut PhaseContext<'_>) -> Verdict,
) -> Verdict {
    let mut number = *answer.state;
    if number == 0 && matches!(answer.view.phase, Phase::RequestBody | Phase::ResponseBody) {
        return Verdict::Continue;
    }
    let verdict = visit(&mut number, |facts| phase(facts, answer));
    *answer.state = number;
    verdict
}

/// Calls `visitor` with the state of an exchange; `number` identifies it, or is 0 if there is none yet.
///
/// # Cost
/// One allocation when a state is kept for the first time.
fn visit<T: ExchangeState, R>(number: &mut u64, visitor: impl FnOnce(&mut T) -> R) -> R {
    if let Some(mut facts) = T::with_all(|all| all.take(*number)) {
        let result = visitor(&mut facts);
        T::with_all(|all| all.put(*number, facts));
        return result;
    }
    let mut facts = T::default();
    let result = visitor(&mut facts);
    if facts.has_any() {
        *number = T::with_all(|all| all.keep(Box::new(facts)));
    }
    result
}

/// Returns the slot index of a number; an index without slot for 0.
fn index(number: u64) -> usize {
    usize::try_from(number & 0xffff_ffff).map_or(usize::MAX, |number| number.wrapping_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_names_one_exchange_only() {
        let mut exchanges = Exchanges::default();
        let one = exchanges.keep(Box::new('a'));
        let facts = exchanges.take(one).unwrap();
        exchanges.put(one, facts);
        exchanges.forget(one);
        assert!(exchanges.take(one).is_none());
        let two = exchanges.keep(Box::new('b'));
        assert_eq!(two & 0xffff_ffff, one & 0xffff_ffff);
        assert!(one != two && exchanges.take(one).is_none() && exchanges.take(two) == Some(Box::new('b')));
        for number in [0, u64::MAX, 1 << 32] {
            exchanges.forget(number);
            assert!(exchanges.take(number).is_none());
        }
        exchanges.forget(two);
    }
}
