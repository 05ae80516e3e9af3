//! Catches panics at the boundary of the library.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

use crate::fault::Fault;

thread_local! {
    /// Nesting depth of guards on this thread.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    /// Message and location of the last panic within a guard.
    static MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Installs a panic hook that records panics within guards instead of printing them; others are handled as before.
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

/// Runs filter code; a panic becomes a fault with its message and location.
///
/// Data that the code was changing belongs to the filter and may be half changed: its locks are poisoned, and the
/// host removes the filter from the exchange or ends the exchange.
pub(crate) fn catch<R>(run: impl FnOnce() -> R) -> Result<R, Fault> {
    let outcome = DEPTH.with(|depth| {
        depth.set(depth.get() + 1);
        let outcome = panic::catch_unwind(AssertUnwindSafe(run));
        depth.set(depth.get() - 1);
        outcome
    });
    outcome.map_err(|payload| {
        let message = MESSAGE.take().unwrap_or_else(|| format!("panicked: {}", text_of(&*payload)));
        discard(payload);
        Fault::new(message)
    })
}

/// Runs code of the SDK itself, in which every hook has its own guard: a panic is a bug of the SDK, and is printed.
pub(crate) fn contain(run: impl FnOnce()) -> Result<(), Fault> {
    panic::catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let fault = Fault::new(format!("panicked: {}", text_of(&*payload)));
        discard(payload);
        fault
    })
}

fn note(info: &PanicHookInfo<'_>) {
    let text = text_of(info.payload());
    let message = match info.location() {
        Some(place) => format!("panicked at {}:{}:{}: {text}", place.file(), place.line(), place.column()),
        None => format!("panicked: {text}"),
    };
    // A thread that is about to end cannot store it any more.
    let _ = MESSAGE.try_with(|place| place.replace(Some(message)));
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}

/// Drops the payload of a panic, which is a value of the filter and may panic again.
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
