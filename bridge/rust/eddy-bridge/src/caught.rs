//! Futures of implementations, whose panics become faults.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::call::ReplyFuture;
use crate::fault::BridgeError;

/// The future of an implementation; catches its panics, both when it is polled and when it is dropped.
pub(crate) struct CatchPanic(Option<ReplyFuture>);

impl CatchPanic {
    pub(crate) fn new(answer: impl Future<Output = Result<Vec<u64>, BridgeError>> + Send + 'static) -> Self {
        Self(Some(Box::pin(answer)))
    }
}

impl Future for CatchPanic {
    type Output = Result<Vec<u64>, BridgeError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(answer) = &mut self.0 else { return Poll::Pending };
        catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(context)))
            .unwrap_or_else(|panic| Poll::Ready(Err(BridgeError::caught(&*panic))))
    }
}

impl Drop for CatchPanic {
    fn drop(&mut self) {
        let answer = self.0.take();
        // A panic in a destructor of the future has no receiver any more.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(answer)));
    }
}
