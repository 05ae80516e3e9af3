//! Hashes that name bundles and workspaces.

use sha2::{Digest, Sha256};

/// Returns a hash of these parts.
pub(crate) fn hashed<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hash = Hash::new();
    parts.for_each(|part| hash.add(part));
    hash.finish()
}

/// Hash of parts.
pub(super) struct Hash(Sha256);

impl Hash {
    /// Adds a part prefixed by its length, so that different lists of parts have different hashes.
    pub(super) fn add(&mut self, part: impl AsRef<[u8]>) {
        let part = part.as_ref();
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    pub(super) fn new() -> Self {
        Self(Sha256::new())
    }

    pub(super) fn finish(self) -> String {
        self.0.finalize().iter().take(KEY_BYTES).map(|byte| format!("{byte:02x}")).collect()
    }
}

const KEY_BYTES: usize = 16;
