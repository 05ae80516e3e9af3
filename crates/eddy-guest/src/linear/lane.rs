//! Mapping of the library's numbers to those of a worker's instance.

use crate::guest::index_of;

/// The instance's numbers of filters, configurations and states.
pub(super) struct Numbers<'l> {
    pub(super) filters: &'l [u64],
    pub(super) configs: &'l [u64],
    pub(super) states: &'l States,
}

/// States of exchanges, under numbers that are unique across instances: the states of a failed instance are lost.
#[derive(Debug, Default)]
pub(super) struct States {
    generation: u32,
    slots: Vec<u64>,
    free: Vec<u32>,
}

impl Numbers<'_> {
    /// Returns the instance's number of a filter; 0 if it does not have it.
    pub(super) fn filter(&self, number: u64) -> u64 {
        own_number(self.filters, number)
    }

    /// Returns the instance's number of a configuration; 0 for none.
    pub(super) fn config(&self, number: u64) -> u64 {
        own_number(self.configs, number)
    }

    /// Returns the instance's state; 0 for none, and for the state of an earlier instance.
    pub(super) fn state(&self, number: u64) -> u64 {
        self.states.get(number).unwrap_or(0)
    }
}

/// Returns the instance's number for the library's `number`; 0 if there is none.
pub(super) fn own_number(numbers: &[u64], number: u64) -> u64 {
    index_of(number).and_then(|index| numbers.get(index)).copied().unwrap_or(0)
}

impl States {
    /// Returns the state with a number, if it belongs to this instance.
    pub(super) fn get(&self, number: u64) -> Option<u64> {
        self.slots.get(self.index(number)?).copied()
    }

    /// Whether a number belongs to an earlier instance.
    pub(super) fn is_lost(&self, number: u64) -> bool {
        number != 0 && number >> 32 != u64::from(self.generation)
    }

    /// Stores a state reported by the instance; returns its number.
    pub(super) fn put(&mut self, number: u64, state: u64) -> u64 {
        if state == 0 {
            self.end(number);
            return 0;
        }
        let known = self.index(number).and_then(|index| self.slots.get_mut(index));
        if let Some(slot) = known {
            *slot = state;
            return number;
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(0);
            u32::try_from(self.slots.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(slot) = self.slots.get_mut(index as usize) {
            *slot = state;
        }
        u64::from(self.generation) << 32 | (u64::from(index) + 1)
    }

    /// Removes a state; its number may be reused.
    pub(super) fn end(&mut self, number: u64) {
        let Some(index) = self.index(number) else { return };
        if self.slots.get(index).is_some_and(|state| *state != 0) {
            self.slots.iter_mut().skip(index).take(1).for_each(|state| *state = 0);
            self.free.extend(u32::try_from(index));
        }
    }

    /// Removes all states, because the instance was replaced.
    pub(super) fn renew(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        self.slots.clear();
        self.free.clear();
    }

    fn index(&self, number: u64) -> Option<usize> {
        if self.is_lost(number) {
            return None;
        }
        index_of(number & 0xffff_ffff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_keeps_its_number_until_it_ends() {
        let mut states = States::default();
        assert_eq!(states.put(0, 0), 0);
        let one = states.put(0, 7);
        assert_eq!(states.get(one), Some(7));
        assert_eq!(states.put(one, 8), one);
        assert_eq!(states.get(one), Some(8));
        let other = states.put(0, 9);
        assert_ne!(one, other);
        assert_eq!(states.put(one, 0), 0);
        assert_eq!(states.get(one), Some(0));
        states.end(one);
        assert_eq!(states.put(0, 10), one, "the slot is used again, once");
        assert_eq!(states.put(0, 11) & 0xffff_ffff, 3);
    }

    #[test]
    fn states_are_lost_with_their_instance() {
        let mut states = States::default();
        let one = states.put(0, 7);
        states.renew();
        assert!(states.is_lost(one) && !states.is_lost(0));
        assert_eq!(states.get(one), None);
        let other = states.put(0, 8);
        assert!(one != other && !states.is_lost(other));
        states.end(one);
        assert_eq!(states.get(other), Some(8));
    }
}
