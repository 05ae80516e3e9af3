//! Selection of an endpoint for an attempt, and the attempt's deadline.

use eddy_ids::{Millis, WorkerTime};
use eddy_model::Balance;
use eddy_upstream::Lease;

use crate::downstream::AddressKey;
use crate::exchange::context::ExchangeCx;
use crate::exchange::key::key_of;
use crate::upstream::WorkerCluster;

/// Selects an endpoint of the cluster for one more attempt.
pub(crate) fn lease(ctx: &mut ExchangeCx<'_>, cluster: &WorkerCluster, now: WorkerTime) -> Option<Lease> {
    let address_key = AddressKey::of(ctx.down.client.peer);
    let exchange = &mut *ctx.exchange;
    let mut state = cluster.state().borrow_mut();
    // A preference that is not strict applies to the first attempt only.
    let wish = exchange.filtering.endpoint.as_ref().filter(|wish| exchange.attempts == 0 || wish.is_strict);
    let wished = wish.and_then(|wish| state.select_address(&wish.address, now, &mut exchange.tried));
    if wished.is_some() || wish.is_some_and(|wish| wish.is_strict) {
        return wished;
    }
    let key = match cluster.config.balance {
        Balance::ClientAddress => address_key.bytes(),
        Balance::Hash | Balance::Ring | Balance::Maglev => match (&exchange.site, &cluster.config.key) {
            (Some(site), _) if !site.key.is_empty() => site.key.as_slice(),
            (_, None) => b"".as_slice(),
            (_, Some(key)) => {
                let fields = exchange.head.fields(&exchange.head_bytes);
                key_of(key, &fields, &exchange.target, &ctx.down.client.peer_text)
            }
        },
        Balance::RoundRobin | Balance::LeastRequest | Balance::Random => b"",
    };
    let mut rng = ctx.worker.rng.borrow_mut();
    state.select_for(key, now, &mut rng, &mut exchange.tried)
}

/// Returns the deadline of an attempt that begins now, on the worker's clock.
pub(crate) fn attempt_deadline(ctx: &ExchangeCx<'_>, now: WorkerTime) -> WorkerTime {
    let timeout = ctx.route.action().and_then(|action| action.attempt_timeout);
    timeout.map_or(WorkerTime::NEVER, |timeout| now.deadline(Millis::of(timeout)))
}
