//! Gateways: their ports, and the hosts that VirtualServices can serve there.

use super::credentials::Credentials;
use super::server_tls::IstioServerTls;
use super::spec::{GatewaySpec, ServerSpec};
use super::subset::{LabelPair, pairs};
use crate::dialect::kubernetes::{Object, Secrets};
use crate::problem::{ProblemReport, SourceSpan, SourceText, shown};
use crate::read::Spanned;
use crate::value::ObjectName;

/// Port of a Gateway.
#[derive(Clone, Debug)]
pub(super) struct IstioServer {
    /// Name of the Gateway.
    pub(super) gateway: ObjectName,
    /// Labels of the proxies that the Gateway is for, sorted.
    pub(super) selector: Vec<LabelPair>,
    pub(super) port: u16,
    /// Hosts, and the namespaces whose VirtualServices may serve them.
    pub(super) hosts: Vec<ServerHost>,
    /// Whether requests are redirected to `https`.
    pub(super) redirects_to_https: bool,
    /// TLS settings, for HTTPS.
    pub(super) tls: Option<IstioServerTls>,
    pub(super) place: SourceSpan,
}

/// Host of a Gateway.
#[derive(Clone, Debug)]
pub(super) struct ServerHost {
    /// Namespace; `None` for any.
    pub(super) namespace: Option<String>,
    /// Host, possibly with `*` in front.
    pub(super) host: String,
}

/// Reads the servers of a Gateway that eddy supports; problems go to `report`.
pub(super) fn read_gateway(
    object: &Object<'_>,
    secrets: &Secrets,
    sources: &[SourceText],
    report: &mut ProblemReport,
) -> Vec<IstioServer> {
    let Some(spec) = object.needed_part::<GatewaySpec>("spec", report) else { return Vec::new() };
    let gateway = ObjectName::of(&object.metadata);
    let credentials = Credentials { secrets, sources, namespace: &object.metadata.namespace };
    let mut selector = pairs(spec.value.selector.as_ref());
    selector.sort();
    let servers = spec.value.servers.into_iter().flat_map(|servers| servers.value);
    servers.filter_map(|server| read_server(server, &gateway, &selector, credentials, report)).collect()
}

fn read_server(
    server: Spanned<ServerSpec>,
    gateway: &ObjectName,
    selector: &[LabelPair],
    credentials: Credentials<'_>,
    report: &mut ProblemReport,
) -> Option<IstioServer> {
    let Spanned { value: ServerSpec { port, hosts, tls }, place } = server;
    let port = port?.value;
    let protocol = port.protocol?;
    let is_secure = match &*protocol.value.0.to_ascii_uppercase() {
        // One port serves clients of either HTTP version.
        "HTTP" | "HTTP2" | "GRPC" => false,
        "HTTPS" => true,
        "TCP" | "TLS" | "MONGO" => {
            report
                .objection(
                    protocol.place,
                    format!("eddy does not support `{}` servers in manifests", shown(&protocol.value.0)),
                )
                .hint("give `--lenient` to leave this port out");
            return None;
        }
        other => {
            let message = format!("expected a protocol such as `HTTP`, found `{}`", shown(other));
            report.error(protocol.place, message);
            return None;
        }
    };
    let hosts: Vec<ServerHost> = hosts?
        .value
        .into_iter()
        .filter_map(|host| read_host(&host.value.0, host.place, gateway, report))
        .collect();
    let own =
        if is_secure { Some(credentials.server_tls(tls.as_ref(), &hosts, place, report)?) } else { None };
    let is_redirecting = tls.and_then(|tls| tls.value.https_redirect).is_some_and(|flag| flag.value);
    Some(IstioServer {
        gateway: gateway.clone(),
        selector: selector.to_vec(),
        port: port.number?.value.to_u16(),
        hosts,
        // Requests over TLS need no redirect.
        redirects_to_https: is_redirecting && own.is_none(),
        tls: own,
        place,
    })
}

/// Reads `namespace/host`, or a host alone.
fn read_host(
    text: &str,
    place: SourceSpan,
    gateway: &ObjectName,
    report: &mut ProblemReport,
) -> Option<ServerHost> {
    let (namespace, host) = match text.split_once('/') {
        Some((".", host)) => (Some(gateway.namespace.to_string()), host),
        Some(("*", host)) => (None, host),
        Some((namespace, host)) => (Some(namespace.to_owned()), host),
        None => (None, text),
    };
    let host = check_host(host, place, report)?;
    Some(ServerHost { namespace, host })
}

/// Returns the host in lower case; an invalid one is reported.
pub(super) fn check_host(host: &str, place: SourceSpan, report: &mut ProblemReport) -> Option<String> {
    let bare = host.strip_prefix("*.").unwrap_or(host);
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_name = !bare.is_empty()
        && bare.len() <= 253
        && bare
            .trim_end_matches('.')
            .split('.')
            .all(|label| !label.is_empty() && label.bytes().all(is_letter));
    if host != "*" && !is_name {
        let message = format!("`{}` is not a valid host: write a name, `*`, or `*.` and a name", shown(host));
        report.error(place, message);
        return None;
    }
    Some(host.to_ascii_lowercase())
}

/// Returns the narrower of two hosts, if one contains the other.
pub(super) fn intersection<'h>(one: &'h str, other: &'h str) -> Option<&'h str> {
    if is_within(one, other) {
        Some(one)
    } else if is_within(other, one) {
        Some(other)
    } else {
        None
    }
}

/// Whether every host of the first pattern matches the second.
fn is_within(one: &str, other: &str) -> bool {
    match (one.strip_prefix('*'), other.strip_prefix('*')) {
        (Some(one), Some(other)) => one.len() >= other.len() && one.ends_with(other),
        (None, Some(other)) => one.ends_with(other),
        (Some(_), None) => false,
        (None, None) => one == other,
    }
}

/// API group of Istio's traffic objects.
pub(crate) const GROUP: &str = "networking.istio.io";
