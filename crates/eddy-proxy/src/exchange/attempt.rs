//! One attempt: endpoint selection, a link to the endpoint, and the request head for it.

use std::fmt::Write as _;
use std::future::{Future, poll_fn};
use std::io::Write as _;
use std::net::SocketAddr;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use eddy_config::{FailureStatuses, MirrorHost, RetryConfig};
use eddy_http::{
    FieldEdits, ForwardedClient, ForwardedPolicy, RequestBody, RequestId, RequestWrite, TargetForm, Version,
    write_request_head,
};
use eddy_io::{PeerAddress, TICK_MS};
use eddy_upstream::{Balance, Lease, LimitKind, ResolvedAddress};

use crate::exchange::due::Due;
use crate::exchange::failover::{self, go_on_or_fail};
use crate::exchange::key::key_of;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::pump::{BodyCopy, OutputFraming};
use crate::exchange::run::ExchangeCx;
use crate::exchange::state::Exchange;
use crate::exchange::{filter, grpc, hedge, mirror, upgrade, upload_wait, watch};
use crate::fault::{Fault, FaultSide, RetryClass};
use crate::link::UpstreamChannel;
use crate::session::SecureClient;
use crate::worker::{EndpointGuard, LinkWanted, WorkerCluster, millis, now};

/// Selects an endpoint, preferably one that was not tried before.
pub(crate) fn choose(ctx: &mut ExchangeCx<'_>) -> ExchangePhase {
    let Some(cluster) = cluster(ctx) else { return go_on_or_fail(ctx, Fault::NoEndpoint) };
    if let Err(fault) = upgrade::decide(ctx, cluster.shares_links()) {
        return fail(ctx, fault);
    }
    if !upload_wait::take_slot(ctx, &cluster) {
        return ExchangePhase::Upload;
    }
    let admitted = match cluster.take(LimitKind::Requests) {
        Ok(admitted) => admitted,
        Err(fault) => return go_on_or_fail(ctx, fault),
    };
    let now_ms = ctx.worker.timers.now_ms();
    if ctx.exchange.attempts_here() == 0 {
        cluster.state().borrow_mut().budget().on_request(now(now_ms));
    }
    let lease = lease(ctx, &cluster, now_ms);
    ctx.exchange.attempts = ctx.exchange.attempts.saturating_add(1);
    ctx.exchange.attempt_due_ms = attempt_due_ms(ctx, now_ms);
    hedge::arm(ctx, now_ms);
    let exchange = &mut *ctx.exchange;
    match lease.and_then(|lease| EndpointGuard::begin(&cluster, lease, admitted)) {
        Some(guard) => {
            exchange.endpoint = Some(guard.address.clone());
            exchange.guard = Some(guard);
            ExchangePhase::Link
        }
        None => go_on_or_fail(ctx, Fault::NoEndpoint),
    }
}

/// Selects an endpoint of the cluster for one more attempt.
pub(super) fn lease(ctx: &mut ExchangeCx<'_>, cluster: &WorkerCluster, now_ms: u64) -> Option<Lease> {
    let address_key = AddressKey::of(ctx.down.client.peer);
    let exchange = &mut *ctx.exchange;
    let mut state = cluster.state().borrow_mut();
    // A preference that is not strict applies to the first attempt only.
    let wish = exchange.filtering.endpoint.as_ref().filter(|wish| exchange.attempts == 0 || wish.is_strict);
    let wished = wish.and_then(|wish| state.select_address(&wish.address, now(now_ms), &mut exchange.tried));
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
    state.select_for(key, now(now_ms), &mut rng, &mut exchange.tried)
}

/// Returns the deadline of an attempt that begins now, on the worker's clock.
pub(super) fn attempt_due_ms(ctx: &ExchangeCx<'_>, now_ms: u64) -> u64 {
    match ctx.action().and_then(|action| action.attempt_timeout) {
        // The worker's clock may be a tick behind.
        Some(limit) => now_ms.saturating_add(millis(limit)).saturating_add(TICK_MS),
        None => u64::MAX,
    }
}

/// Part of a client address that hashing uses: the /24 network of an IPv4 address, so that a client behind many
/// addresses keeps its endpoint; the whole IPv6 address.
pub(crate) enum AddressKey {
    V4([u8; 3]),
    V6([u8; 16]),
}

impl AddressKey {
    pub(crate) fn of(peer: PeerAddress) -> Self {
        match peer {
            PeerAddress::Tcp(SocketAddr::V4(address)) => {
                let [a, b, c, _] = address.ip().octets();
                Self::V4([a, b, c])
            }
            PeerAddress::Tcp(SocketAddr::V6(address)) => Self::V6(address.ip().octets()),
            PeerAddress::Unix => Self::V4([0; 3]),
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::V4(bytes) => bytes,
            Self::V6(bytes) => bytes,
        }
    }
}

/// Obtains a link, pooled or new, and writes the request head for it.
pub(crate) async fn link(ctx: &mut ExchangeCx<'_>) -> ExchangePhase {
    let obtained = if ctx.exchange.hedge.is_some() {
        // Boxed, so that exchanges without hedging reserve no space for it.
        Box::pin(hedge::obtain(ctx)).await
    } else {
        obtain(ctx).await
    };
    match obtained {
        Ok(upstream) => {
            ctx.exchange.endpoint_version = Some(upstream.version());
            ctx.exchange.upstream = Some(upstream);
            match write_head(ctx) {
                Ok(()) => ExchangePhase::Transfer,
                Err(fault) => fail(ctx, fault),
            }
        }
        Err(fault) => retry_or_fail(ctx, fault),
    }
}

/// Returns to another attempt where that is safe, allowed by the rule and within the retry budget; otherwise responds
/// with the fault.
pub(crate) fn retry_or_fail(ctx: &mut ExchangeCx<'_>, fault: Fault) -> ExchangePhase {
    note_failure(ctx, fault);
    ctx.exchange.has_met_stale_link |= fault == Fault::LinkStale;
    // A status is a fault only once its retry has been claimed; until then the endpoint's response is the response.
    let is_claimed = matches!(fault, Fault::RetryStatus(_) | Fault::RetryGrpc(_)) || claim_retry(ctx, fault);
    if !is_claimed && fault != Fault::PassedOver {
        return go_on_or_fail(ctx, fault);
    }
    if let Some(cluster) = cluster(ctx).filter(|_| is_claimed) {
        cluster.series.retries.increment();
    }
    ctx.exchange.end_attempt(&ctx.worker.buffers);
    ExchangePhase::Endpoint
}

/// Reports an attempt without a complete response to the endpoint's health and to the counters.
pub(crate) fn note_failure(ctx: &ExchangeCx<'_>, fault: Fault) {
    if let Some(guard) = &ctx.exchange.guard {
        note_failure_at(guard, fault, ctx.worker.timers.now_ms());
    }
}

/// Reports the failure of an attempt whose endpoint guard is `guard`.
pub(super) fn note_failure_at(guard: &EndpointGuard, fault: Fault, now_ms: u64) {
    if fault.side() == FaultSide::Upstream && !fault.is_judged() {
        guard.cluster().series.failures.increment();
        if fault.blames_endpoint() {
            guard.failed(now_ms);
        }
    }
}

/// Returns whether the exchange may be retried after `fault`; if so, draws on the retry budget.
pub(crate) fn claim_retry(ctx: &mut ExchangeCx<'_>, fault: Fault) -> bool {
    if !may_retry(ctx, fault) {
        return false;
    }
    // A request that no endpoint has looked at is not a retry.
    if fault == Fault::LinkLeft {
        return true;
    }
    cluster(ctx).is_some_and(|cluster| take_retry(ctx, &cluster))
}

/// Takes an additional attempt from the cluster's retry limit and retry budget.
pub(super) fn take_retry(ctx: &mut ExchangeCx<'_>, cluster: &WorkerCluster) -> bool {
    if ctx.exchange.retry_place.is_none() {
        match cluster.take(LimitKind::Retries) {
            Ok(place) => ctx.exchange.retry_place = place,
            Err(_) => return false,
        }
    }
    let now = now(ctx.worker.timers.now_ms());
    let is_granted = cluster.state().borrow_mut().budget().try_retry(now);
    if !is_granted {
        cluster.series.retries_refused.increment();
    }
    is_granted
}

/// Whether the rule permits a retry, apart from the budget.
fn may_retry(ctx: &ExchangeCx<'_>, fault: Fault) -> bool {
    let exchange = &*ctx.exchange;
    let default = RetryConfig::default();
    let retry = ctx.action().map_or(&default, |action| &action.retry);
    // The regular end of a link is no failure of the endpoint, so it does not count against the rule's number of
    // retries.
    let leaves = if fault == Fault::LinkLeft { GOAWAY_RETRIES_MAX } else { 0 };
    let allowed = retry.attempts.saturating_add(leaves.max(u8::from(fault == Fault::LinkStale)));
    if exchange.attempts_here() > allowed || exchange.is_answered || exchange.is_consumed() {
        return false;
    }
    is_reason(ctx, fault)
}

/// Whether `fault` is one that the rule retries.
pub(super) fn is_reason(ctx: &ExchangeCx<'_>, fault: Fault) -> bool {
    let exchange = &*ctx.exchange;
    let default = RetryConfig::default();
    let retry = ctx.action().map_or(&default, |action| &action.retry);
    let may_repeat = exchange.may_repeat();
    match fault.retry() {
        RetryClass::Never => false,
        RetryClass::Unseen => true,
        // An endpoint that closes an idle link has not begun to process a request that has not arrived completely.
        RetryClass::MaybeSeen => may_repeat || exchange.is_body_unread(),
        RetryClass::ByReset => may_repeat && retry.on_reset,
        RetryClass::ByTimeout => may_repeat && retry.on_timeout,
        RetryClass::ByStatus(status) => may_repeat && retry.statuses.contains(&status),
        // gRPC calls are POSTs with a body. An operator who lists gRPC statuses declares that these calls may be
        // repeated.
        RetryClass::ByGrpc(status) => retry.grpc_statuses.contains(status),
    }
}

/// Whether a response with this status counts as a failure of its endpoint.
pub(super) fn is_failure_status(ctx: &ExchangeCx<'_>, status: u16) -> bool {
    let default = RetryConfig::default();
    let retry = ctx.action().map_or(&default, |action| &action.retry);
    match retry.failure_statuses {
        FailureStatuses::Gateway => matches!(status, 502..=504),
        // As in NGINX: 403 and 404 say nothing about the endpoint, and the response to the last permitted attempt is
        // not a failure.
        FailureStatuses::Retried => {
            let exchange = &*ctx.exchange;
            retry.statuses.contains(&status)
                && !matches!(status, 403 | 404)
                && exchange.head.method.is_idempotent()
                && exchange.attempts_here() <= retry.attempts
        }
    }
}

/// Returns the cluster that the exchange is currently at.
pub(super) fn cluster(ctx: &ExchangeCx<'_>) -> Option<Rc<WorkerCluster>> {
    ctx.plan.clusters.get(ctx.exchange.cluster?).cloned()
}

/// Ends the attempt with a local reply.
pub(crate) fn fail(ctx: &mut ExchangeCx<'_>, fault: Fault) -> ExchangePhase {
    ctx.exchange.end_attempt(&ctx.worker.buffers);
    ctx.exchange.fault = Some(fault);
    ExchangePhase::Reply
}

/// Obtains a link before the deadlines of the exchange and of the attempt, as long as the client waits for it.
async fn obtain(ctx: &mut ExchangeCx<'_>) -> Result<UpstreamChannel, Fault> {
    let worker = ctx.worker;
    let wanted = match &ctx.exchange {
        exchange if exchange.has_met_stale_link => LinkWanted::New,
        exchange if exchange.may_repeat() => LinkWanted::Any,
        _ => LinkWanted::Quiet,
    };
    let is_alone = ctx.exchange.upgrade.is_open();
    // If another cluster can take over, do not queue for a link here.
    let has_elsewhere = failover::next(ctx, Fault::LinksExhausted).is_some();
    let mut due = Due { at_ms: ctx.exchange.due_ms, fault: Fault::ExchangeTimeout };
    due.sooner(ctx.exchange.attempt_due_ms, Fault::AttemptTimeout);
    let mut watch = watch::until_linked(ctx.exchange);
    let ExchangeCx { down, exchange, .. } = ctx;
    let guard = exchange.guard.as_ref().ok_or(Fault::NoEndpoint)?;
    let mut obtaining = pin!(async {
        match () {
            // The target of a tunnel need not be an HTTP server.
            () if is_alone => worker.obtain_alone(guard).await,
            () if has_elsewhere => worker.obtain(guard, wanted).await,
            () => worker.obtain_in_turn(guard, wanted).await,
        }
    });
    poll_fn(|cx| {
        if let Poll::Ready(obtained) = obtaining.as_mut().poll(cx) {
            return Poll::Ready(obtained);
        }
        watch::poll_patience(cx, down, worker, &mut watch, due, u64::MAX).map(Err)
    })
    .await
}

/// Writes the request head for the endpoint and prepares the body.
pub(super) fn write_head(ctx: &mut ExchangeCx<'_>) -> Result<(), Fault> {
    let body = filter::request_framing(ctx);
    let ExchangeCx { down, exchange, .. } = &mut *ctx;
    // Body bytes that an earlier attempt has read from the client are sent again.
    let taken = exchange.upload.take_copied(&mut down.input);
    exchange.upload.restart();
    upgrade::check_body(ctx.exchange, body)?;
    upgrade::check_link(ctx.exchange)?;
    ctx.exchange.passes_expectation = passes_expectation(ctx, body);
    if ctx.exchange.upgrade.is_open() {
        upgrade::open(ctx.exchange, &ctx.worker.buffers);
    } else {
        let mut out = std::mem::take(&mut ctx.exchange.upload.out);
        let written = write_request(ctx, body, MirrorHost::Same, &mut out);
        ctx.exchange.upload.out = out;
        written?;
    }
    let exchange = &mut *ctx.exchange;
    exchange.upload.end_head();
    let announced = if let RequestBody::Length(length) = body { Some(length) } else { None };
    let framing = match body {
        _ if exchange.endpoint_version == Some(Version::Http2) => OutputFraming::Frames,
        RequestBody::Chunked => OutputFraming::Chunked,
        RequestBody::Length(_) | RequestBody::None => OutputFraming::Plain,
    };
    exchange.upload.set_framing(framing, announced);
    // On a shared link, an endpoint may refuse the stream after its body has been sent.
    if framing == OutputFraming::Frames && !body.is_empty() {
        exchange.upload.copy = Some(BodyCopy::to_repeat());
    }
    // A tunnel is never mirrored: it has exactly two ends.
    if !ctx.exchange.upgrade.is_asked() {
        mirror::begin(ctx);
    }
    grpc::keep_request(ctx);
    let Exchange { filtering, upload, .. } = &mut *ctx.exchange;
    filtering.run.request.seal();
    if !filter::stage_whole(&filtering.run.request, upload) {
        upload.push_data(&taken);
    }
    Ok(())
}

/// Whether `Expect: 100-continue` is passed on to the endpoint: no `100` has been sent to the client, and no body byte
/// has arrived.
fn passes_expectation(ctx: &ExchangeCx<'_>, body: RequestBody) -> bool {
    let exchange = &*ctx.exchange;
    exchange.head.expects_continue
        && !exchange.is_continued
        && !body.is_empty()
        && !exchange.filtering.has_whole_request()
        && !exchange.upgrade.is_asked()
        && !ctx.down.has_body_begun()
}

/// Writes the request head for a body of this framing, and checks it with the parser that peers are held to (egress
/// check).
pub(super) fn write_request(
    ctx: &mut ExchangeCx<'_>,
    body: RequestBody,
    named: MirrorHost,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    let config = &ctx.listener().config;
    let forwarded = &config.forwarded;
    let peer_ip = ctx.down.client.peer.ip();
    let is_trusted = forwarded.trusted.iter().any(|block| block.contains(peer_ip));
    let policy =
        ForwardedPolicy { x_forwarded: forwarded.x_forwarded, forwarded: forwarded.forwarded, port: None };
    let via = config.via.clone();
    let id_name = config.request_id.clone();
    if let Some(name) = &id_name {
        make_request_id(ctx, name, is_trusted);
    }
    let plan = Rc::clone(&ctx.plan);
    let action = plan.plan.action(ctx.exchange.action);
    let exchange = &mut *ctx.exchange;
    let bytes = exchange.head_bytes.as_slice();
    let site_host = exchange.site.as_ref().filter(|site| site.is_under_way && !site.host.is_empty());
    let host = match action.and_then(|action| action.host_rewrite.as_deref()) {
        _ if site_host.is_some() => site_host.map_or(b"".as_slice(), |site| &site.host),
        Some(host) if !exchange.head.is_authority_own => host.as_bytes(),
        _ if exchange.head.authority.is_empty() => {
            // An HTTP/1.0 client need not send a host; most endpoints require one.
            name_endpoint(&mut exchange.scratch, exchange.endpoint.as_ref());
            &exchange.scratch
        }
        _ => exchange.head.authority.of(bytes),
    };
    let of_copy = mirror::host_of_copy(host, named);
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
        via: via.as_deref(),
        request_id: id_name.as_deref().map(|name| RequestId {
            name,
            value: &exchange.request_id,
            replace: !is_trusted,
        }),
        upgrade: exchange.upgrade.protocol(),
        passes_expectation: exchange.passes_expectation,
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

/// Maximum number of times that a request is sent again because its link had ended (GOAWAY).
const GOAWAY_RETRIES_MAX: u8 = 10;
