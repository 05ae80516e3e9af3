//! Notification of guests that the process ends.

use crate::{native, wasm};

/// Notifies every library and every Wasm instance that the process is about to end. Only on the thread that creates
/// filters, when no exchange is entered any more.
pub fn stop_all() {
    wasm::stop_all();
    native::stop_all();
}
