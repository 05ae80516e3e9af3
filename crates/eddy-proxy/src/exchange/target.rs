//! Path that is matched, and target that is sent to the endpoint.

use eddy_route::normalise::{Normal, PathFault};

use crate::exchange::state::Exchange;

/// Derives the path to match and the target to send from the request head.
///
/// Invariant: from here on, router, rewrites and endpoint see the same path.
pub(crate) fn derive_target(exchange: &mut Exchange) -> Result<(), PathFault> {
    let sent = match exchange.head.path.of(&exchange.head_bytes) {
        b"" => b"/",
        path => path,
    };
    exchange.path.clear();
    if sent == b"*" {
        exchange.path.push(b'*');
    } else {
        let normal = exchange.normaliser.apply(sent, &mut exchange.path)?;
        if normal == Normal::AsIs {
            exchange.path.clear();
            exchange.path.extend_from_slice(sent);
        }
    }
    reset_target(exchange);
    Ok(())
}

/// Takes path and target as they were received.
pub(crate) fn take_target(exchange: &mut Exchange) {
    exchange.path.clear();
    exchange.path.extend_from_slice(match exchange.head.path.of(&exchange.head_bytes) {
        b"" => b"/",
        path => path,
    });
    reset_target(exchange);
}

/// Sets the target to send to the matched path and the request's query.
pub(crate) fn reset_target(exchange: &mut Exchange) {
    exchange.target.clear();
    exchange.target.extend_from_slice(&exchange.path);
    append_query(exchange);
}

/// Appends the request's query to the target.
pub(crate) fn append_query(exchange: &mut Exchange) {
    if let Some(query) = exchange.head.query {
        exchange.target.push(b'?');
        exchange.target.extend_from_slice(query.of(&exchange.head_bytes));
    }
}
