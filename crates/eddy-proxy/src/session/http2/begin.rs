//! Detection of HTTP/2 with prior knowledge.

use std::future::poll_fn;
use std::task::Poll;

use eddy_http::{Spoken, spoken};
use eddy_ids::Millis;
use eddy_io::Fill;

use crate::downstream::Downstream;
use crate::worker::Worker;

/// Detects by the first bytes of a connection whether the client speaks HTTP/2; waits for as many bytes as that takes.
/// The bytes stay in the buffer.
pub(crate) async fn begins_framed(down: &mut Downstream, timeout: Millis, worker: &Worker) -> bool {
    down.timer.arm(timeout);
    poll_fn(|cx| {
        down.timer.register(cx);
        loop {
            match spoken(down.input.held()) {
                Spoken::Http1 => return Poll::Ready(false),
                Spoken::Http2 => return Poll::Ready(true),
                Spoken::Unclear => {}
            }
            match down.poll_fill(cx, &worker.buffers) {
                Poll::Ready(Ok(Fill::Bytes(_))) => {}
                // The connection ended before the protocol was clear.
                Poll::Ready(Ok(Fill::End) | Err(_)) => return Poll::Ready(false),
                Poll::Pending if down.timer.is_expired() => return Poll::Ready(false),
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await
}
