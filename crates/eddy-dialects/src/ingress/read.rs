//! Reads an Ingress as written into the model.

use std::net::IpAddr;

use eddy_route::HostPattern;
use eddy_spec::problem::{ProblemReport, shown};
use eddy_spec::read::{FromScalar, InvalidValue, Spanned};

use super::model::{Annotation, Backend, HostRule, HostTls, Ingress, PathKind, PathRule};
use super::spec::{BackendSpec, IngressSpec, PathSpec, RuleSpec, ServiceBackendSpec, TlsSpec};
use crate::kubernetes::{ApiText, Object, PortOrName};

/// Reads an Ingress and the name of its class; problems go to `report`.
pub(super) fn read_ingress(
    object: &Object<'_>,
    report: &mut ProblemReport,
) -> (Ingress, Option<Spanned<String>>) {
    let spec = object.needed_part::<IngressSpec>("spec", report);
    let spec = spec.map_or_else(IngressSpec::default, |spec| spec.value);
    let metadata = &object.metadata;
    let annotations = metadata.annotations.iter().map(|(name, value)| Annotation {
        name: name.to_string(),
        value: value.value.to_string(),
        place: value.place,
    });
    let class = spec.class.map(text);
    // The older way to name the class.
    let class = class.or_else(|| {
        let class = metadata.annotation("kubernetes.io/ingress.class")?;
        Some(Spanned { value: class.value.to_string(), place: class.place })
    });
    let has_backend = spec.default_backend.is_some();
    let rules = spec.rules.map_or_else(Vec::new, |rules| rules.value);
    if rules.is_empty() && !has_backend {
        report
            .warning(metadata.place, "this Ingress has neither `rules` nor a `defaultBackend`")
            .hint("it serves no requests");
    }
    let ingress = Ingress {
        namespace: metadata.namespace.to_string(),
        name: metadata.name.to_string(),
        created: metadata.created,
        place: metadata.place,
        annotations: annotations.collect(),
        default_backend: spec.default_backend.and_then(|backend| read_backend(backend, report)),
        rules: rules.into_iter().filter_map(|rule| read_rule(rule, report)).collect(),
        tls: spec.tls.into_iter().flat_map(|tls| tls.value).map(|tls| read_tls(tls, report)).collect(),
    };
    (ingress, class)
}

fn read_tls(tls: Spanned<TlsSpec>, report: &mut ProblemReport) -> HostTls {
    let Spanned { value: TlsSpec { hosts, secret }, place } = tls;
    let hosts = hosts.into_iter().flat_map(|hosts| hosts.value);
    HostTls {
        hosts: hosts.filter_map(|host| check_host(text(host), report)).collect(),
        secret: secret.map(text).filter(|secret| !secret.value.is_empty()),
        place,
    }
}

fn read_rule(rule: Spanned<RuleSpec>, report: &mut ProblemReport) -> Option<HostRule> {
    let host = match rule.value.host.map(text).filter(|host| !host.value.is_empty()) {
        Some(host) => Some(check_host(host, report)?),
        None => None,
    };
    let paths = rule.value.http.and_then(|http| http.value.paths);
    let paths =
        paths.map(|paths| paths.value.into_iter().filter_map(|path| read_path(path, report)).collect());
    Some(HostRule { host, paths, place: rule.place })
}

fn read_path(path: Spanned<PathSpec>, report: &mut ProblemReport) -> Option<PathRule> {
    let place = path.place;
    let PathSpec { path, kind, backend } = path.value;
    let kind = kind?;
    let kind = match &*kind.value.0 {
        "Exact" => PathKind::Exact,
        "Prefix" => PathKind::Prefix,
        "ImplementationSpecific" => PathKind::Implementation,
        other => {
            let message =
                format!("expected `Exact`, `Prefix` or `ImplementationSpecific`, found `{}`", shown(other));
            report.error(kind.place, message);
            return None;
        }
    };
    let path = path.map_or_else(|| Spanned { value: String::new(), place }, text);
    check_path(&path, kind, report)?;
    let backend = read_backend(backend?, report)?;
    Some(PathRule { path, kind, backend })
}

fn read_backend(backend: Spanned<BackendSpec>, report: &mut ProblemReport) -> Option<Backend> {
    let BackendSpec { service, resource } = backend.value;
    match (service, resource) {
        (Some(service), None) => read_service(service, report),
        (None, Some(resource)) => Some(Backend::Resource(resource.place)),
        (Some(_), Some(resource)) => {
            report.error(resource.place, "`resource` can't be combined with `service`");
            None
        }
        (None, None) => {
            report.error(backend.place, "an Ingress backend needs the key `service`");
            None
        }
    }
}

fn read_service(service: Spanned<ServiceBackendSpec>, report: &mut ProblemReport) -> Option<Backend> {
    let ServiceBackendSpec { name, port } = service.value;
    let Spanned { value: port, place } = port?;
    let port = match (port.number, port.name) {
        (Some(number), None) => PortOrName::Number(number.value.to_u16()),
        (None, Some(name)) => PortOrName::Name(name.value.0),
        (Some(_), Some(_)) => {
            report.error(place, "an Ingress port must have either a `number` or a `name`, not both");
            return None;
        }
        (None, None) => {
            report.error(place, "an Ingress port needs a `number` or a `name`");
            return None;
        }
    };
    Some(Backend::Service { name: text(name?), port })
}

/// Returns the host if the API accepts it: a lowercase name, possibly with `*.` in front.
fn check_host(host: Spanned<String>, report: &mut ProblemReport) -> Option<Spanned<String>> {
    let bare = host.value.strip_prefix("*.").unwrap_or(&host.value);
    let reason = match HostPattern::parse(&host.value) {
        _ if bare.parse::<IpAddr>().is_ok() || bare.starts_with('[') => "it must be a name, not an address",
        Ok(_) if bare == "*" => "a wildcard must be `*.` and a name",
        Ok(_) if bare.bytes().any(|byte| byte.is_ascii_uppercase()) => "it must be in lower case",
        Ok(_) if bare.ends_with('.') => "it must not end with a dot",
        Ok(_) => return Some(host),
        Err(InvalidValue::Reason { reason, .. }) => {
            report.error(host.place, format!("`{}` {reason}", shown(&host.value)));
            return None;
        }
        Err(InvalidValue::Form { .. } | InvalidValue::Choice { .. } | InvalidValue::Range) => {
            "it is not a valid name"
        }
    };
    report.error(host.place, format!("`{}` is not a valid Ingress host: {reason}", shown(&host.value)));
    None
}

/// Reports a path that the API rejects.
fn check_path(path: &Spanned<String>, kind: PathKind, report: &mut ProblemReport) -> Option<()> {
    let text = path.value.as_str();
    let is_empty = text.is_empty() && kind == PathKind::Implementation;
    if !text.starts_with('/') && !is_empty {
        report.error(path.place, format!("`{}` is not a valid path: it must begin with `/`", shown(text)));
        return None;
    }
    if text.len() > PATH_BYTES_MAX {
        report.error(path.place, format!("the path is too long: at most {PATH_BYTES_MAX} bytes"));
        return None;
    }
    if kind == PathKind::Implementation {
        return Some(());
    }
    let inner = ["//", "/./", "/../", "%2f", "%2F"].into_iter().find(|part| text.contains(part));
    let end = ["/..", "/."].into_iter().find(|part| text.ends_with(part));
    if let Some(part) = inner.or(end) {
        report
            .error(path.place, format!("an Ingress path must not contain `{part}`"))
            .hint("normalised request paths never contain it");
        return None;
    }
    Some(())
}

fn text(text: Spanned<ApiText>) -> Spanned<String> {
    Spanned { value: text.value.0.to_string(), place: text.place }
}

/// Maximum length of a path, in bytes.
const PATH_BYTES_MAX: usize = 4096;
