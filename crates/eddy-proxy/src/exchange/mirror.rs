//! Mirroring: copies of a request for other clusters, whose responses are discarded.
//!
//! A copy is sent after the request itself and never delays it. Copies that cannot be made or sent are counted and
//! dropped.

use std::rc::Rc;

use eddy_config::{Mirror, MirrorHost};
use eddy_http::RequestBody;

use crate::exchange::attempt::write_request;
use crate::exchange::context::ExchangeCx;
use crate::exchange::state::{MirrorCopy, Mirroring};
use crate::message::BodyCopy;
use crate::outbound::{self, Copied};
use crate::upstream::WorkerCluster;

/// Draws the mirrors of the request when its head is written for the first time.
pub(crate) fn begin(ctx: &mut ExchangeCx<'_>) {
    let exchange = &mut *ctx.exchange;
    let action = ctx.route.action.as_ref().filter(|action| !action.mirrors.is_empty());
    let Some(action) = action else { return };
    if matches!(exchange.mirroring, Mirroring::NotStarted) {
        let mut rng = ctx.worker.rng.borrow_mut();
        let mut is_in_fraction =
            |mirror: &Mirror| rng.below(u64::from(mirror.denominator.max(1))) < u64::from(mirror.numerator);
        let mirrors = action.config.mirrors.iter().zip(&action.mirrors);
        let wanted = mirrors
            .filter(|(mirror, _)| is_in_fraction(mirror))
            .map(|(mirror, cluster)| MirrorCopy { cluster: Rc::clone(cluster), host: mirror.host });
        let copies: Box<[MirrorCopy]> = wanted.collect();
        exchange.mirroring = if copies.is_empty() { Mirroring::Done } else { Mirroring::Pending(copies) };
    }
    if exchange.mirroring.is_pending() {
        // Body bytes that an earlier attempt has copied are sent again and copied anew.
        exchange.upload.copy = Some(BodyCopy::for_others());
    }
}

/// Sends the copies of a request that has been sent.
pub(crate) fn send(ctx: &mut ExchangeCx<'_>) {
    let state = std::mem::replace(&mut ctx.exchange.mirroring, Mirroring::Done);
    let Mirroring::Pending(copies) = state else { return };
    // The body of a copy follows its head at once.
    ctx.exchange.forwards_expectation = false;
    let copy = ctx.exchange.upload.copy.take().unwrap_or_else(BodyCopy::for_others);
    if copy.is_too_large {
        ctx.worker.series.mirrors_dropped.add(copies.len() as u64);
        return;
    }
    // Copies with the same host share one rendering of the request.
    for host in [MirrorHost::Same, MirrorHost::Shadow] {
        let meant = copies.iter().filter(|copy| copy.host == host);
        let clusters: Vec<Rc<WorkerCluster>> = meant.map(|copy| Rc::clone(&copy.cluster)).collect();
        if !clusters.is_empty() {
            send_to(ctx, clusters, host, &copy.bytes);
        }
    }
}

fn send_to(ctx: &mut ExchangeCx<'_>, clusters: Vec<Rc<WorkerCluster>>, host: MirrorHost, body: &[u8]) {
    let worker = Rc::clone(ctx.worker);
    let framing = match body.len() as u64 {
        0 => RequestBody::None,
        length => RequestBody::Length(length),
    };
    let mut request = Vec::new();
    if write_request(ctx, framing, host, &mut request).is_err() {
        worker.series.mirrors_dropped.add(clusters.len() as u64);
        return;
    }
    let head_bytes = request.len();
    request.extend_from_slice(body);
    let request: Rc<[u8]> = request.into();
    let method = ctx.exchange.head.method;
    for cluster in clusters {
        if worker.mirrors.get() >= MIRRORS_MAX {
            worker.series.mirrors_dropped.increment();
            continue;
        }
        let has_body = !body.is_empty();
        let copied = Copied { cluster, method, has_body, request: Rc::clone(&request), head_bytes };
        tokio::task::spawn_local(outbound::mirror(Rc::clone(&worker), copied));
    }
}

/// Maximum number of copies in progress per worker.
const MIRRORS_MAX: u32 = 1024;
