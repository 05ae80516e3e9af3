//! Bounds-checked regions of a module's memory.

use thiserror::Error;

/// Pointer and length as given by a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// Address of the first byte.
    pub start: u32,
    /// Length in bytes.
    pub len: u32,
}

/// Error of a region that reaches beyond the module's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("an address is outside the module's memory")]
pub struct Beyond;

impl Region {
    /// Creates a region without checking it.
    pub const fn new(start: u32, len: u32) -> Self {
        Self { start, len }
    }

    /// Returns the region's bytes in a memory.
    ///
    /// # Errors
    /// The region reaches beyond the memory.
    #[inline]
    pub fn of(self, memory: &[u8]) -> Result<&[u8], Beyond> {
        let (start, end) = self.bounds()?;
        memory.get(start..end).ok_or(Beyond)
    }

    /// Returns the region's bytes in a memory for writing.
    ///
    /// # Errors
    /// The region reaches beyond the memory.
    #[inline]
    pub fn of_mut(self, memory: &mut [u8]) -> Result<&mut [u8], Beyond> {
        let (start, end) = self.bounds()?;
        memory.get_mut(start..end).ok_or(Beyond)
    }

    #[inline]
    fn bounds(self) -> Result<(usize, usize), Beyond> {
        let start = usize::try_from(self.start).map_err(|_| Beyond)?;
        let len = usize::try_from(self.len).map_err(|_| Beyond)?;
        Ok((start, start.checked_add(len).ok_or(Beyond)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_within_memory_or_refused() {
        let memory = [1, 2, 3, 4];
        assert_eq!(Region::new(1, 2).of(&memory), Ok([2, 3].as_slice()));
        assert_eq!(Region::new(4, 0).of(&memory), Ok([].as_slice()));
        for (start, len) in [(4, 1), (5, 0), (0, 5), (u32::MAX, u32::MAX)] {
            assert_eq!(Region::new(start, len).of(&memory), Err(Beyond), "{start} {len}");
            assert_eq!(Region::new(start, len).of_mut(&mut memory.clone()), Err(Beyond));
        }
    }
}
