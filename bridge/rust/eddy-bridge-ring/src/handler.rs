//! Handler of the other process's calls.

use crate::fault::CallFailure;
use crate::incoming::Incoming;

/// Handles the calls of the other process.
///
/// It runs on the link's own thread, which reads nothing meanwhile: answer calls that take microseconds directly, and
/// pass longer ones to [`Workers`](crate::Workers) or your own runtime. Any function that takes an [`Incoming`] is a
/// handler.
pub trait CallHandler: Send + Sync + 'static {
    /// Handles a call, which may be answered here or later, from any thread.
    fn handle(&self, call: Incoming);
}

impl<F: Fn(Incoming) + Send + Sync + 'static> CallHandler for F {
    fn handle(&self, call: Incoming) {
        self(call);
    }
}

/// Handler of a side that only makes calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCalls;

impl CallHandler for NoCalls {
    fn handle(&self, call: Incoming) {
        call.fail(CallFailure::new(CallFailure::UNKNOWN_METHOD, "this process does not accept calls"));
    }
}
