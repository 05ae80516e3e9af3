//! Panics stop at the edge of the library.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

use crate::fault::Fault;

thread_local! {
    /// How many guards this thread is in.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// What the last panic within a guard said, with its place.
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Has panics within guards noted instead of printed; others are treated as before.
pub(crate) fn install() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let is_guarded = DEPTH.try_with(|depth| depth.get() > 0).unwrap_or(false);
            if is_guarded { note(info) } else { before(info) }
        }));
    });
}

/// Runs filter code; a panic becomes a fault with its message and place.
///
/// What the code was changing when it panicked is the filter's own and may be half changed: locks say so, and the host takes
/// the filter out of the exchange or the exchange down.
pub(crate) fn catch<R>(run: impl FnOnce() -> R) -> Result<R, Fault> {
    DEPTH.set(DEPTH.get() + 1);
    let outcome = panic::catch_unwind(AssertUnwindSafe(run));
    DEPTH.set(DEPTH.get() - 1);
    outcome.map_err(|payload| {
        let message = MESSAGE.take().unwrap_or_else(|| format!("panicked: {}", text_of(&*payload)));
        discard(payload);
        Fault::new(message)
    })
}

fn note(info: &PanicHookInfo<'_>) {
    let text = text_of(info.payload());
    let message = match info.location() {
        Some(place) => format!("panicked at {}:{}:{}: {text}", place.file(), place.line(), place.column()),
        None => format!("panicked: {text}"),
    };
    // A thread that is about to end has no place for it any more.
    let _ = MESSAGE.try_with(|place| place.replace(Some(message)));
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}

/// Drops the payload of a panic, which is a filter's value and may panic again.
#[expect(
    clippy::mem_forget,
    reason = "a payload that cannot be dropped without a panic can only be left alone"
)]
fn discard(payload: Box<dyn Any + Send>) {
    DEPTH.set(DEPTH.get() + 1);
    if let Err(second) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(second);
    }
    DEPTH.set(DEPTH.get() - 1);
    MESSAGE.set(None);
}
