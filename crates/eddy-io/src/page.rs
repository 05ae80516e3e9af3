//! Memory page that the parent process and the gateway's workers share.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

use rustix::fs::{MemfdFlags, fstat, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Maximum workers of a gateway.
pub const WORKERS_MAX: usize = 256;

const PAGE_BYTES: usize = WORKERS_MAX * size_of::<WorkerSlot>();

/// State that one worker publishes. All zero bits are a valid value.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct WorkerSlot {
    /// When the worker last passed through its event loop, in [`crate::monotonic_ms`]; 0 before it has started.
    pub heartbeat_ms: AtomicU64,
    /// Filter that the worker runs, for the report written when it hangs or dies; 0 for none.
    pub filter: AtomicU32,
}

/// Memory shared between the parent and its child: one [`WorkerSlot`] per worker.
///
/// The page outlives the child, so that the parent can read what a dead or hanging worker was doing.
#[derive(Debug)]
pub struct SharedPage {
    slots: NonNull<[WorkerSlot; WORKERS_MAX]>,
}

impl SharedPage {
    /// Creates a zeroed page and the descriptor by which another process can map it.
    ///
    /// # Errors
    /// Errors of `memfd_create`, `ftruncate` or `mmap`.
    pub fn create() -> io::Result<(Self, OwnedFd)> {
        let fd = memfd_create("eddy-workers", MemfdFlags::CLOEXEC)?;
        ftruncate(&fd, PAGE_BYTES as u64)?;
        Ok((Self::map(&fd)?, fd))
    }

    /// Maps a page that another process created.
    ///
    /// # Errors
    /// `InvalidInput` when the file is too short; errors of `mmap`.
    pub fn from_fd(fd: OwnedFd) -> io::Result<Self> {
        let size = u64::try_from(fstat(&fd)?.st_size).unwrap_or(0);
        if size < PAGE_BYTES as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the shared page is too short"));
        }
        Self::map(&fd)
    }

    /// Returns the slot of the worker with this index.
    ///
    /// # Panics
    /// When `index` is not below [`WORKERS_MAX`].
    pub fn worker(&self, index: usize) -> &WorkerSlot {
        // SAFETY: the mapping is PAGE_BYTES long, aligned to a page, lives until drop, starts as zeroes
        // (a valid `WorkerSlot`), and both processes only touch it through atomics.
        let slots = unsafe { self.slots.as_ref() };
        &slots[index]
    }

    fn map(fd: impl AsFd) -> io::Result<Self> {
        // SAFETY: a new mapping at an address the kernel chooses overlaps nothing of ours.
        let address = unsafe {
            mmap(
                std::ptr::null_mut(),
                PAGE_BYTES,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                fd,
                0,
            )
        }?;
        let slots = NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { slots })
    }
}

impl Drop for SharedPage {
    fn drop(&mut self) {
        // SAFETY: `slots` is a mapping of exactly this size made in `map`; no slot reference outlives `self`.
        let unmapped = unsafe { munmap(self.slots.as_ptr().cast(), PAGE_BYTES) };
        debug_assert!(unmapped.is_ok(), "unmapping our own page cannot fail");
    }
}

// SAFETY: the page is only reached through atomics, which any thread may use.
unsafe impl Send for SharedPage {}
// SAFETY: as for `Send`.
unsafe impl Sync for SharedPage {}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn two_mappings_share_their_slots() {
        let (ours, fd) = SharedPage::create().unwrap();
        let theirs = SharedPage::from_fd(fd).unwrap();
        ours.worker(WORKERS_MAX - 1).heartbeat_ms.store(7, Relaxed);
        assert_eq!(theirs.worker(WORKERS_MAX - 1).heartbeat_ms.load(Relaxed), 7);
        assert_eq!(theirs.worker(0).heartbeat_ms.load(Relaxed), 0);
    }

    #[test]
    fn a_short_file_is_refused() {
        let fd = memfd_create("short", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&fd, 64).unwrap();
        assert_eq!(SharedPage::from_fd(fd).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
