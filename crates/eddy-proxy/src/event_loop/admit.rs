//! Admission of waiting requests, in rounds of the event loop.

use std::rc::Rc;

use crate::worker::Worker;

/// Admits waiting requests, round after round of the event loop.
pub(super) async fn admit(worker: Rc<Worker>) {
    loop {
        worker.admission.stirred.notified().await;
        while worker.admission.admit_round() > 0 {
            // The loop returns to this task when the admitted requests, and all other ready tasks, have had their turn.
            tokio::task::yield_now().await;
        }
    }
}
