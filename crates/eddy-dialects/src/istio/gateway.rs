//! Gateways: their ports, and the hosts that VirtualServices can serve there.

use eddy_spec::problem::{ProblemReport, SourceSpan, SourceText, shown};
use eddy_spec::read::Spanned;
use eddy_spec::value::ObjectName;

use super::credentials::Credentials;
use super::host::check_host;
use super::label::{LabelPair, pairs};
use super::server_tls::IstioServerTls;
use super::spec::{GatewaySpec, ServerSpec};
use crate::kubernetes::{Object, Secrets};

/// Gateway: the proxies that it is for, and its servers.
#[derive(Clone, Debug)]
pub(super) struct IstioGateway {
    pub(super) name: ObjectName,
    /// Labels of the proxies that it is for, sorted.
    pub(super) selector: Vec<LabelPair>,
    /// Servers that eddy supports.
    pub(super) servers: Vec<IstioServer>,
}

/// Port of a Gateway.
#[derive(Clone, Debug)]
pub(super) struct IstioServer {
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

pub(super) fn read_gateway(
    object: &Object<'_>,
    secrets: &Secrets,
    sources: &[SourceText],
    report: &mut ProblemReport,
) -> Option<IstioGateway> {
    let spec = object.needed_part::<GatewaySpec>("spec", report)?;
    let name = object.metadata.full_name();
    let credentials = Credentials { secrets, sources, namespace: &object.metadata.namespace };
    let mut selector = pairs(spec.value.selector.as_ref());
    selector.sort();
    let servers = spec.value.servers.into_iter().flat_map(|servers| servers.value);
    let servers =
        servers.filter_map(|server| read_server(server, &name, &selector, credentials, report)).collect();
    Some(IstioGateway { name, selector, servers })
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
    let own = if is_secure {
        let names = hosts.iter().map(|host| host.host.clone()).collect();
        Some(credentials.server_tls(tls.as_ref(), names, place, report)?)
    } else {
        None
    };
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
