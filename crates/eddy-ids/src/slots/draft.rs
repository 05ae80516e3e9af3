//! `SlotsDraft`: the parts of the next configuration while it is read.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;

use super::table::{Slot, Slots};
use crate::id::{IdParts, SlotId};
use crate::shared::Shared;

/// The next [`Slots`] while they are collected.
///
/// An identifier is final as soon as it is handed out: a key that the last configuration had keeps its own, another
/// key gets a slot that no part of the last configuration uses.
pub struct SlotsDraft<'l, I, K, T> {
    last: &'l Slots<I, K, T>,
    entries: Vec<DraftedSlot<K, T>>,
    /// Slots that neither the last configuration nor this draft uses, the lowest at the end.
    free: Vec<u32>,
    by_key: HashMap<K, I>,
    order: Vec<I>,
}

struct DraftedSlot<K, T> {
    generation: u32,
    /// Key that reserved the slot in this draft.
    key: Option<K>,
    value: Option<T>,
}

/// Lists the values so far, in the order of definition.
impl<I: SlotId, K: Clone + Eq + Hash, T: fmt::Debug> fmt::Debug for SlotsDraft<'_, I, K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// A key that already has a value; the second one was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DuplicateKey<I>(pub I);

impl<I: SlotId, K: Clone + Eq + Hash, T> Slots<I, K, T> {
    /// Begins the next configuration.
    pub fn draft(&self) -> SlotsDraft<'_, I, K, T> {
        let entries = self.entries.iter();
        let entries = entries.map(|slot| DraftedSlot { generation: slot.generation, key: None, value: None });
        let slots = (0..).zip(&self.entries).filter(|(_, slot)| slot.value.is_none());
        let mut free: Vec<u32> = slots.map(|(slot, _)| slot).collect();
        free.reverse();
        SlotsDraft { entries: entries.collect(), free, by_key: HashMap::new(), order: Vec::new(), last: self }
    }
}

impl<I: SlotId, K: Clone + Eq + Hash, T> SlotsDraft<'_, I, K, T> {
    /// Returns the identifier of a key, whose value may follow later.
    pub fn reserve(&mut self, key: K) -> I {
        if let Some(id) = self.by_key.get(&key) {
            return *id;
        }
        let id = self.last.by_key.get(&key).copied().unwrap_or_else(|| self.take_slot());
        if let Some(slot) = self.entries.get_mut(id.parts().position()) {
            slot.key = Some(key.clone());
        }
        self.by_key.insert(key, id);
        id
    }

    /// Takes a free slot, or a new one.
    fn take_slot(&mut self) -> I {
        let slot = self.free.pop().unwrap_or_else(|| {
            let slot =
                u32::try_from(self.entries.len()).expect("a configuration has fewer parts than a u32 counts");
            self.entries.push(DraftedSlot { generation: 0, key: None, value: None });
            slot
        });
        let generation = self.entries.get(slot as usize).map_or(0, |entry| entry.generation);
        I::from_parts(IdParts { slot, generation })
    }

    /// Adds a part.
    ///
    /// # Errors
    /// [`DuplicateKey`] when the key has a value already, which stays.
    pub fn define(&mut self, key: K, value: T) -> Result<I, DuplicateKey<I>> {
        let id = self.reserve(key);
        let slot = self.entries.get_mut(id.parts().position());
        match slot.filter(|slot| slot.value.is_none()) {
            Some(slot) => slot.value = Some(value),
            None => return Err(DuplicateKey(id)),
        }
        self.order.push(id);
        Ok(id)
    }

    /// Returns a part that was defined in this draft.
    pub fn get(&self, id: I) -> Option<&T> {
        let slot = self.entries.get(id.parts().position())?;
        slot.value.as_ref().filter(|_| slot.generation == id.parts().generation)
    }

    /// Returns a part that was defined in this draft, to change it.
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        let slot = self.entries.get_mut(id.parts().position())?;
        slot.value.as_mut().filter(|_| slot.generation == id.parts().generation)
    }

    /// Returns the identifier of a key that was reserved or defined in this draft.
    pub fn id_of<Q: ?Sized + Eq + Hash>(&self, key: &Q) -> Option<I>
    where
        K: Borrow<Q>,
    {
        self.by_key.get(key).copied()
    }

    /// Whether a key has a value; one that is only reserved has none.
    pub fn has_value<Q: ?Sized + Eq + Hash>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.id_of(key).is_some_and(|id| self.get(id).is_some())
    }

    /// Returns the values so far, in the order of definition.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.order.iter().filter_map(|id| Some((*id, self.get(*id)?)))
    }

    /// Completes the configuration. Parts whose value is that of the last configuration keep its reference; keys
    /// without a value are gone, and their slots get another generation.
    pub fn finish(self) -> Slots<I, K, T>
    where
        T: PartialEq,
    {
        let Self { last, entries, free, mut by_key, order } = self;
        let entries = (0..).zip(entries).map(|(slot, drafted): (u32, _)| {
            let id = I::from_parts(IdParts { slot, generation: drafted.generation });
            match drafted.value {
                Some(value) => Slot { generation: drafted.generation, value: Some(last.reuse(id, value)) },
                None => {
                    drafted.key.and_then(|key| by_key.remove(&key));
                    // A slot that was used is used again under another generation. 2³² reloads exhaust one.
                    let is_free = free.binary_search_by(|other| slot.cmp(other)).is_ok();
                    Slot { generation: drafted.generation.wrapping_add(u32::from(!is_free)), value: None }
                }
            }
        });
        let entries = entries.collect();
        let slots = Slots { entries, by_key, order };
        if cfg!(debug_assertions) {
            slots.check_invariants();
        }
        slots
    }
}

impl<I: SlotId, K: Eq + Hash, T: PartialEq> Slots<I, K, T> {
    /// Returns the reference that a part has here, if its value is the same, else a new one.
    fn reuse(&self, id: I, value: T) -> Shared<T> {
        match self.get(id) {
            Some(before) if **before == value => Shared::clone(before),
            _ => Shared::new(value),
        }
    }
}
