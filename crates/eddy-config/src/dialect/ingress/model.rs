//! An Ingress as it is understood, whatever takes it further.

use crate::dialect::kubernetes::PortOrName;
use crate::problem::SourceSpan;
use crate::read::Spanned;

/// An Ingress.
#[derive(Clone, Debug)]
pub(super) struct Ingress {
    pub(super) namespace: String,
    pub(super) name: String,
    /// When it was made, seconds since 1970; objects in files mostly don't say.
    pub(super) created: Option<i64>,
    /// Where its name is written.
    pub(super) place: SourceSpan,
    pub(super) annotations: Vec<Annotation>,
    /// Where requests go that no path is for.
    pub(super) default_backend: Option<Backend>,
    pub(super) rules: Vec<HostRule>,
    /// Hosts that have a certificate.
    pub(super) tls: Vec<HostTls>,
}

/// Hosts that have a certificate.
#[derive(Clone, Debug)]
pub(super) struct HostTls {
    /// The hosts; none for those that the certificate names.
    pub(super) hosts: Vec<Spanned<String>>,
    /// The Secret with certificate and key, in the namespace of the Ingress.
    pub(super) secret: Option<Spanned<String>>,
    pub(super) place: SourceSpan,
}

/// An annotation.
#[derive(Clone, Debug)]
pub(super) struct Annotation {
    pub(super) name: String,
    pub(super) value: String,
    /// Where its value is written.
    pub(super) place: SourceSpan,
}

/// The paths of a host.
#[derive(Clone, Debug)]
pub(super) struct HostRule {
    /// The host in lower case; none for any.
    pub(super) host: Option<Spanned<String>>,
    /// Its paths; none where the rule has no `http`.
    pub(super) paths: Option<Vec<PathRule>>,
    pub(super) place: SourceSpan,
}

/// A path and where its requests go.
#[derive(Clone, Debug)]
pub(super) struct PathRule {
    /// The path as written; empty for `/`.
    pub(super) path: Spanned<String>,
    pub(super) kind: PathKind,
    pub(super) backend: Backend,
}

/// `pathType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathKind {
    /// This path alone.
    Exact,
    /// This path and all below it, by segment.
    Prefix,
    /// What the controller makes of it.
    Implementation,
}

/// Where requests go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Backend {
    /// A port of a Service.
    Service {
        /// The Service, in the namespace of the Ingress.
        name: Spanned<String>,
        /// Its port.
        port: PortOrName,
    },
    /// Something else, which eddy does not know.
    Resource(SourceSpan),
}

impl Ingress {
    /// `namespace/name`.
    pub(super) fn full_name(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}
