//! Selection of an endpoint for an attempt, and the attempt's deadline.

use eddy_http::Fields;
use eddy_ids::{Millis, WorkerTime};
use eddy_model::{Balance, BalanceKey};
use eddy_upstream::Lease;

use crate::downstream::AddressKey;
use crate::exchange::context::ExchangeCx;
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

/// Returns the balancing key of a request from `peer` that is sent to the endpoint with `target`; empty when it has
/// none.
fn key_of<'r>(key: &BalanceKey, fields: &Fields<'r>, target: &'r [u8], peer: &'r str) -> &'r [u8] {
    let found = match key {
        BalanceKey::Header(name) => {
            fields.iter().find(|field| is_named(field.name, name)).map(|field| field.value)
        }
        BalanceKey::Cookie(name) => cookie(fields, name.as_bytes()),
        BalanceKey::Address => Some(peer.as_bytes()),
        BalanceKey::Path => target.split(|byte| *byte == b'?').next(),
    };
    found.unwrap_or_default()
}

fn is_named(name: &[u8], wanted: &str) -> bool {
    name.eq_ignore_ascii_case(wanted.as_bytes())
}

/// Returns the value of the first cookie of this name (RFC 6265 §4.2).
fn cookie<'r>(fields: &Fields<'r>, name: &[u8]) -> Option<&'r [u8]> {
    let cookies = fields.iter().filter(|field| is_named(field.name, "cookie"));
    cookies.flat_map(|field| field.value.split(|byte| *byte == b';')).find_map(|cookie| {
        let at = cookie.iter().position(|byte| *byte == b'=')?;
        let (own, value) = (cookie.get(..at)?, cookie.get(at + 1..)?);
        (own.trim_ascii() == name).then(|| value.trim_ascii())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use eddy_http::{HeadLimits, RequestHead};

    #[test]
    fn a_hash_key_is_taken_from_the_request() {
        let bytes = b"GET / HTTP/1.1\r\nHost: a\r\nX-User: one\r\nx-user: two\r\nCookie: a=1; session=\r\nCookie: id = x; session=two\r\n\r\n";
        let mut head = RequestHead::new();
        head.parse(bytes, &HeadLimits::default()).unwrap();
        let fields = head.fields(bytes);
        for (key, expected) in [
            (BalanceKey::Header("x-user".into()), "one"),
            (BalanceKey::Header("x-other".into()), ""),
            (BalanceKey::Cookie("a".into()), "1"),
            (BalanceKey::Cookie("id".into()), "x"),
            (BalanceKey::Cookie("session".into()), ""),
            (BalanceKey::Cookie("Session".into()), ""),
            (BalanceKey::Address, "10.0.0.1"),
            (BalanceKey::Path, "/a/b"),
        ] {
            assert_eq!(key_of(&key, &fields, b"/a/b?c", "10.0.0.1"), expected.as_bytes(), "{key:?}");
        }
    }
}
