//! Lookup tables for fields by number or name.

/// Finds an index by number: small numbers by direct index, others by binary search.
#[derive(Debug, Default)]
pub(crate) struct NumberTable {
    dense: Box<[u16]>,
    sparse: Box<[(u32, u16)]>,
}

impl NumberTable {
    /// Builds the table from pairs of number and index.
    pub(crate) fn build(pairs: impl Iterator<Item = (u32, u16)>) -> Self {
        let mut pairs: Vec<(u32, u16)> = pairs.collect();
        pairs.sort_unstable();
        let is_dense = |(number, _): &(u32, u16)| (*number as usize) < DENSE_MIN.max(4 * pairs.len());
        let split = pairs.partition_point(is_dense);
        let sparse = pairs.split_off(split).into();
        let last = pairs.last().map_or(0, |(number, _)| *number as usize + 1);
        let mut dense = vec![NONE; last];
        for (number, index) in pairs {
            if let Some(place) = dense.get_mut(number as usize) {
                *place = index;
            }
        }
        Self { dense: dense.into(), sparse }
    }

    /// Returns the index of a number.
    #[inline]
    pub(crate) fn find(&self, number: u32) -> Option<u16> {
        match self.dense.get(number as usize) {
            Some(&NONE) => None,
            Some(index) => Some(*index),
            None if self.sparse.is_empty() => None,
            None => {
                let at = self.sparse.binary_search_by_key(&number, |(number, _)| *number).ok()?;
                self.sparse.get(at).map(|(_, index)| *index)
            }
        }
    }
}

/// Finds an index by name; the names themselves are stored elsewhere.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    /// Slots, a power of two, each an index or [`NONE`].
    places: Box<[u16]>,
}

impl NameTable {
    /// Builds the table from pairs of name and index; the first of two equal names is found.
    pub(crate) fn build(pairs: &[(&[u8], u16)]) -> Self {
        let size = (pairs.len() * 2).next_power_of_two();
        let mut places = vec![NONE; size];
        for (name, index) in pairs {
            let mut at = hash(name) as usize & (size - 1);
            while let Some(place) = places.get_mut(at) {
                if *place == NONE {
                    *place = *index;
                    break;
                }
                at = (at + 1) & (size - 1);
            }
        }
        Self { places: places.into() }
    }

    /// Returns the first index in the name's slots for which `is_it` returns `true`.
    #[inline]
    pub(crate) fn find(&self, name: &[u8], is_it: impl Fn(u16) -> bool) -> Option<u16> {
        let mask = self.places.len().checked_sub(1)?;
        let mut at = hash(name) as usize & mask;
        loop {
            let index = *self.places.get(at)?;
            if index == NONE {
                return None;
            }
            if is_it(index) {
                return Some(index);
            }
            at = (at + 1) & mask;
        }
    }
}

/// Returns a hash of a name. Names come from the schema, so that no peer can choose collisions at run time.
#[inline]
pub(crate) fn hash(name: &[u8]) -> u32 {
    let mut state = name.len() as u64;
    let (chunks, rest) = name.as_chunks::<8>();
    for chunk in chunks {
        state = (state.rotate_left(5) ^ u64::from_le_bytes(*chunk)).wrapping_mul(MULTIPLIER);
    }
    let tail = rest.iter().fold(0, |tail, byte| tail << 8 | u64::from(*byte));
    state = (state.rotate_left(5) ^ tail).wrapping_mul(MULTIPLIER);
    (state >> 32) as u32
}

const NONE: u16 = u16::MAX;
/// Numbers below this are always looked up by direct index.
const DENSE_MIN: usize = 64;
const MULTIPLIER: u64 = 0x517c_c1b7_2722_0a95;
