//! Model of an Ingress, whatever its flavour.

use eddy_config::{CertificateFiles, ListenAddress};
use eddy_spec::problem::SourceSpan;
use eddy_spec::read::Spanned;

use crate::kubernetes::PortOrName;

#[derive(Clone, Debug)]
pub(super) struct Ingress {
    pub(super) namespace: String,
    pub(super) name: String,
    /// Creation time in seconds since 1970; objects in files usually have none.
    pub(super) created: Option<i64>,
    /// Source position of the name.
    pub(super) place: SourceSpan,
    pub(super) annotations: Vec<Annotation>,
    /// Backend of requests that match no path.
    pub(super) default_backend: Option<Backend>,
    pub(super) rules: Vec<HostRule>,
    /// Hosts with a certificate.
    pub(super) tls: Vec<HostTls>,
}

/// Hosts with a certificate.
#[derive(Clone, Debug)]
pub(super) struct HostTls {
    /// Hosts; empty for those that the certificate names.
    pub(super) hosts: Vec<Spanned<String>>,
    /// Name of the Secret with certificate and key, in the namespace of the Ingress.
    pub(super) secret: Option<Spanned<String>>,
    pub(super) place: SourceSpan,
}

/// Annotation of an Ingress.
#[derive(Clone, Debug)]
pub(super) struct Annotation {
    pub(super) name: String,
    pub(super) value: String,
    /// Source position of the value.
    pub(super) place: SourceSpan,
}

/// Paths of a host.
#[derive(Clone, Debug)]
pub(super) struct HostRule {
    /// Host in lower case; `None` for any host.
    pub(super) host: Option<Spanned<String>>,
    /// Paths; `None` when the rule has no `http`.
    pub(super) paths: Option<Vec<PathRule>>,
    pub(super) place: SourceSpan,
}

/// Path and its backend.
#[derive(Clone, Debug)]
pub(super) struct PathRule {
    /// Path as written; empty for `/`.
    pub(super) path: Spanned<String>,
    pub(super) kind: PathKind,
    pub(super) backend: Backend,
}

/// Path type (`pathType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathKind {
    /// This path only.
    Exact,
    /// This path and all paths below it, by segment.
    Prefix,
    /// Interpreted by the controller.
    Implementation,
}

/// Backend that requests are sent to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Backend {
    /// Port of a Service.
    Service {
        /// Name of the Service, in the namespace of the Ingress.
        name: Spanned<String>,
        /// Port of the Service.
        port: PortOrName,
    },
    /// Resource other than a Service, which eddy does not support.
    Resource(SourceSpan),
}

/// Listen addresses of Ingresses, and the certificates shown there.
#[derive(Debug)]
pub(super) struct Addresses {
    /// Addresses without TLS.
    pub(super) plain: Vec<ListenAddress>,
    /// Addresses with TLS; none without a certificate.
    pub(super) secure: Vec<ListenAddress>,
    pub(super) certificates: Vec<CertificateFiles>,
}

impl PathRule {
    /// Returns the path; `/` if none is written.
    pub(super) fn text(&self) -> &str {
        if self.path.value.is_empty() { "/" } else { &self.path.value }
    }
}

impl Ingress {
    /// Returns `namespace/name`.
    pub(super) fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}
