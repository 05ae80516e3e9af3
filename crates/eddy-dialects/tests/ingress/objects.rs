//! Ingresses as a test builds them, and the equivalent manifests.

use std::fmt::Write as _;

/// An Ingress.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ingress {
    pub(crate) name: String,
    /// Day of January 2026 on which it was created.
    pub(crate) day: Option<u32>,
    pub(crate) class: &'static str,
    /// Annotations, without their prefix.
    pub(crate) annotations: Vec<(String, String)>,
    pub(crate) default: Option<String>,
    pub(crate) rules: Vec<IngressHostRule>,
}

/// Paths of a host.
#[derive(Clone, Debug)]
pub(crate) struct IngressHostRule {
    /// Empty for any host.
    pub(crate) host: String,
    pub(crate) paths: Vec<Path>,
}

/// A path, its type and its Service.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) path: String,
    pub(crate) kind: &'static str,
    pub(crate) service: String,
}

impl Ingress {
    pub(crate) fn annotation(&self, name: &str) -> Option<&str> {
        self.annotations.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.annotation(name) == Some("true")
    }
}

/// Returns the manifests of Ingresses and Services; each Service has one endpoint.
pub(crate) fn manifests(ingresses: &[Ingress], services: &[String]) -> String {
    let mut out = String::new();
    for ingress in ingresses {
        let _ = write!(
            out,
            "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: {}\n",
            ingress.name
        );
        if let Some(day) = ingress.day {
            let _ = writeln!(out, "  creationTimestamp: \"2026-01-{day:02}T00:00:00Z\"");
        }
        if !ingress.annotations.is_empty() {
            out.push_str("  annotations:\n");
        }
        for (name, value) in &ingress.annotations {
            let _ = writeln!(out, "    nginx.ingress.kubernetes.io/{name}: {}", quoted(value));
        }
        let _ = writeln!(out, "spec:\n  ingressClassName: {}", ingress.class);
        if let Some(service) = &ingress.default {
            let _ = writeln!(out, "  defaultBackend: {}", backend(service));
        }
        if !ingress.rules.is_empty() {
            out.push_str("  rules:\n");
        }
        for rule in &ingress.rules {
            out.push_str("  - http:\n      paths:\n");
            for path in &rule.paths {
                let _ = writeln!(
                    out,
                    "      - {{path: {}, pathType: {}, backend: {}}}",
                    quoted(&path.path),
                    path.kind,
                    backend(&path.service)
                );
            }
            if !rule.host.is_empty() {
                let _ = writeln!(out, "    host: {}", quoted(&rule.host));
            }
        }
    }
    for (service, number) in services.iter().zip(1..) {
        let _ = write!(
            out,
            "---\napiVersion: v1\nkind: Service\nmetadata: {{name: {service}}}\nspec: {{ports: [{{port: 80}}]}}\n\
             ---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n\
             metadata: {{name: {service}-1, labels: {{kubernetes.io/service-name: {service}}}}}\n\
             addressType: IPv4\nports: [{{port: 8080}}]\nendpoints: [{{addresses: [10.0.0.{number}]}}]\n"
        );
    }
    out
}

fn backend(service: &str) -> String {
    format!("{{service: {{name: {service}, port: {{number: 80}}}}}}")
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
