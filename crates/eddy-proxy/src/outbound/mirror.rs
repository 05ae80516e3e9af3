//! Sending of a mirror copy; its response is discarded.

use std::rc::Rc;
use std::time::Duration;

use eddy_http::Method;
use eddy_upstream::client::WholeRequest;
use tokio::time::timeout;

use crate::outbound::fetch::{FetchRequest, send};
use crate::upstream::WorkerCluster;
use crate::worker::Worker;

/// A mirror copy of a request.
#[derive(Debug)]
pub(crate) struct Copied {
    pub(crate) cluster: Rc<WorkerCluster>,
    pub(crate) method: Method,
    pub(crate) has_body: bool,
    /// Head and body.
    pub(crate) request: Rc<[u8]>,
    /// Length of the head.
    pub(crate) head_bytes: usize,
}

/// Sends a copy and counts the outcome.
pub(crate) async fn mirror(worker: Rc<Worker>, copied: Copied) {
    let Copied { cluster, method, has_body, request, head_bytes } = copied;
    worker.mirrors.set(worker.mirrors.get() + 1);
    let is_repeatable = method.is_idempotent() && !has_body;
    let request = WholeRequest { method, bytes: &request, head_bytes };
    let sent = FetchRequest { request, is_repeatable };
    let answered = timeout(TIMEOUT, send(&worker, &cluster, &sent)).await;
    if answered.is_ok_and(|answer| answer.is_ok()) {
        worker.series.mirrors_sent.increment();
    } else {
        worker.series.mirrors_failed.increment();
    }
    worker.mirrors.set(worker.mirrors.get().saturating_sub(1));
}

/// Timeout of a copy and its response.
const TIMEOUT: Duration = Duration::from_secs(15);
