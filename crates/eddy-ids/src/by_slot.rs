//! `BySlot`: values beside the parts of a configuration, found by identifier.

use std::marker::PhantomData;

use crate::id::{IdParts, SlotId};

/// Values that belong to parts of a configuration, such as the compiled TLS settings of its listeners.
#[derive(Clone, Debug)]
pub struct BySlot<I, V> {
    /// By slot.
    entries: Vec<Option<OwnedValue<V>>>,
    ids: PhantomData<I>,
}

/// A value with the generation of the part that it belongs to.
#[derive(Clone, Debug)]
struct OwnedValue<V> {
    generation: u32,
    value: V,
}

impl<I: SlotId, V> BySlot<I, V> {
    /// Adds the value of a part and returns the one it had. The value of an earlier part of the same slot goes.
    pub fn insert(&mut self, id: I, value: V) -> Option<V> {
        let IdParts { generation, .. } = id.parts();
        let position = id.parts().position();
        if self.entries.len() <= position {
            self.entries.resize_with(position + 1, || None);
        }
        let entry = self.entries.get_mut(position)?;
        let before = entry.replace(OwnedValue { generation, value })?;
        (before.generation == generation).then_some(before.value)
    }

    /// Returns the value of a part.
    pub fn get(&self, id: I) -> Option<&V> {
        let entry = self.entries.get(id.parts().position())?.as_ref()?;
        (entry.generation == id.parts().generation).then_some(&entry.value)
    }

    /// Returns the value of a part, to change it.
    pub fn get_mut(&mut self, id: I) -> Option<&mut V> {
        let entry = self.entries.get_mut(id.parts().position())?.as_mut()?;
        (entry.generation == id.parts().generation).then_some(&mut entry.value)
    }

    /// Removes the value of a part and returns it.
    pub fn remove(&mut self, id: I) -> Option<V> {
        self.get(id)?;
        let entry = self.entries.get_mut(id.parts().position())?.take();
        entry.map(|entry| entry.value)
    }

    /// Returns all values, in the order of slots.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// Returns all values with their identifiers, in the order of slots.
    pub fn iter(&self) -> impl Iterator<Item = (I, &V)> {
        (0..).zip(&self.entries).filter_map(|(slot, entry)| {
            let entry = entry.as_ref()?;
            Some((I::from_parts(IdParts { slot, generation: entry.generation }), &entry.value))
        })
    }
}

impl<I: SlotId, V> FromIterator<(I, V)> for BySlot<I, V> {
    fn from_iter<T: IntoIterator<Item = (I, V)>>(values: T) -> Self {
        let mut by_slot = Self::default();
        values.into_iter().for_each(|(id, value)| drop(by_slot.insert(id, value)));
        by_slot
    }
}

impl<I, V> Default for BySlot<I, V> {
    fn default() -> Self {
        Self { entries: Vec::new(), ids: PhantomData }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ClusterId;

    fn id(slot: u32, generation: u32) -> ClusterId {
        ClusterId::from_parts(IdParts { slot, generation })
    }

    #[test]
    fn a_value_is_found_by_its_own_generation_only() {
        let mut values = BySlot::default();
        assert_eq!(values.insert(id(2, 0), "a"), None);
        assert_eq!(
            (values.get(id(2, 0)), values.get(id(2, 1)), values.get(id(1, 0))),
            (Some(&"a"), None, None)
        );
        assert_eq!(values.insert(id(2, 0), "b"), Some("a"));
        assert_eq!(values.remove(id(2, 1)), None);
        assert_eq!(values.remove(id(2, 0)), Some("b"));
        assert_eq!(values.get(id(2, 0)), None);
    }

    #[test]
    fn a_later_generation_of_a_slot_replaces_an_earlier_one() {
        let mut values = BySlot::default();
        values.insert(id(0, 0), "old");
        values.insert(id(3, 0), "other");
        assert_eq!(values.insert(id(0, 1), "new"), None);
        assert_eq!(values.get(id(0, 0)), None);
        assert_eq!(values.iter().collect::<Vec<_>>(), [(id(0, 1), &"new"), (id(3, 0), &"other")]);
    }
}
