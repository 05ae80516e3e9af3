//! Registry of open modules, for the end of the process.

use std::sync::{Arc, Mutex, Weak};

use super::library::{WasmLibrary, lock};

/// Registers a module.
pub(super) fn note(library: &Arc<WasmLibrary>) {
    let mut open = lock(&OPEN);
    open.retain(|known| known.strong_count() > 0);
    open.push(Arc::downgrade(library));
}

/// Ends the instances of all modules, with their callbacks. Only on the thread that creates filters.
pub(crate) fn stop_all() {
    let open = std::mem::take(&mut *lock(&OPEN));
    open.iter().filter_map(Weak::upgrade).for_each(|library| library.stop());
}

static OPEN: Mutex<Vec<Weak<WasmLibrary>>> = Mutex::new(Vec::new());
