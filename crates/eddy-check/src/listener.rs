//! Checks listeners: addresses, services, limits and timeouts.

use std::net::IpAddr;
use std::time::Duration;

use eddy_config::{
    ForwardedConfig, Http2Config, HttpLimits, HttpTimeouts, ListenAddress, ListenerConfig, Serve,
};
use eddy_http::{HeadLimits, Http2Limits};
use eddy_ids::{Shared, TableId};
use eddy_spec::problem::ProblemReport;
use eddy_spec::read::{OneOrMany, Spanned};
use eddy_spec::spec::{ForwardedSpec, Http2Spec, ListenerLimitsSpec, ListenerSpec, TimeoutsSpec};
use eddy_spec::value::TransportName;

use super::draft::Draft;
use super::forward::{check_forward, check_proxy_protocol, check_transport, check_unused};
use super::names::NameRegistry;
use super::setting::set;
use super::tls::check_tls;

/// Checks the listeners and adds them; the route tables that they name count as used.
pub fn check_listeners(
    specs: Option<&Spanned<Vec<Spanned<ListenerSpec>>>>,
    draft: &mut Draft<'_>,
    report: &mut ProblemReport,
) {
    for spec in specs.into_iter().flat_map(|specs| &specs.value) {
        let listener = check_listener(spec, draft, report);
        draft.listeners.extend(listener);
    }
}

fn check_listener(
    spec: &Spanned<ListenerSpec>,
    draft: &mut Draft<'_>,
    report: &mut ProblemReport,
) -> Option<ListenerConfig> {
    let Draft { sources, taken, tables, clusters, filters, .. } = draft;
    let spec = &spec.value;
    let transport = check_transport(spec, report);
    let serve = match &spec.forward {
        Some(ways) => {
            check_unused(spec, report);
            check_forward(ways, transport, clusters, sources, report).map(Serve::Forward)
        }
        None => check_serve(spec, &mut tables.names, report),
    };
    let filters = spec.filters.as_ref().map(|names| filters.check_listener(&names.value, report));
    let is_public = spec.address.as_ref().is_some_and(|address| is_public(&address.value));
    let mut limits = check_limits(spec.limits.as_ref(), report);
    let mut timeouts = check_timeouts(spec.timeouts.as_ref(), is_public, report);
    let is_idle_set = spec.timeouts.as_ref().is_some_and(|timeouts| timeouts.value.idle.is_some());
    let is_count_set = spec.limits.as_ref().is_some_and(|limits| limits.value.connections.is_some());
    match transport {
        TransportName::Tcp if spec.forward.is_some() && !is_idle_set => timeouts.idle = FORWARD_IDLE,
        TransportName::Udp if !is_count_set => limits.connections_max = SESSIONS_MAX,
        TransportName::Tcp | TransportName::Udp => {}
    }
    let proxy_protocol = spec.proxy_protocol.as_ref().map(|spec| check_proxy_protocol(spec, report));
    let forwarded = check_forwarded(spec.forwarded.as_ref(), report);
    let http2 = check_http2(spec.http2.as_ref());
    let tls = spec.tls.as_ref().and_then(|tls| check_tls(tls, sources, &mut taken.orders, report));
    let written = spec.address.as_ref()?;
    let address = match (&written.value, transport) {
        (ListenAddress::Tcp(address), TransportName::Udp) => ListenAddress::Udp(*address),
        (address, _) => address.clone(),
    };
    taken.take_address(&address, written.place, report);
    if is_public && serve == Some(Serve::Demo) {
        report.warning(
            written.place,
            "other machines can reach the demo endpoint, which has no access control",
        );
    }
    let name = match &spec.name {
        Some(name) => {
            taken.take_name(&name.value.0, name.place, report);
            Shared::clone(&name.value.0)
        }
        None => address.to_string().into(),
    };
    Some(ListenerConfig {
        name,
        tls,
        proxy_protocol,
        http2,
        limits,
        timeouts,
        forwarded,
        via: spec.via.as_ref().map(|via| via.value.0.clone()),
        request_id: spec.request_id.as_ref().map(|field| field.value.0.as_str().into()),
        has_access_log: spec.access_log.is_none_or(|access_log| access_log.value),
        filters: filters.unwrap_or_default(),
        ..ListenerConfig::new(address, serve?)
    })
}

/// Default idle timeout of a forwarded connection: many protocols are silent for minutes.
const FORWARD_IDLE: Duration = Duration::from_secs(10 * 60);
/// Default maximum of UDP sessions per listener: a client that forges addresses can create as many.
const SESSIONS_MAX: u32 = 10_000;

fn check_http2(spec: Option<&Spanned<Http2Spec>>) -> Http2Config {
    let mut config = Http2Config::default();
    let Some(Spanned { value: spec, .. }) = spec else { return config };
    set(&mut config.over_tls, spec.tls);
    set(&mut config.in_cleartext, spec.cleartext);
    let mut limits = Http2Limits::default();
    set(&mut limits.streams_max, spec.streams);
    set(&mut limits.stream_window, spec.stream_window);
    set(&mut limits.connection_window, spec.connection_window);
    set(&mut limits.budget, spec.budget);
    config.with(limits)
}

fn check_serve(
    spec: &ListenerSpec,
    table_names: &mut NameRegistry<TableId>,
    report: &mut ProblemReport,
) -> Option<Serve> {
    if let Some(demo) = spec.demo {
        if !demo.value && spec.routes.is_none() {
            report.error(demo.place, "a listener without the demo endpoint needs `routes`");
        }
        return Some(Serve::Demo);
    }
    let routes = spec.routes.as_ref()?;
    let names = OneOrMany::into_many(routes.clone());
    if names.is_empty() {
        report.error(routes.place, "a listener needs at least one route table");
    }
    let mut indexes = Vec::with_capacity(names.len());
    for name in &names {
        let Some(index) = table_names.resolve(name, report) else { continue };
        if indexes.contains(&index) {
            report.error(name.place, format!("the route table `{}` is already in this list", name.value.0));
        } else {
            indexes.push(index);
        }
    }
    Some(Serve::Routes(indexes))
}

fn check_limits(spec: Option<&Spanned<ListenerLimitsSpec>>, report: &mut ProblemReport) -> HttpLimits {
    let mut limits = HttpLimits::default();
    let Some(Spanned { value: spec, .. }) = spec else { return limits };
    let HeadLimits { head_bytes_max, fields_max, target_bytes_max } = &mut limits.head;
    if let Some(bytes) = spec.head_bytes {
        *head_bytes_max = bytes.value.to_u32();
        // The default target limit may exceed a shorter head limit; only an explicit target limit is an error, below.
        *target_bytes_max = (*target_bytes_max).min(*head_bytes_max);
    }
    if let Some(fields) = spec.fields {
        *fields_max = fields.value.to_u16();
    }
    if let Some(bytes) = spec.target_bytes {
        *target_bytes_max = bytes.value.to_u32();
        if *target_bytes_max > *head_bytes_max {
            let message =
                format!("the request target is part of the head, which has at most {head_bytes_max} bytes");
            report.error(bytes.place, message).hint("reduce `target_bytes` or increase `head_bytes`");
        }
    }
    limits.body_bytes_max = spec.body_bytes.map(|bytes| bytes.value.0);
    set(&mut limits.connections_max, spec.connections);
    set(&mut limits.requests_per_connection_max, spec.requests_per_connection);
    limits
}

fn check_timeouts(
    spec: Option<&Spanned<TimeoutsSpec>>,
    is_public: bool,
    report: &mut ProblemReport,
) -> HttpTimeouts {
    let mut timeouts = HttpTimeouts::default();
    let Some(Spanned { value: spec, .. }) = spec else { return timeouts };
    set(&mut timeouts.head, spec.head);
    set(&mut timeouts.idle, spec.idle);
    set(&mut timeouts.body_grace, spec.body_grace);
    if let Some(rate) = spec.body_rate {
        timeouts.body_rate_min = rate.value.to_u32();
        if timeouts.body_rate_min == 0 && is_public {
            report
                .warning(rate.place, "without `body_rate` slow clients can hold connections indefinitely")
                .hint("keep the default, or set `timeouts.exchange`");
        }
    }
    set(&mut timeouts.tunnel, spec.tunnel);
    set(&mut timeouts.tunnel_reload, spec.tunnel_reload);
    timeouts.exchange = spec.exchange.map(|exchange| exchange.value.0);
    timeouts
}

fn check_forwarded(spec: Option<&Spanned<ForwardedSpec>>, report: &mut ProblemReport) -> ForwardedConfig {
    let mut forwarded = ForwardedConfig::default();
    let Some(Spanned { value: spec, .. }) = spec else { return forwarded };
    set(&mut forwarded.x_forwarded, spec.x_forwarded);
    set(&mut forwarded.forwarded, spec.forwarded);
    for block in spec.trusted.iter().flat_map(|trusted| &trusted.value) {
        if block.value.prefix_bits == 0 {
            report
                .warning(block.place, "every peer is trusted: clients can claim any address")
                .hint("list the proxies in front of eddy");
        }
        forwarded.trusted.push(block.value);
    }
    forwarded
}

/// Whether an address is reachable from other machines.
fn is_public(address: &ListenAddress) -> bool {
    match address {
        ListenAddress::Tcp(address) | ListenAddress::Udp(address) => !is_loopback(address.ip()),
        ListenAddress::Unix(_) => false,
    }
}

/// Whether an address is reachable from this machine only.
pub(crate) fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}
