//! Bounded pools of values that are used again, so that a request allocates nothing.

use std::cell::{Cell, RefCell};

/// Capacity in bytes above which a vector of bytes is freed instead of being used again.
const KEPT_BYTES_MAX: usize = 8 * 1024;

/// Value that can be used again.
pub trait Reusable {
    /// Empties the value. Its capacity decides whether it is worth keeping.
    fn empty(&mut self) -> Reuse;

    /// Empties the value in place, as part of an object that is used again; frees memory that is not worth keeping.
    fn reset(&mut self)
    where
        Self: Default,
    {
        if self.empty() == Reuse::Drop {
            *self = Self::default();
        }
    }
}

/// Whether an emptied value is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reuse {
    /// It is kept for another use.
    Keep,
    /// It is freed.
    Drop,
}

/// Pool of at most `IDLE_MAX` emptied values, for one thread; last in, first out.
#[derive(Debug)]
pub struct Pool<T, const IDLE_MAX: usize> {
    idle: RefCell<Vec<T>>,
    /// Lowest number of idle values since the last sweep: these were not needed.
    unneeded: Cell<usize>,
}

impl<T: Reusable, const IDLE_MAX: usize> Pool<T, IDLE_MAX> {
    /// Creates an empty pool.
    pub const fn new() -> Self {
        Self { idle: RefCell::new(Vec::new()), unneeded: Cell::new(0) }
    }

    /// Returns an empty value.
    ///
    /// # Cost
    /// Some nanoseconds, or that of creating the value when none is idle.
    pub fn take(&self) -> T
    where
        T: Default,
    {
        self.take_idle().unwrap_or_default()
    }

    /// Returns an idle value, which is empty; `None` when there is none.
    #[inline]
    pub fn take_idle(&self) -> Option<T> {
        let mut idle = self.idle.borrow_mut();
        let value = idle.pop();
        self.unneeded.set(self.unneeded.get().min(idle.len()));
        value
    }

    /// Returns a value to the pool. One that is not worth keeping, or beyond the limit, is freed.
    #[inline]
    pub fn put(&self, mut value: T) {
        if value.empty() == Reuse::Keep {
            let mut idle = self.idle.borrow_mut();
            if idle.len() < IDLE_MAX {
                idle.push(value);
            }
        }
    }

    /// Whether the pool keeps no more values.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.idle.borrow().len() >= IDLE_MAX
    }

    /// Takes out the values that were not needed since the last sweep, to be freed.
    pub fn sweep(&self) -> Vec<T> {
        let mut idle = self.idle.borrow_mut();
        let needed = idle.len() - self.unneeded.get();
        self.unneeded.set(needed);
        idle.drain(needed..).collect()
    }

    /// Returns the number of idle values.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.idle.borrow().len()
    }
}

impl<T: Reusable, const IDLE_MAX: usize> Default for Pool<T, IDLE_MAX> {
    fn default() -> Self {
        Self::new()
    }
}

impl Reusable for Vec<u8> {
    fn empty(&mut self) -> Reuse {
        self.clear();
        if self.capacity() <= KEPT_BYTES_MAX { Reuse::Keep } else { Reuse::Drop }
    }
}

/// Space for a value.
impl<T> Reusable for Option<T> {
    fn empty(&mut self) -> Reuse {
        *self = None;
        Reuse::Keep
    }
}

impl<T: Reusable> Reusable for Box<T> {
    fn empty(&mut self) -> Reuse {
        (**self).empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a vector with this capacity that holds something.
    fn bytes(capacity: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(capacity);
        bytes.extend_from_slice(b"somebody's secret");
        bytes
    }

    #[test]
    fn a_pooled_value_is_returned_empty_with_its_capacity() {
        let pool = Pool::<_, 1>::new();
        let value = bytes(100);
        let memory = value.as_ptr();
        pool.put(value);
        let again = pool.take();
        assert!(again.is_empty());
        assert_eq!(again.as_ptr(), memory);
        assert_eq!(pool.take().capacity(), 0, "there was only one");
    }

    #[test]
    fn no_more_values_are_pooled_than_the_bound() {
        let pool = Pool::<_, 3>::new();
        (0..5).for_each(|_| pool.put(bytes(100)));
        assert_eq!((pool.count(), pool.is_full()), (3, true));
        drop(pool.take());
        assert!(!pool.is_full());
    }

    #[test]
    fn an_oversized_value_is_freed() {
        let pool = Pool::<_, 3>::new();
        pool.put(bytes(KEPT_BYTES_MAX + 1));
        assert_eq!(pool.count(), 0);
        pool.put(bytes(KEPT_BYTES_MAX));
        assert_eq!(pool.count(), 1);
        let mut part = bytes(KEPT_BYTES_MAX + 1);
        part.reset();
        assert_eq!((part.len(), part.capacity()), (0, 0));
    }

    #[test]
    fn the_capacity_of_a_value_is_kept_and_its_contents_dropped() {
        let pool = Pool::<Box<Option<std::rc::Rc<()>>>, 1>::new();
        let value = std::rc::Rc::new(());
        pool.put(Box::new(Some(std::rc::Rc::clone(&value))));
        assert_eq!((std::rc::Rc::strong_count(&value), pool.count()), (1, 1));
        assert_eq!(*pool.take(), None);
    }

    #[test]
    fn a_sweep_frees_values_unused_since_the_last_sweep() {
        let pool = Pool::<_, 64>::new();
        let need = |number| {
            let taken: Vec<Vec<u8>> = (0..number).map(|_| pool.take()).collect();
            taken.into_iter().for_each(|value| pool.put(value));
        };
        let after_sweep = |needs: &[usize]| {
            needs.iter().copied().for_each(need);
            drop(pool.sweep());
            pool.count()
        };
        assert_eq!(after_sweep(&[10]), 10);
        assert_eq!(after_sweep(&[3, 2]), 3);
        assert_eq!(after_sweep(&[3]), 3);
        assert_eq!(after_sweep(&[]), 0);
    }
}
