//! VirtualServices: their Gateways, visibility and routes.

use eddy_ids::Shared;
use eddy_spec::problem::{ProblemReport, SourceSpan};
use eddy_spec::read::Spanned;
use eddy_spec::value::ObjectName;

use super::host::{check_host, full_name};
use super::spec::{HttpRouteSpec, MatchSpec, VirtualServiceSpec};
use crate::kubernetes::{ApiText, Object};

/// One VirtualService.
#[derive(Clone, Debug)]
pub(super) struct VirtualService {
    pub(super) name: ObjectName,
    pub(super) created: Option<i64>,
    pub(super) hosts: Vec<String>,
    /// Gateways that it is bound to.
    pub(super) gateways: Vec<ObjectName>,
    pub(super) export: Export,
    pub(super) routes: Vec<HttpRoute>,
    /// Whether other VirtualServices may delegate to it.
    pub(super) is_delegate: bool,
    pub(super) place: SourceSpan,
}

/// Route, with the namespace in which its destinations are resolved.
#[derive(Clone, Debug)]
pub(super) struct HttpRoute {
    pub(super) spec: HttpRouteSpec,
    pub(super) namespace: Shared<str>,
    /// Source position, which gives file and line.
    pub(super) place: SourceSpan,
    /// Prefix of the names of its rules.
    pub(super) label: String,
}

/// Namespaces that see a VirtualService.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Export {
    /// All namespaces.
    All,
    /// These namespaces; `.` is its own.
    To(Vec<String>),
}

impl VirtualService {
    /// Returns its rank among those that a namespace sees: private ones, then those exported there by name, then those
    /// exported to all; `None` when the namespace does not see it.
    pub(super) fn visibility_rank(&self, namespace: &str) -> Option<u8> {
        match &self.export {
            Export::All => Some(2),
            Export::To(to) if *self.name.namespace == *namespace && to.iter().any(|to| to == ".") => Some(0),
            Export::To(to) if to.iter().any(|to| to == namespace) => Some(1),
            Export::To(_) => None,
        }
    }
}

/// Reads a VirtualService; problems go to `report`.
pub(super) fn read_service(object: &Object<'_>, report: &mut ProblemReport) -> VirtualService {
    let spec = object.needed_part::<VirtualServiceSpec>("spec", report);
    let spec = spec.map_or_else(VirtualServiceSpec::default, |spec| spec.value);
    let name = object.metadata.full_name();
    for (key, place) in [("tls", spec.tls.map(|tls| tls.place)), ("tcp", spec.tcp.map(|tcp| tcp.place))] {
        if let Some(place) = place {
            report
                .objection(place, format!("eddy does not support `{key}` routes in manifests"))
                .hint("remove them, or ignore them with `--lenient`");
        }
    }
    let hosts = spec.hosts.into_iter().flat_map(|hosts| hosts.value);
    let hosts = hosts.filter_map(|host| check_host(&host.value.0, host.place, report));
    let hosts: Vec<String> = hosts.map(|host| full_name(&host, &name.namespace)).collect();
    let gateways: Vec<Spanned<_>> = spec.gateways.into_iter().flat_map(|gateways| gateways.value).collect();
    let is_delegate = hosts.is_empty();
    if is_delegate && !gateways.is_empty() {
        report
            .error(object.metadata.place, "a VirtualService with `gateways` needs `hosts`")
            .hint("a delegate has neither");
    }
    let bound: Vec<ObjectName> =
        gateways.iter().filter_map(|gateway| gateway_name(&gateway.value.0, &name.namespace)).collect();
    if bound.is_empty() && !is_delegate {
        report
            .warning(
                object.metadata.place,
                "this VirtualService is only for the mesh: eddy is a gateway and serves none of it",
            )
            .hint("write a Gateway under `gateways`");
    }
    let export: Vec<String> =
        spec.export_to.into_iter().flat_map(|export| export.value).map(|to| to.value.0.to_string()).collect();
    let export =
        if export.is_empty() || export.iter().any(|to| to == "*") { Export::All } else { Export::To(export) };
    let is_for_gateways = !bound.is_empty() || is_delegate;
    let routes = spec.http.into_iter().flat_map(|http| http.value).enumerate().map(|(number, mut route)| {
        let matches = route.value.matches.iter_mut().flat_map(|matches| &mut matches.value);
        matches.for_each(|spec| check_source(&mut spec.value, &name.namespace, is_for_gateways, report));
        let own = route.value.name.as_ref().map(|name| name.value.0.to_string());
        let own = own.unwrap_or_else(|| number.to_string());
        HttpRoute {
            namespace: name.namespace.clone(),
            place: route.place,
            label: format!("{}/{}/{own}", name.namespace, name.name),
            spec: route.value,
        }
    });
    VirtualService {
        created: object.metadata.created,
        hosts,
        gateways: bound,
        export,
        routes: routes.collect(),
        is_delegate,
        place: object.metadata.place,
        name,
    }
}

/// Adds namespaces to the Gateways of a match, and rejects conditions on the proxy that receives the request.
fn check_source(
    spec: &mut MatchSpec,
    namespace: &Shared<str>,
    is_for_gateways: bool,
    report: &mut ProblemReport,
) {
    let gateways = spec.gateways.iter_mut().flat_map(|gateways| &mut gateways.value);
    let mut has_gateways = false;
    for gateway in gateways {
        has_gateways = true;
        if let Some(name) = gateway_name(&gateway.value.0, namespace) {
            gateway.value = ApiText(format!("{}/{}", name.namespace, name.name).into());
        }
    }
    // With `gateways`, neither has an effect.
    if has_gateways || !is_for_gateways {
        return;
    }
    let labels = spec.source_labels.as_ref().map(|labels| labels.place);
    let source = spec.source_namespace.as_ref().map(|namespace| namespace.place);
    for (key, place) in [("sourceLabels", labels), ("sourceNamespace", source)] {
        if let Some(place) = place {
            report
                .objection(place, format!("`{key}` matches the receiving proxy, which eddy cannot do"))
                .hint("add `gateways: [mesh]` to a match that is only for sidecars; with `--lenient`, eddy ignores the match");
        }
    }
}

/// Returns the Gateway that a name refers to in a namespace, or `None` for the mesh.
pub(super) fn gateway_name(text: &str, namespace: &Shared<str>) -> Option<ObjectName> {
    if text == "mesh" {
        return None;
    }
    let (namespace, name) = match (text.split_once('/'), text.split_once('.')) {
        (Some((".", name)), _) => (Shared::clone(namespace), name),
        (Some((namespace, name)), _) => (namespace.into(), name),
        // Older form: `name.namespace.svc.cluster.local`.
        (None, Some((name, rest))) => (rest.split('.').next().unwrap_or_default().into(), name),
        (None, None) => (Shared::clone(namespace), text),
    };
    Some(ObjectName { namespace, name: name.into() })
}
