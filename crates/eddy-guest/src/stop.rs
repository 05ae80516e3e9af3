//! The end of the process, as guests are told of it.

use crate::{native, wasm};

/// Tells every library and every instance of a module that the process is about to end. Only on the thread that makes
/// filters, when no exchange is entered any more.
pub fn stop_all() {
    wasm::stop_all();
    native::stop_all();
}
