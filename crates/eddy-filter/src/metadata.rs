//! Metadata of an exchange, set by filters for later filters.

use thiserror::Error;

/// Values by namespace and key, in the order in which they were first set.
#[derive(Clone, Debug, Default)]
pub struct DynamicMetadata {
    entries: Vec<MetadataEntry>,
    bytes: usize,
}

#[derive(Clone, Debug)]
struct MetadataEntry {
    space: Box<[u8]>,
    key: Box<[u8]>,
    value: Box<[u8]>,
}

/// Namespace and key under which the built-in filter `request_id` stores the ID of a request, a JSON string.
pub const REQUEST_ID_METADATA: (&[u8], &[u8]) = (b"request_id", b"id");

/// Error of metadata without room for another value.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the metadata of the exchange would be larger than 64 KiB or more than 256 values")]
pub struct MetadataFull;

impl DynamicMetadata {
    /// Creates empty metadata.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.bytes = 0;
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Sets a value; an empty value removes it.
    ///
    /// # Errors
    /// [`MetadataFull`]; the metadata is then unchanged.
    pub fn set(&mut self, space: &[u8], key: &[u8], value: &[u8]) -> Result<(), MetadataFull> {
        let place = self.entries.iter().position(|entry| *entry.space == *space && *entry.key == *key);
        let before = place.and_then(|place| self.entries.get(place)).map_or(0, MetadataEntry::size);
        let size = if value.is_empty() { 0 } else { space.len() + key.len() + value.len() };
        let is_new = place.is_none() && !value.is_empty();
        if self.bytes - before + size > METADATA_BYTES_MAX || (is_new && self.entries.len() >= ENTRIES_MAX) {
            return Err(MetadataFull);
        }
        self.bytes = self.bytes - before + size;
        match place {
            Some(place) if value.is_empty() => {
                self.entries.remove(place);
            }
            Some(place) => {
                if let Some(entry) = self.entries.get_mut(place) {
                    entry.value = value.into();
                }
            }
            None if value.is_empty() => {}
            None => {
                self.entries.push(MetadataEntry {
                    space: space.into(),
                    key: key.into(),
                    value: value.into(),
                });
            }
        }
        Ok(())
    }

    /// Whether there is room for `entries` more values with `bytes` bytes of namespaces, keys and values.
    pub fn has_room(&self, entries: usize, bytes: usize) -> bool {
        self.entries.len() + entries <= ENTRIES_MAX && self.bytes + bytes <= METADATA_BYTES_MAX
    }

    /// Returns the value of a key.
    pub fn get(&self, space: &[u8], key: &[u8]) -> Option<&[u8]> {
        self.iter()
            .find(|(its_space, its_key, _)| *its_space == space && *its_key == key)
            .map(|(_, _, value)| value)
    }

    /// Returns all values: namespace, key, JSON.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], &[u8], &[u8])> {
        self.entries.iter().map(|entry| (&*entry.space, &*entry.key, &*entry.value))
    }
}

impl MetadataEntry {
    fn size(&self) -> usize {
        self.space.len() + self.key.len() + self.value.len()
    }
}

/// Maximum size in bytes of all namespaces, keys and values of an exchange.
pub const METADATA_BYTES_MAX: usize = 64 * 1024;

const ENTRIES_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_replaced_and_removed() {
        let mut metadata = DynamicMetadata::new();
        metadata.set(b"auth", b"user", b"\"a\"").unwrap();
        metadata.set(b"auth", b"role", b"1").unwrap();
        metadata.set(b"auth", b"user", b"\"b\"").unwrap();
        assert_eq!(metadata.get(b"auth", b"user"), Some(b"\"b\"".as_slice()));
        metadata.set(b"auth", b"user", b"").unwrap();
        metadata.set(b"auth", b"none", b"").unwrap();
        assert_eq!(metadata.iter().collect::<Vec<_>>(), [(&b"auth"[..], &b"role"[..], &b"1"[..])]);
        metadata.clear();
        assert!(metadata.is_empty() && metadata.bytes == 0);
    }

    #[test]
    fn metadata_is_limited_in_size() {
        let mut metadata = DynamicMetadata::new();
        let large = vec![b'1'; METADATA_BYTES_MAX - 2];
        metadata.set(b"a", b"b", &large).unwrap();
        assert!(metadata.has_room(0, 0) && !metadata.has_room(1, 3));
        assert_eq!(metadata.set(b"a", b"c", b"1"), Err(MetadataFull));
        metadata.set(b"a", b"b", b"1").unwrap();
        for index in 0..ENTRIES_MAX - 1 {
            metadata.set(b"n", index.to_string().as_bytes(), b"1").unwrap();
        }
        assert_eq!(metadata.set(b"n", b"more", b"1"), Err(MetadataFull));
        metadata.set(b"n", b"0", b"2").unwrap();
    }
}
