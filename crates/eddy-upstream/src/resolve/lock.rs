//! Locks of the resolution, which ignore poisoning.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks the mutex. Ignores poisoning: the data under these locks is consistent even after a panic.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
