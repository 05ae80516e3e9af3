//! Who takes the calls of the other process.

use crate::fault::CallFailure;
use crate::incoming::Incoming;

/// Takes the calls of the other process.
///
/// It runs on the link's own thread, which reads nothing meanwhile: answer what takes microseconds there, and hand on
/// what takes longer, by [`Workers`](crate::Workers) or a runtime of your own. Any function that takes an [`Incoming`] is
/// a handler.
pub trait CallHandler: Send + Sync + 'static {
    /// Takes a call, which may be answered here or later, from any thread.
    fn handle(&self, call: Incoming);
}

impl<F: Fn(Incoming) + Send + Sync + 'static> CallHandler for F {
    fn handle(&self, call: Incoming) {
        self(call);
    }
}

/// A handler for a side that only calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCalls;

impl CallHandler for NoCalls {
    fn handle(&self, call: Incoming) {
        call.fail(CallFailure::new(CallFailure::UNKNOWN_METHOD, "this process takes no calls"));
    }
}
