//! `Slots`: parts of a configuration, by identifier and by key.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::ops::Index;

use crate::id::{IdParts, SlotId};
use crate::shared::Shared;

/// The parts of one kind in a configuration, each with an identifier and a key, such as a name. It never changes; a
/// [`SlotsDraft`](crate::SlotsDraft) makes the next one.
#[derive(Clone)]
pub struct Slots<I, K, T> {
    pub(super) entries: Vec<Slot<T>>,
    pub(super) by_key: HashMap<K, I>,
    /// Identifiers of all values, in the order of their definition.
    pub(super) order: Vec<I>,
}

/// One slot: its value, or the generation that its next value gets.
#[derive(Clone, Debug)]
pub(super) struct Slot<T> {
    pub(super) generation: u32,
    pub(super) value: Option<Shared<T>>,
}

/// Differences between two configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotChanges<I> {
    /// Parts that only the later configuration has.
    pub added: Vec<I>,
    /// Parts that only the earlier configuration has.
    pub removed: Vec<I>,
    /// Parts that both have, with different values.
    pub changed: Vec<I>,
}

impl<I: SlotId, K: Eq + Hash, T> Slots<I, K, T> {
    /// Returns the identifier of the part with a key.
    pub fn id_of<Q: ?Sized + Eq + Hash>(&self, key: &Q) -> Option<I>
    where
        K: Borrow<Q>,
    {
        self.by_key.get(key).copied()
    }
}

impl<I: SlotId, K, T> Slots<I, K, T> {
    /// Returns a part.
    pub fn get(&self, id: I) -> Option<&Shared<T>> {
        let slot = self.entries.get(id.parts().position())?;
        slot.value.as_ref().filter(|_| slot.generation == id.parts().generation)
    }

    /// Returns all parts with their identifiers, in the order of their definition.
    pub fn iter(&self) -> impl Iterator<Item = (I, &Shared<T>)> {
        self.order.iter().filter_map(|id| Some((*id, self.get(*id)?)))
    }

    /// Changes a part; others that share it keep it as it was.
    ///
    /// # Panics
    /// When this configuration has no such part.
    pub fn update(&mut self, id: I, change: impl FnOnce(&mut T))
    where
        T: Clone,
    {
        let IdParts { slot, generation } = id.parts();
        let slot = self.entries.get_mut(slot as usize).filter(|slot| slot.generation == generation);
        let value = slot.and_then(|slot| slot.value.as_mut());
        change(value.expect("an identifier is used with the configuration that it came from").make_mut());
    }

    /// Returns the part at a position in the order of definition, from 0.
    pub fn nth(&self, position: usize) -> Option<(I, &Shared<T>)> {
        let id = *self.order.get(position)?;
        Some((id, self.get(id)?))
    }

    /// Returns all parts, in the order of their definition.
    pub fn values(&self) -> impl Iterator<Item = &Shared<T>> {
        self.iter().map(|(_, value)| value)
    }

    /// Returns the part that was defined first.
    pub fn first(&self) -> Option<&Shared<T>> {
        self.values().next()
    }

    /// Returns the number of parts.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are no parts.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Compares with an earlier configuration, by reference: a draft keeps the references of unchanged values.
    ///
    /// # Cost
    /// Linear in the number of parts; no value is compared.
    pub fn changes(&self, last: &Self) -> SlotChanges<I> {
        let mut changes = SlotChanges { added: Vec::new(), removed: Vec::new(), changed: Vec::new() };
        for (id, value) in self.iter() {
            match last.get(id) {
                None => changes.added.push(id),
                Some(before) if !before.is_same(value) => changes.changed.push(id),
                Some(_) => {}
            }
        }
        changes.removed.extend(last.order.iter().filter(|id| self.get(**id).is_none()));
        changes
    }

    /// Checks that slots, keys and order agree.
    ///
    /// # Panics
    /// When they do not.
    pub fn check_invariants(&self) {
        let used = self.entries.iter().filter(|slot| slot.value.is_some()).count();
        assert_eq!(
            (self.order.len(), self.by_key.len()),
            (used, used),
            "each value has a key and a position"
        );
        assert!(self.order.iter().all(|id| self.get(*id).is_some()), "each position is that of a value");
        let mut slots: Vec<IdParts> = self.by_key.values().map(|id| id.parts()).collect();
        slots.sort_unstable();
        slots.dedup_by_key(|parts| parts.slot);
        assert_eq!(slots.len(), used, "no two keys have the same value");
        assert!(self.by_key.values().all(|id| self.get(*id).is_some()), "each key is that of a value");
    }
}

/// Lists the parts in the order of definition.
impl<I: SlotId, K, T: fmt::Debug> fmt::Debug for Slots<I, K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Returns the part with an identifier that came from the same configuration.
///
/// # Panics
/// When this configuration has no such part.
impl<I: SlotId, K, T> Index<I> for Slots<I, K, T> {
    type Output = Shared<T>;

    fn index(&self, id: I) -> &Shared<T> {
        self.get(id).expect("an identifier is used with the configuration that it came from")
    }
}

impl<I, K, T> Default for Slots<I, K, T> {
    fn default() -> Self {
        Self { entries: Vec::new(), by_key: HashMap::new(), order: Vec::new() }
    }
}
