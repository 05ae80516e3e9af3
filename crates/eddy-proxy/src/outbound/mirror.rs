//! Sends a copy of a request and forgets the answer.

use std::rc::Rc;
use std::time::Duration;

use eddy_http::Method;
use tokio::time::timeout;

use crate::outbound::fetch::{FetchRequest, send};
use crate::worker::{Worker, WorkerCluster};

/// A copy of a request.
#[derive(Debug)]
pub(crate) struct Copied {
    pub(crate) cluster: Rc<WorkerCluster>,
    pub(crate) method: Method,
    pub(crate) has_body: bool,
    /// Head and body.
    pub(crate) request: Rc<[u8]>,
    /// How long the head is.
    pub(crate) head_bytes: usize,
}

/// Sends a copy; how that went is counted and nothing else.
pub(crate) async fn mirror(worker: Rc<Worker>, copied: Copied) {
    let Copied { cluster, method, has_body, request, head_bytes } = copied;
    worker.mirrors.set(worker.mirrors.get() + 1);
    let is_repeatable = method.is_idempotent() && !has_body;
    let sent = FetchRequest { method, is_repeatable, bytes: &request, head_bytes };
    let answered = timeout(TIMEOUT, send(&worker, &cluster, &sent)).await;
    if answered.is_ok_and(|answer| answer.is_ok()) {
        worker.series.mirrors_sent.increment();
    } else {
        worker.series.mirrors_failed.increment();
    }
    worker.mirrors.set(worker.mirrors.get().saturating_sub(1));
}

/// Longest time that a copy and its answer may take.
const TIMEOUT: Duration = Duration::from_secs(15);
