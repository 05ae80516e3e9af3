//! Memory shared by two processes.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
/// Atomics that a ring is made of; the model in the tests replaces them by its own.
pub(crate) use std::sync::atomic::{AtomicU64, fence};

use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, fstatfs, ftruncate, memfd_create,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A mapping of words that another process may change at any time.
///
/// Rust accesses it only through atomics, so that whatever the other process writes, and whenever it does, is an
/// ordinary value.
#[derive(Debug)]
pub(crate) struct Memory {
    words: NonNull<AtomicU64>,
    count: usize,
}

impl Memory {
    /// Creates zeroed memory and the descriptor by which another process can map it.
    ///
    /// Its size is sealed: neither process can remove pages that the other one uses.
    pub(crate) fn create(bytes: usize) -> io::Result<(Self, OwnedFd)> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let fd = memfd_create("eddy-bridge-ring", flags)?;
        ftruncate(&fd, bytes as u64)?;
        fcntl_add_seals(&fd, SEALS)?;
        Ok((Self::map(&fd, bytes)?, fd))
    }

    /// Maps memory that another process created.
    ///
    /// # Errors
    /// `InvalidInput` if it was not created like [`Memory::create`] does: it has another size, is not sealed, or is
    /// of a kind whose pages may be unavailable.
    pub(crate) fn adopt(fd: &OwnedFd, bytes: usize) -> io::Result<Self> {
        // Type of the file system of `memfd_create`; pages of others (huge pages, FUSE) may be unavailable.
        if fstatfs(fd)?.f_type != 0x0102_1994 {
            return Err(invalid("the descriptor is not shared memory"));
        }
        if !fcntl_get_seals(fd)?.contains(SEALS) {
            return Err(invalid("the size of the shared memory is not sealed"));
        }
        if u64::try_from(fstat(fd)?.st_size).ok() != Some(bytes as u64) {
            return Err(invalid("the size of the shared memory differs from the handshake"));
        }
        Self::map(fd, bytes)
    }

    /// Returns all words.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has `count` words, is aligned to a page, lives as long as `self`, its size is sealed,
        // and both processes access it through atomics or machine code that Rust doesn't see.
        unsafe { std::slice::from_raw_parts(self.words.as_ptr(), self.count) }
    }

    fn map(fd: impl AsFd, bytes: usize) -> io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping at an address that the kernel chooses overlaps nothing of ours.
        let address = unsafe { mmap(std::ptr::null_mut(), bytes, access, MapFlags::SHARED, fd, 0) }?;
        let words = NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { words, count: bytes / size_of::<AtomicU64>() })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let bytes = self.count * size_of::<AtomicU64>();
        // SAFETY: `words` is a mapping of this size made in `map`; no slice of it outlives `self`.
        let unmapped = unsafe { munmap(self.words.as_ptr().cast(), bytes) };
        debug_assert!(unmapped.is_ok(), "unmapping our own memory cannot fail");
    }
}

// SAFETY: the memory is accessed only through atomics, which any thread may use.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

fn invalid(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// Fixes the size and the seals themselves.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);
