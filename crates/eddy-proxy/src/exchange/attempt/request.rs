//! Request head for an endpoint, written anew by each attempt.

use std::fmt::Write as _;
use std::io::Write as _;
use std::rc::Rc;

use eddy_config::MirrorHost;
use eddy_http::{
    FieldEdits, ForwardedClient, ForwardedPolicy, RequestBody, RequestId, RequestWrite, TargetForm,
    write_request_head,
};
use eddy_upstream::ResolvedAddress;

use crate::downstream::SecureClient;
use crate::exchange::context::ExchangeCx;
use crate::fault::Fault;

/// Writes the request head for a body of this framing, and checks it with the parser that peers are held to (egress
/// check).
pub(crate) fn write_request(
    ctx: &mut ExchangeCx<'_>,
    body: RequestBody,
    named: MirrorHost,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let listener = Rc::clone(&ctx.listener);
    let config = &listener.config;
    let forwarded = &config.forwarded;
    let peer_ip = ctx.down.client.peer.ip();
    let is_trusted = forwarded.trusted.iter().any(|block| block.contains(peer_ip));
    let policy =
        ForwardedPolicy { x_forwarded: forwarded.x_forwarded, forwarded: forwarded.forwarded, port: None };
    if let Some(name) = &config.request_id {
        make_request_id(ctx, name, is_trusted);
    }
    let action = ctx.route.action();
    let exchange = &mut *ctx.exchange;
    let bytes = exchange.head_bytes.as_slice();
    let site_host = exchange.site.as_ref().filter(|site| !site.host.is_empty());
    let host = match (site_host, action.and_then(|action| action.host_rewrite.as_deref())) {
        (Some(site), _) => site.host.as_slice(),
        (None, Some(host)) if !exchange.head.is_authority_own => host.as_bytes(),
        _ if exchange.head.authority.is_empty() => {
            // An HTTP/1.0 client need not send a host; most endpoints require one.
            name_endpoint(&mut exchange.scratch, exchange.endpoint.as_deref());
            &exchange.scratch
        }
        _ => exchange.head.authority.of(bytes),
    };
    let of_copy = mirror_host(host, named);
    let target = match exchange.head.form {
        TargetForm::Authority => exchange.head.authority.of(bytes),
        TargetForm::Origin | TargetForm::Absolute | TargetForm::Asterisk => &exchange.target,
    };
    let request = RequestWrite {
        bytes,
        head: &exchange.head,
        target,
        host: of_copy.as_deref().unwrap_or(host),
        body,
        edits: match action {
            Some(action) => &action.request_edits,
            None => FieldEdits::none(),
        },
        client: ForwardedClient {
            address: ctx.down.client.peer_text.as_bytes(),
            scheme: ctx.down.client.scheme(),
            certificate: ctx.down.client.secure().map_or("", SecureClient::forwarded),
            is_trusted,
            policy,
        },
        via: config.via.as_deref(),
        request_id: config.request_id.as_deref().map(|name| RequestId {
            name,
            value: &exchange.request_id,
            replace: !is_trusted,
        }),
        upgrade: exchange.upgrade.protocol(),
        forwards_expectation: exchange.forwards_expectation,
    };
    write_request_head(out, &request);
    let mut egress = ctx.worker.egress.borrow_mut();
    let method = exchange.head.method_name(bytes);
    let checked = match request.upgrade {
        Some(protocol) => egress.check_upgrade(out, method, target, protocol),
        None => egress.check_request(out, method, target, body),
    };
    checked.map_err(|fault| {
        ctx.worker.series.egress_stopped.increment();
        tracing::error!(?fault, "egress check failed; the request was not sent");
        Fault::Egress
    })
}

/// Writes the host name for an endpoint: its address, or `localhost` behind a Unix socket.
fn name_endpoint(out: &mut Vec<u8>, endpoint: Option<&ResolvedAddress>) {
    out.clear();
    match endpoint {
        Some(ResolvedAddress::Tcp(address)) => {
            // Writing to memory cannot fail.
            let _ = write!(out, "{address}");
        }
        Some(ResolvedAddress::Unix(_)) | None => out.extend_from_slice(b"localhost"),
    }
}

/// Sets the request ID: the client's if the peer is trusted to send one, otherwise 32 random hexadecimal digits.
fn make_request_id(ctx: &mut ExchangeCx<'_>, name: &str, is_trusted: bool) {
    let exchange = &mut *ctx.exchange;
    if !exchange.request_id.is_empty() {
        // A retry keeps the request ID of its exchange.
        return;
    }
    let sent = exchange.head.fields(&exchange.head_bytes).first_named(name.as_bytes());
    match sent.filter(|_| is_trusted).and_then(|sent| std::str::from_utf8(sent).ok()) {
        Some(sent) => exchange.request_id.push_str(sent),
        None => {
            let mut rng = ctx.worker.rng.borrow_mut();
            // Writing to a string cannot fail.
            let _ = write!(exchange.request_id, "{:016x}{:016x}", rng.bits(), rng.bits());
        }
    }
}

/// Returns the host of a copy if it differs from the request's.
fn mirror_host(host: &[u8], wanted: MirrorHost) -> Option<Vec<u8>> {
    if wanted == MirrorHost::Same || host.starts_with(b"[") {
        return None;
    }
    let end = host.iter().position(|byte| *byte == b':').unwrap_or(host.len());
    let (name, port) = host.split_at(end);
    Some([name, b"-shadow", port].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrored_requests_have_the_same_host_or_a_shadow_suffix() {
        let shadow = |host: &str| mirror_host(host.as_bytes(), MirrorHost::Shadow);
        assert_eq!(shadow("a.test").as_deref(), Some(&b"a.test-shadow"[..]));
        assert_eq!(shadow("a.test:8080").as_deref(), Some(&b"a.test-shadow:8080"[..]));
        assert_eq!(shadow("[::1]:80"), None);
        assert_eq!(mirror_host(b"a.test", MirrorHost::Same), None);
    }
}
