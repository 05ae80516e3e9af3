//! Requests handled by NGINX servers and locations: the walk through them and its outcome.

use std::rc::Rc;

use eddy_config::ListenAddress;
use eddy_http::{EditFault, FieldEdits, FieldId, Fields, RequestBody, Version};
use eddy_io::{PeerAddress, Reusable};
use eddy_route::nginx::{NginxOutcome, SiteRequest, SiteTls, Sites};
use eddy_upstream::TriedEndpoints;

use crate::exchange::action::follow;
use crate::exchange::context::ExchangeCx;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::state::{Exchange, HeadSource, LocalBody, SiteState};
use crate::fault::{Fault, FaultSide};
use crate::resolved::{Destination, Route, SitesEntry, WorkerSites};

/// Walks the request to the location that handles it.
///
/// # Errors
/// [`Fault::RewriteFailed`] when the target to send is invalid.
pub(crate) fn find(ctx: &mut ExchangeCx<'_>, entry: SitesEntry) -> Result<(), Fault> {
    let SitesEntry { sites, address } = entry;
    let mut site = SiteState::begin();
    remove_invalid_fields(ctx, sites.program(), address);
    {
        let mut rng = ctx.worker.rng.borrow_mut();
        site.id = u128::from(rng.bits()) << 64 | u128::from(rng.bits());
    }
    let mut scratch = ctx.worker.route.borrow_mut();
    let request = request(ctx, site.id);
    site.outcome = sites.program().walk(address, &request, &mut site.walk, &mut scratch);
    drop(scratch);
    settle(ctx, sites, site)
}

/// Removes headers whose names NGINX considers invalid: two programs may read `X_User` as the same header as `X-User`.
fn remove_invalid_fields(ctx: &mut ExchangeCx<'_>, sites: &Sites, address: usize) {
    let Exchange { head, head_bytes, .. } = &mut *ctx.exchange;
    let mut filter = {
        let mut scratch = ctx.worker.route.borrow_mut();
        sites.field_filter(address, head.host.of(head_bytes), &mut scratch)
    };
    let mut asked = filter;
    if !head.fields(head_bytes).iter().all(|field| asked.keeps(field.name)) {
        head.edit(head_bytes).retain(|name| filter.keeps(name));
    }
}

/// Records the end of the walk, and writes the target for its upstream.
fn settle(ctx: &mut ExchangeCx<'_>, sites: Rc<WorkerSites>, mut site: Box<SiteState>) -> Result<(), Fault> {
    let place = site.walk.place();
    ctx.exchange.step = Some(sites.place(place).kind.word());
    ctx.route.forget();
    ctx.route.rule = Some(Rc::clone(sites.rule(place)));
    let mut settled = Ok(());
    if let NginxOutcome::Proxy { action } = site.outcome {
        let mut target = std::mem::take(&mut ctx.exchange.scratch);
        {
            let mut scratch = ctx.worker.route.borrow_mut();
            let request = request(ctx, site.id);
            let mut lookup = sites.program().lookup(&request, &mut site.walk, &mut scratch);
            settled = lookup.write_target(&mut target).map_err(|_| Fault::RewriteFailed);
        }
        let action = sites.action(action);
        ctx.route.action = Some(Rc::clone(action));
        if let Destination::Cluster(cluster) = &action.to {
            ctx.route.cluster = Some(Rc::clone(cluster));
        }
        std::mem::swap(&mut ctx.exchange.target, &mut target);
        ctx.exchange.scratch = target;
    }
    ctx.exchange.site = Some(site);
    ctx.route.sites = Some(sites);
    settled
}

/// Carries out the outcome of the walk.
pub(crate) fn act(ctx: &mut ExchangeCx<'_>) -> ExchangePhase {
    let (sites, mut site) = take(ctx).expect("the walk has ended at a place");
    let sites = sites.program();
    let mut prepared = Ok(());
    let phase = match site.outcome {
        NginxOutcome::Proxy { .. } => {
            prepared = prepare(ctx, sites, &mut site);
            None
        }
        NginxOutcome::Text { status } => {
            ctx.exchange.scratch.clear();
            ctx.exchange.scratch.extend_from_slice(site.walk.text());
            ctx.exchange.local.body = LocalBody::SiteText;
            ctx.exchange.status = status;
            Some(ExchangePhase::Reply)
        }
        NginxOutcome::Redirect { status } | NginxOutcome::Status { status } => {
            ctx.exchange.status = status;
            Some(ExchangePhase::Reply)
        }
        NginxOutcome::Close => None,
    };
    if phase.is_some() {
        let mut location = std::mem::take(&mut ctx.exchange.local.location);
        sites.write_location(&request(ctx, site.id), &mut site.walk, &mut location);
        ctx.exchange.local.location = location;
    }
    let outcome = site.outcome;
    ctx.exchange.site = Some(site);
    match (phase, prepared, ctx.route.action.clone()) {
        (Some(phase), _, _) => phase,
        (None, Err(_), _) => ctx.fail(Fault::RewriteFailed),
        (None, Ok(()), Some(action)) if outcome != NginxOutcome::Close => follow(ctx, &action),
        _ => ctx.fail(Fault::RuleClose),
    }
}

/// Applies `proxy_set_header` to the request head.
fn prepare(ctx: &mut ExchangeCx<'_>, sites: &Sites, site: &mut SiteState) -> Result<(), EditFault> {
    {
        let mut scratch = ctx.worker.route.borrow_mut();
        let request = request(ctx, site.id);
        let SiteState { walk, host, key, fields, outcome, .. } = &mut *site;
        let mut lookup = sites.lookup(&request, walk, &mut scratch);
        lookup.write_host(host);
        if let NginxOutcome::Proxy { action } = outcome {
            lookup.write_hash_key(*action, key);
        }
        fields.reset();
        lookup.for_each_field(|name, value| fields.add(name.as_bytes(), value));
    }
    let Exchange { head, head_bytes, .. } = &mut *ctx.exchange;
    // The host must not contain characters that would break its header line.
    if !site.host.iter().all(|byte| (0x21..0x7f).contains(byte)) {
        return Err(EditFault::BadAuthority { authority: site.host.escape_ascii().to_string() });
    }
    if site.walk.becomes_get() {
        head.set_method(head_bytes, b"GET")?;
    }
    if site.fields.is_empty() {
        return Ok(());
    }
    let mut editor = head.edit(head_bytes);
    for (name, value) in site.fields.iter() {
        match value {
            b"" => editor.remove(name)?,
            value => editor.set(name, value)?,
        }
    }
    Ok(())
}

/// Returns the action's response edits and the location's `add_header` directives for a response with this status;
/// `None` if there are none.
pub(crate) fn answer_edits(ctx: &mut ExchangeCx<'_>, status: u16) -> Option<FieldEdits> {
    let (sites, mut site) = take(ctx)?;
    let place = sites.place(site.walk.place());
    let mut edits = None;
    if !site.challenges.is_empty() || !place.added_headers.is_empty() {
        let mut own = ctx.route.response_edits().clone();
        for challenge in &site.challenges {
            if own.add("www-authenticate", challenge).is_err() {
                tracing::debug!("a `www-authenticate` challenge of the upstream is invalid and was omitted");
            }
        }
        let mut scratch = ctx.worker.route.borrow_mut();
        let request = request(ctx, site.id);
        sites.program().lookup(&request, &mut site.walk, &mut scratch).for_each_added_header(
            status,
            |name, value| {
                let added = std::str::from_utf8(value).map(|value| own.add(name, value));
                if !matches!(added, Ok(Ok(()))) {
                    tracing::debug!(name, "a value of `add_header` is invalid; the header was omitted");
                }
            },
        );
        edits = Some(own);
    }
    ctx.exchange.site = Some(site);
    edits
}

/// Returns the response edits for a response from an upstream or from filters; an error page may replace its status
/// first.
pub(crate) fn before_answer(ctx: &mut ExchangeCx<'_>, source: HeadSource) -> Option<FieldEdits> {
    let site = ctx.exchange.site.as_ref()?;
    if let Some(status) = site.walk.answer_status() {
        // A status without a body cannot replace one with a body; the upstream's status then stays.
        let _ = ctx.exchange.response.set_status(status.into());
    }
    let status = ctx.exchange.response.status;
    let edits = answer_edits(ctx, status);
    if ctx.exchange.is_local {
        return edits;
    }
    rewrite_fields(ctx, source, edits)
}

/// Adds the effect of `proxy_redirect` on the addresses in an upstream's response, and of `charset` on its content
/// type.
fn rewrite_fields(
    ctx: &mut ExchangeCx<'_>,
    source: HeadSource,
    edits: Option<FieldEdits>,
) -> Option<FieldEdits> {
    let fields = response_fields(ctx.exchange, source);
    let location = fields.first_named(b"location").map(<[u8]>::to_vec);
    let refresh = fields.first_named(b"refresh").map(<[u8]>::to_vec);
    let mut new_type = Vec::new();
    if let Some(site) = &ctx.exchange.site
        && let Some(sites) = &ctx.route.sites
        && let Some(content_type) = fields.first_named(b"content-type")
    {
        sites.program().write_content_type(
            content_type,
            ctx.exchange.response.status,
            &site.walk,
            &mut new_type,
        );
    }
    if location.is_none() && refresh.is_none() && new_type.is_empty() {
        return edits;
    }
    let (sites, mut site) = take(ctx).expect("the walk is under way");
    let sites = sites.program();
    let (mut new_location, mut new_refresh) = (Vec::new(), Vec::new());
    {
        let mut scratch = ctx.worker.route.borrow_mut();
        let request = request(ctx, site.id);
        let mut lookup = sites.lookup(&request, &mut site.walk, &mut scratch);
        if let Some(location) = location {
            lookup.write_redirect(&location, &mut new_location);
        }
        if let Some(refresh) = refresh {
            lookup.write_refresh(&refresh, &mut new_refresh);
        }
    }
    ctx.exchange.site = Some(site);
    if new_location.is_empty() && new_refresh.is_empty() && new_type.is_empty() {
        return edits;
    }
    let mut edits = edits.unwrap_or_else(|| ctx.route.response_edits().clone());
    for (name, value) in [("location", new_location), ("refresh", new_refresh), ("content-type", new_type)] {
        // An invalid value leaves the upstream's header unchanged.
        if let Ok(value) = std::str::from_utf8(&value)
            && !value.is_empty()
            && edits.set(name, value).is_err()
        {
            tracing::debug!(
                name,
                "a header changed by `proxy_redirect` or `charset` is invalid; it stays unchanged"
            );
        }
    }
    Some(edits)
}

/// Whether an error page replaces an endpoint's response with this status; if so, keeps the headers that the page needs.
pub(crate) fn intercepts(ctx: &mut ExchangeCx<'_>, status: u16) -> bool {
    let Some((sites, mut site)) = take(ctx) else { return false };
    let is_taken = sites.program().intercepts(status, &site.walk);
    if is_taken && status == 401 {
        let fields = response_fields(ctx.exchange, HeadSource::Endpoint);
        let challenges = fields.iter().filter(|field| field.id == FieldId::WwwAuthenticate);
        let challenges = challenges.filter_map(|field| Some(std::str::from_utf8(field.value).ok()?.into()));
        site.challenges.extend(challenges.take(CHALLENGES_MAX));
    }
    ctx.exchange.site = Some(site);
    is_taken
}

/// Returns the content type of a text that the NGINX place returns.
pub(crate) fn text_type<'a>(site: &SiteState, route: &'a Route) -> Option<&'a str> {
    Some(&route.sites.as_ref()?.place(site.walk.place()).default_type)
}

/// Returns the headers of a response.
fn response_fields(exchange: &Exchange, source: HeadSource) -> Fields<'_> {
    exchange.response.fields(source.bytes(exchange))
}

/// Returns the response status of a fault: NGINX responds 502 when no endpoint is available.
pub(crate) fn status_of(ctx: &ExchangeCx<'_>, fault: Fault) -> u16 {
    if ctx.exchange.site.is_some() && fault == Fault::NoEndpoint { 502 } else { fault.status() }
}

/// Continues with an error page when the upstream failed, before anything was sent.
pub(crate) fn show_error_page(ctx: &mut ExchangeCx<'_>) -> Option<ExchangePhase> {
    let fault = ctx.exchange.fault?;
    if fault.side() != FaultSide::Upstream {
        return None;
    }
    let next = walk_to_error_page(ctx, status_of(ctx, fault))?;
    // The caller writes the reply itself.
    (!matches!(next, ExchangePhase::Reply)).then_some(next)
}

/// Responds with an error page in place of an endpoint's response that [`intercepts`] has found to have one.
pub(crate) fn replace_answer(ctx: &mut ExchangeCx<'_>, status: u16) -> ExchangePhase {
    if let Some(next) = walk_to_error_page(ctx, status) {
        return next;
    }
    ctx.exchange.status = status;
    ctx.exchange.local.body = LocalBody::Status;
    ctx.exchange.local.location.clear();
    ExchangePhase::Reply
}

/// Walks to the error page of a status, if there is one and nothing was sent.
///
/// Body bytes that the client has sent cannot be sent to another upstream: such a request gets only the status.
fn walk_to_error_page(ctx: &mut ExchangeCx<'_>, status: u16) -> Option<ExchangePhase> {
    let exchange = &*ctx.exchange;
    if exchange.is_answered || exchange.answer.is_half_sent() {
        return None;
    }
    let is_bodiless = exchange.head.body == RequestBody::None && exchange.upload.data_bytes == 0;
    let (sites, mut site) = take(ctx)?;
    let next = {
        let mut scratch = ctx.worker.route.borrow_mut();
        let request = request(ctx, site.id);
        sites.program().lookup(&request, &mut site.walk, &mut scratch).walk_on_error(status)
    };
    let Some(outcome) = next else {
        ctx.exchange.site = Some(site);
        return None;
    };
    let asks_another = matches!(outcome, NginxOutcome::Proxy { .. });
    site.outcome = if asks_another && !is_bodiless { NginxOutcome::Status { status } } else { outcome };
    ctx.exchange.fault = None;
    ctx.exchange.answer.clear();
    if is_bodiless {
        ctx.exchange.tried = TriedEndpoints::new();
        ctx.exchange.attempts = 0;
        ctx.exchange.upload.clear();
    }
    if let Err(fault) = settle(ctx, sites, site) {
        return Some(ctx.fail(fault));
    }
    Some(act(ctx))
}

/// Takes the servers and the state of a walk in progress; the caller must put the state back.
fn take(ctx: &mut ExchangeCx<'_>) -> Option<(Rc<WorkerSites>, Box<SiteState>)> {
    let site = ctx.exchange.site.take()?;
    let sites = ctx.route.sites.clone().expect("a walk under way has its servers");
    Some((sites, site))
}

/// Returns the request as servers and locations see it.
fn request<'a>(ctx: &'a ExchangeCx<'_>, id: u128) -> SiteRequest<'a> {
    let exchange = &*ctx.exchange;
    let (head, bytes) = (&exchange.head, exchange.head_bytes.as_slice());
    let listener = &*ctx.listener;
    let local_port = match &listener.config.address {
        ListenAddress::Tcp(address) | ListenAddress::Udp(address) => address.port(),
        ListenAddress::Unix(_) => 0,
    };
    let sent = head.target.of(bytes);
    let path = head.path.of(bytes);
    // For a target in absolute form, only the part behind the authority.
    let origin_bytes = path.len() + head.query.map_or(0, |query| query.len() + 1);
    let (_, target) = sent.split_at(sent.len().saturating_sub(origin_bytes));
    SiteRequest {
        host: head.host.of(bytes),
        path,
        query: head.query.map(|query| query.of(bytes)),
        target: match target {
            b"" => b"/",
            target => target,
        },
        method: head.method_name(bytes),
        protocol: match head.version {
            Version::Http10 => "HTTP/1.0",
            Version::Http11 => "HTTP/1.1",
            Version::Http2 => "HTTP/2.0",
        },
        tls: ctx.down.client.secure().map(|secure| SiteTls {
            version: secure.facts.version,
            suite: secure.facts.suite,
            server_name: secure.facts.server_name.as_deref().unwrap_or_default(),
            protocol: secure.facts.protocol.as_deref().unwrap_or_default(),
            is_resumed: secure.facts.is_resumed,
            client_subject: secure.certificate.as_ref().map(|certificate| certificate.subject.as_str()),
        }),
        fields: head.fields(bytes),
        body_bytes: match head.body {
            RequestBody::Length(length) => Some(length),
            RequestBody::None | RequestBody::Chunked => None,
        },
        remote_address: ctx.down.client.peer_text.as_bytes(),
        remote_port: match ctx.down.client.peer {
            PeerAddress::Tcp(address) => address.port(),
            PeerAddress::Unix => 0,
        },
        local_address: listener.local_address.as_bytes(),
        local_port,
        id,
    }
}

/// Maximum number of upstream challenges that an error page keeps.
const CHALLENGES_MAX: usize = 16;
