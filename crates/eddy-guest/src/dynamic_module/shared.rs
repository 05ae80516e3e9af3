//! Pointers that modules of the process share by name: functions and data.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::Mutex;

use crate::lock::lock;

/// Pointer of a module, which the host never uses itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedPointer(pub(super) *mut c_void);

// SAFETY: the host only stores the pointer; by the ABI modules of the process may use it on every thread.
unsafe impl Send for SharedPointer {}

/// Registry of pointers by name.
#[derive(Debug)]
pub(super) struct SharedPointers(Mutex<Option<HashMap<Vec<u8>, SharedPointer>>>);

/// Functions: a name is taken once.
pub(super) static FUNCTIONS: SharedPointers = SharedPointers(Mutex::new(None));
/// Data: a later registration replaces an earlier one.
pub(super) static DATA: SharedPointers = SharedPointers(Mutex::new(None));

impl SharedPointers {
    /// Registers a pointer; `false` if the name is taken or the registry is full.
    pub(super) fn add(&self, name: &[u8], pointer: SharedPointer) -> bool {
        let mut known = lock(&self.0);
        let known = known.get_or_insert_default();
        if pointer.0.is_null() || known.contains_key(name) || known.len() >= ENTRIES_MAX {
            return false;
        }
        known.insert(name.to_vec(), pointer);
        true
    }

    /// Registers a pointer in place of an earlier one of this name; `false` if the registry is full.
    pub(super) fn replace(&self, name: &[u8], pointer: SharedPointer) -> bool {
        let mut known = lock(&self.0);
        let known = known.get_or_insert_default();
        if pointer.0.is_null() || (known.len() >= ENTRIES_MAX && !known.contains_key(name)) {
            return false;
        }
        known.insert(name.to_vec(), pointer);
        true
    }

    /// Returns the pointer of a name.
    pub(super) fn get(&self, name: &[u8]) -> Option<SharedPointer> {
        lock(&self.0).as_ref()?.get(name).copied()
    }
}

/// Maximum number of pointers in each registry.
const ENTRIES_MAX: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_registered_once_and_data_replaced() {
        let pointers = SharedPointers(Mutex::new(None));
        let (mut one, mut two) = (1_u8, 2_u8);
        let first = SharedPointer((&raw mut one).cast());
        let second = SharedPointer((&raw mut two).cast());
        assert!(pointers.add(b"name", first));
        assert!(!pointers.add(b"name", second));
        assert_eq!(pointers.get(b"name").map(|found| found.0), Some(first.0));
        assert!(pointers.replace(b"name", second));
        assert_eq!(pointers.get(b"name").map(|found| found.0), Some(second.0));
        assert!(!pointers.add(b"null", SharedPointer(std::ptr::null_mut())));
        assert!(pointers.get(b"null").is_none());
    }
}
