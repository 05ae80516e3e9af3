//! The memory that two processes share.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
/// What a ring is made of; its model in the tests has these of its own.
pub(crate) use std::sync::atomic::{AtomicU64, fence};

use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, fstatfs, ftruncate, memfd_create,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A mapping of words that another process may change at any time.
///
/// Rust never sees it as anything but atomics, so that whatever the other process writes, and whenever it does, is a
/// value like any other.
#[derive(Debug)]
pub(crate) struct Memory {
    words: NonNull<AtomicU64>,
    count: usize,
}

impl Memory {
    /// Makes memory of zeroes and the descriptor by which another process can map it.
    ///
    /// Its size is sealed: neither process can take pages away under the other.
    pub(crate) fn create(bytes: usize) -> io::Result<(Self, OwnedFd)> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let fd = memfd_create("eddy-bridge-ring", flags)?;
        ftruncate(&fd, bytes as u64)?;
        fcntl_add_seals(&fd, SEALS)?;
        Ok((Self::map(&fd, bytes)?, fd))
    }

    /// Maps memory that another process made.
    ///
    /// # Errors
    /// `InvalidInput` when it is not what [`Memory::create`] makes: of another size, not sealed, or of a kind whose
    /// pages can fail to come.
    pub(crate) fn adopt(fd: &OwnedFd, bytes: usize) -> io::Result<Self> {
        // What the kernel calls the file system of `memfd_create`; pages of others (huge ones, FUSE) can fail to come.
        if fstatfs(fd)?.f_type != 0x0102_1994 {
            return Err(invalid("the descriptor is not one of shared memory"));
        }
        if !fcntl_get_seals(fd)?.contains(SEALS) {
            return Err(invalid("the size of the shared memory is not sealed"));
        }
        if u64::try_from(fstat(fd)?.st_size).ok() != Some(bytes as u64) {
            return Err(invalid("the shared memory has another size than was said"));
        }
        Self::map(fd, bytes)
    }

    /// All words.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has `count` words, is aligned to a page, lives as long as `self`, its size is sealed, and
        // both processes reach it through atomics or machine code that Rust doesn't see.
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

// SAFETY: the memory is only reached through atomics, which any thread may use.
unsafe impl Send for Memory {}
// SAFETY: as for `Send`.
unsafe impl Sync for Memory {}

fn invalid(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

/// The size stays as it is, and so do the seals.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);
