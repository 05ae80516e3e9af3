//! The modules that are open, for the end of the process.

use std::sync::{Arc, Mutex, Weak};

use super::library::{WasmLibrary, lock};

/// Notes a module.
pub(super) fn note(library: &Arc<WasmLibrary>) {
    let mut open = lock(&OPEN);
    open.retain(|known| known.strong_count() > 0);
    open.push(Arc::downgrade(library));
}

/// Ends the instances of all modules, and tells them. Only on the thread that makes filters.
pub(crate) fn stop_all() {
    let open = std::mem::take(&mut *lock(&OPEN));
    open.iter().filter_map(Weak::upgrade).for_each(|library| library.stop());
}

static OPEN: Mutex<Vec<Weak<WasmLibrary>>> = Mutex::new(Vec::new());
