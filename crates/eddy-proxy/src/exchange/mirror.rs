//! Copies of a request for other clusters, whose answers nobody waits for.
//!
//! A copy is sent once the request itself has been, and never delays it: what can't be copied or sent is counted and
//! forgotten.

use std::rc::Rc;

use eddy_http::RequestBody;

use crate::exchange::attempt::write_request;
use crate::exchange::drive::Drive;
use crate::exchange::pump::BodyCopy;
use crate::outbound::{self, Copied};
use crate::worker::WorkerCluster;

/// The clusters that are to get a copy of a request.
#[derive(Debug)]
pub(crate) struct Mirroring {
    clusters: Vec<Rc<WorkerCluster>>,
}

/// Draws who gets a copy of the request whose head was written, on its first attempt.
pub(super) fn begin(drive: &mut Drive<'_>) {
    let plan = Rc::clone(&drive.plan);
    let exchange = &mut *drive.exchange;
    let action = exchange.action.and_then(|action| plan.plan.config.actions.get(action));
    let Some(action) = action.filter(|action| !action.mirrors.is_empty()) else { return };
    if exchange.mirroring.is_none() && exchange.attempts == 1 {
        let mut rng = drive.worker.rng.borrow_mut();
        let drawn = action
            .mirrors
            .iter()
            .filter(|mirror| rng.below(u64::from(mirror.denominator.max(1))) < u64::from(mirror.numerator));
        let clusters: Vec<Rc<WorkerCluster>> =
            drawn.filter_map(|mirror| plan.clusters.get(mirror.cluster).cloned()).collect();
        exchange.mirroring = (!clusters.is_empty()).then(|| Box::new(Mirroring { clusters }));
    }
    if exchange.mirroring.is_some() {
        // What an attempt before has copied, this one sends again.
        exchange.upload.copy = Some(BodyCopy::for_others());
    }
}

/// Sends the copies of a request that has been sent.
pub(super) fn send(drive: &mut Drive<'_>) {
    let Some(mirroring) = drive.exchange.mirroring.take() else { return };
    let copy = drive.exchange.upload.copy.take().unwrap_or_else(BodyCopy::for_others);
    let count = mirroring.clusters.len() as u64;
    let worker = Rc::clone(drive.worker);
    if copy.is_too_large {
        worker.series.mirrors_dropped.add(count);
        return;
    }
    let body = match copy.bytes.len() as u64 {
        0 => RequestBody::None,
        length => RequestBody::Length(length),
    };
    let mut request = Vec::new();
    if write_request(drive, body, &mut request).is_err() {
        worker.series.mirrors_dropped.add(count);
        return;
    }
    let head_bytes = request.len();
    request.extend_from_slice(&copy.bytes);
    let request: Rc<[u8]> = request.into();
    let method = drive.exchange.head.method;
    for cluster in mirroring.clusters {
        if worker.mirrors.get() >= MIRRORS_MAX {
            worker.series.mirrors_dropped.increment();
            continue;
        }
        let has_body = !copy.bytes.is_empty();
        let copied = Copied { cluster, method, has_body, request: Rc::clone(&request), head_bytes };
        tokio::task::spawn_local(outbound::mirror(Rc::clone(&worker), copied));
    }
}

/// Most copies under way at a worker.
const MIRRORS_MAX: u32 = 1024;
