//! Wake-ups of a library on the worker's thread.

use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;

use eddy_filter::{EventKind, FilterEvent, Wake};
use eddy_http::Fields;
use eddy_ids::Millis;
use tokio::time::sleep;

use crate::worker::Worker;

/// Wakes a library after the requested time, if it is still in use then.
pub(crate) async fn wake(worker: Rc<Worker>, wake: Wake) {
    if wake.after > Millis::ZERO {
        #[expect(
            clippy::disallowed_methods,
            reason = "the filter has requested to be woken after this time"
        )]
        sleep(wake.after.as_duration()).await;
    }
    let Some(library) = wake.library.upgrade() else { return };
    // Marks the filter as running, so that a hang can be attributed to it.
    let current = &worker.page.worker(worker.index).filter;
    current.store(wake.filter, Relaxed);
    library.event(&FilterEvent {
        kind: EventKind::Woken,
        filter: wake.filter,
        token: wake.token,
        worker: wake.worker,
        status: 0,
        fields: Fields::default(),
        body: &[],
    });
    current.store(0, Relaxed);
}
