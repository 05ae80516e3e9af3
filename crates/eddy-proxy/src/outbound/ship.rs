//! Delivery of a worker's entries to the access log service, batch by batch.

use std::rc::Rc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use eddy_http::{GrpcEnd, GrpcStatus, Method, RequestBody};
use eddy_upstream::client::WholeRequest;
use tokio::time::timeout;

use crate::access::Batch;
use crate::outbound::fetch::{FetchRequest, send};
use crate::plan::LOG_SERVICE_METHOD;
use crate::worker::Worker;

/// Outcome of sending a batch.
#[derive(Debug)]
enum BatchOutcome {
    /// The service has accepted it.
    Taken,
    /// The batch could not be delivered, for a reason that may be temporary.
    Failed(String),
    /// The service has rejected it, or no service is configured any more.
    Refused(String),
}

/// Sends queued batches until the worker's event loop ends.
pub(crate) async fn ship(worker: Rc<Worker>) {
    let queue = &worker.records;
    let mut failures = 0;
    loop {
        let Some(batch) = queue.first() else {
            queue.called.notified().await;
            continue;
        };
        let outcome = deliver(&worker, &batch).await;
        let records = batch.records;
        drop(batch);
        match outcome {
            BatchOutcome::Taken => {
                worker.series.records_sent.add(records);
                if failures > 0 {
                    tracing::info!("the access log service accepts entries again");
                }
                failures = 0;
                queue.done();
                continue;
            }
            BatchOutcome::Refused(reason) => {
                worker.series.records_dropped.add(records);
                log_problem(failures, &reason, "rejects entries; they are lost");
                queue.done();
            }
            BatchOutcome::Failed(reason) => {
                worker.series.record_batches_failed.increment();
                log_problem(failures, &reason, "is unavailable; entries are queued");
            }
        }
        failures = (failures + 1).min(FAILURES_MAX);
        let pause = PAUSE_MAX.min(PAUSE_MIN * 2_u32.pow(failures - 1));
        let jitter = worker.rng.borrow_mut().below(u64::try_from(pause.as_millis() / 4).unwrap_or(0));
        // `settle` cuts the pause short.
        let _ = timeout(pause + Duration::from_millis(jitter), queue.hurried.notified()).await;
    }
}

/// Requests that the whole queue be sent, and drops `done` when it is.
pub(crate) async fn settle(worker: Rc<Worker>, done: Sender<()>) {
    worker.records.flush_now();
    while worker.records.waiting() > 0 {
        worker.records.emptied.notified().await;
    }
    drop(done);
}

/// Logs a problem once, until deliveries succeed again.
fn log_problem(failures: u32, reason: &str, what: &str) {
    if failures == 0 {
        tracing::warn!(reason, "the access log service {what}");
    }
}

/// Sends one batch.
async fn deliver(worker: &Rc<Worker>, batch: &Batch) -> BatchOutcome {
    let plan = worker.plan();
    let service = plan.plan.access.as_ref().and_then(|access| access.service.as_ref());
    let Some(service) = service else {
        return BatchOutcome::Refused("no service is configured".to_owned());
    };
    let Some(cluster) = &plan.log_cluster else {
        return BatchOutcome::Refused("its cluster does not exist".to_owned());
    };
    // Cluster names may contain characters that are invalid in a host.
    let authority = cluster.config.name.replace(['/', ':'], "-");
    let (request, head_bytes) = service.request(&authority, &batch.entries);
    let body = RequestBody::Length((request.len() - head_bytes) as u64);
    let head = request.get(..head_bytes).expect("the head is at the front of the request");
    let checked =
        worker.egress.borrow_mut().check_request(head, b"POST", LOG_SERVICE_METHOD.as_bytes(), body);
    if let Err(fault) = checked {
        return BatchOutcome::Refused(format!("egress check failed: {fault:?}"));
    }
    // Delivery is at least once: a batch that may have arrived is sent twice rather than lost, here as after any
    // failure.
    let request = WholeRequest { method: Method::Post, bytes: &request, head_bytes };
    let sent = FetchRequest { request, is_repeatable: true };
    match timeout(service.timeout, send(worker, cluster, &sent)).await {
        Err(_) => BatchOutcome::Failed("timeout".to_owned()),
        Ok(Err(reason)) => BatchOutcome::Failed(reason.to_owned()),
        Ok(Ok(answer)) => judge(answer.head.status, answer.grpc_end),
    }
}

/// Returns the outcome that a response implies for its batch.
fn judge(status: u16, end: GrpcEnd) -> BatchOutcome {
    let is_untold = end == GrpcEnd::NoStatus && status != 200;
    let end = if is_untold { GrpcEnd::Status(GrpcStatus::of_http(status)) } else { end };
    match end {
        // A service that treats the end of the stream as an error has read everything before it, and ends the call with
        // `unknown`.
        GrpcEnd::Status(GrpcStatus::Ok | GrpcStatus::Unknown) if status == 200 => BatchOutcome::Taken,
        GrpcEnd::Status(
            failed @ (GrpcStatus::Unavailable
            | GrpcStatus::DeadlineExceeded
            | GrpcStatus::ResourceExhausted
            | GrpcStatus::Aborted
            | GrpcStatus::Cancelled),
        ) => BatchOutcome::Failed(failed.name().to_owned()),
        GrpcEnd::NoStatus => BatchOutcome::Failed("response without grpc-status".to_owned()),
        GrpcEnd::Status(refused) => BatchOutcome::Refused(refused.name().to_owned()),
        GrpcEnd::Other => BatchOutcome::Refused("response with an unknown grpc-status".to_owned()),
    }
}

/// Pause after the first failure.
const PAUSE_MIN: Duration = Duration::from_millis(100);
/// Maximum pause.
const PAUSE_MAX: Duration = Duration::from_secs(10);
/// Number of consecutive failures after which pauses no longer grow.
const FAILURES_MAX: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transient_failures_are_retried() {
        let check = |status: u16, code: Option<u32>, expected: &str| {
            let end = code.map_or(GrpcEnd::NoStatus, GrpcEnd::of_code);
            let outcome = format!("{:?}", judge(status, end));
            assert!(outcome.starts_with(expected), "{status} {code:?}: {outcome}");
        };
        check(200, Some(0), "Taken");
        check(200, Some(2), "Taken");
        for code in [1, 4, 8, 10, 14] {
            check(200, Some(code), "Failed");
        }
        for code in [3, 5, 7, 12, 13, 16, 99] {
            check(200, Some(code), "Refused");
        }
        check(200, None, "Failed");
        check(503, None, "Failed");
        check(404, None, "Refused");
        check(500, None, "Refused");
    }
}
