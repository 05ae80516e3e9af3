//! Size of a program file.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Sizes of a program file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BinarySize {
    /// The whole file, including symbols.
    pub file_bytes: u64,
    /// Bytes that are loaded to run it.
    pub loaded_bytes: Option<u64>,
}

/// Measures the program at `path`.
pub fn size(path: &Path) -> Result<BinarySize> {
    let bytes = fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    Ok(BinarySize { file_bytes: bytes.len() as u64, loaded_bytes: loaded_bytes(&bytes) })
}

/// Adds up the loadable segments of a 64-bit little-endian ELF file.
fn loaded_bytes(bytes: &[u8]) -> Option<u64> {
    if bytes.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let table = usize::try_from(word(bytes, 0x20)?).ok()?;
    let entry_bytes = usize::from(half(bytes, 0x36)?);
    let count = usize::from(half(bytes, 0x38)?);
    let mut sum = 0;
    for index in 0..count {
        let entry = bytes.get(table + index * entry_bytes..)?;
        if entry.get(..4)? == LOAD {
            sum += word(entry, 0x20)?;
        }
    }
    Some(sum)
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// `PT_LOAD`.
const LOAD: &[u8] = &[1, 0, 0, 0];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_program_is_measured() {
        let size = size(&std::env::current_exe().unwrap()).unwrap();
        let loaded = size.loaded_bytes.unwrap();
        assert!(loaded > 100_000 && loaded < size.file_bytes, "{size:?}");
    }

    #[test]
    fn a_script_has_no_segments() {
        assert_eq!(loaded_bytes(b"#!/bin/sh\n"), None);
        assert_eq!(loaded_bytes(b"\x7fELF\x02\x01"), None);
    }
}
