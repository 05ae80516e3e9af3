//! State that a filter keeps per exchange from hook to hook.

use std::cell::OnceCell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use crate::filter::End;

/// State of one filter in one exchange. The host holds a counted reference to it as a number.
pub(crate) struct StateCell<S> {
    state: Mutex<Option<S>>,
    /// Why the exchange ended, plus one; 0 until then.
    end: AtomicU32,
    /// Whether the filter's code must not run on a worker.
    pub(crate) is_blocking: bool,
}

/// A hook's access to the state, which is created on first use.
pub(crate) struct StateAccess<'a, S> {
    cell: &'a OnceCell<Arc<StateCell<S>>>,
    guard: Option<MutexGuard<'a, Option<S>>>,
}

impl<S> StateCell<S> {
    /// Whether the type has any state to keep.
    pub(crate) const IS_KEPT: bool = size_of::<S>() != 0 || std::mem::needs_drop::<S>();

    pub(crate) fn new(is_blocking: bool) -> Self {
        Self { state: Mutex::new(None), end: AtomicU32::new(0), is_blocking }
    }

    /// Converts the reference to the number that the host holds.
    pub(crate) fn into_number(self: Arc<Self>) -> u64 {
        Arc::into_raw(self).expose_provenance() as u64
    }

    /// Takes over the host's reference.
    ///
    /// # Safety
    /// `number` was returned by [`Self::into_number`] for the same `S` and is not used any more after this.
    pub(crate) unsafe fn take(number: u64) -> Arc<Self> {
        // SAFETY: the reference is ours to release, as guaranteed by the caller.
        unsafe { Arc::from_raw(Self::pointer(number)) }
    }

    /// Returns another reference in addition to the host's.
    ///
    /// # Safety
    /// `number` was returned by [`Self::into_number`] for the same `S` and has not been taken back.
    pub(crate) unsafe fn share(number: u64) -> Arc<Self> {
        // SAFETY: the host's reference keeps it alive, as guaranteed by the caller.
        unsafe { Arc::increment_strong_count(Self::pointer(number)) };
        // SAFETY: this is the reference just counted.
        unsafe { Arc::from_raw(Self::pointer(number)) }
    }

    fn pointer(number: u64) -> *const Self {
        std::ptr::with_exposed_provenance(usize::try_from(number).unwrap_or_default())
    }

    /// Records that the exchange has ended. Returns the state unless a hook is still using it: then
    /// [`Self::take_ended`], called when the hook is done, returns it.
    pub(crate) fn end(&self, end: End) -> Option<S> {
        self.end.store(1 + end as u32, Ordering::SeqCst);
        self.take_state()
    }

    /// Returns the state if the exchange has ended and the state was not taken yet.
    pub(crate) fn take_ended(&self) -> Option<(S, End)> {
        let end = match self.end.load(Ordering::SeqCst) {
            0 => return None,
            1 => End::Complete,
            _ => End::Cut,
        };
        self.take_state().map(|state| (state, end))
    }

    fn take_state(&self) -> Option<S> {
        match self.state.try_lock() {
            Ok(mut state) => state.take(),
            Err(TryLockError::Poisoned(state)) => state.into_inner().take(),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl<'a, S: Default> StateAccess<'a, S> {
    pub(crate) fn new(cell: &'a OnceCell<Arc<StateCell<S>>>) -> Self {
        Self { cell, guard: None }
    }

    /// Returns another reference to the state as a number; 0 if the filter has none.
    pub(crate) fn share(&self) -> u64 {
        if !StateCell::<S>::IS_KEPT {
            return 0;
        }
        Arc::clone(self.cell.get_or_init(|| Arc::new(StateCell::new(false)))).into_number()
    }

    pub(crate) fn get(&mut self) -> &mut S {
        let cell = self.cell;
        let guard = self.guard.get_or_insert_with(|| {
            let cell = cell.get_or_init(|| Arc::new(StateCell::new(false)));
            // Only hooks of one filter in one exchange compete for this lock: on a worker they run one after the
            // other, and on other threads one waits for the other.
            cell.state.lock().unwrap_or_else(PoisonError::into_inner)
        });
        guard.get_or_insert_with(S::default)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn the_last_holder_releases_the_state_exactly_once() {
        for _ in 0..if cfg!(miri) { 20 } else { 2_000 } {
            let cell = OnceCell::new();
            let shared = Arc::new(StateCell::<u32>::new(true));
            assert!(cell.set(Arc::clone(&shared)).is_ok());
            let start = Barrier::new(2);
            let (at_end, after_hook) = thread::scope(|scope| {
                let ending = scope.spawn(|| {
                    start.wait();
                    shared.end(End::Cut)
                });
                let mut access = StateAccess::new(&cell);
                *access.get() = 7;
                start.wait();
                drop(access);
                let after_hook = shared.take_ended();
                (ending.join().expect("it does not panic"), after_hook)
            });
            // The hook may have checked before the end, and the end may have come before the hook released the state,
            // but not both.
            assert_eq!(u32::from(at_end.is_some()) + u32::from(after_hook.is_some()), 1);
            assert_eq!(at_end.or_else(|| after_hook.map(|(state, _)| state)), Some(7));
            assert_eq!(shared.take_ended().map(|(state, _)| state), None);
        }
    }

    #[test]
    fn a_number_is_a_counted_reference() {
        let cell = Arc::new(StateCell::<String>::new(false));
        let number = Arc::clone(&cell).into_number();
        // SAFETY: the number was just made.
        let shared = unsafe { StateCell::<String>::share(number) };
        assert_eq!(Arc::strong_count(&cell), 3);
        // SAFETY: the number is not used any more.
        let taken = unsafe { StateCell::<String>::take(number) };
        drop((shared, taken));
        assert_eq!(Arc::strong_count(&cell), 1);
    }

    #[test]
    fn a_zero_sized_state_is_not_stored() {
        const { assert!(!StateCell::<()>::IS_KEPT && StateCell::<u8>::IS_KEPT) };
    }
}
