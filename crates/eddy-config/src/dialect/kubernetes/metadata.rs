//! The metadata of an object: its name, labels, annotations and age.

use std::sync::Arc;

use jiff::Timestamp;

use super::value::{ApiText, Label};
use crate::problem::{ProblemReport, SourceSpan};
use crate::read::{FromScalar, Misfit, NamedMap, Spanned, WordInfo};
use crate::value::ObjectName;

object! {
    /// The metadata as written.
    MetadataSpec as "metadata" {
        /// The name.
        required name "name": ApiText;
        /// The namespace.
        optional namespace "namespace": ApiText;
        /// The labels.
        optional labels "labels": NamedMap<Label, ApiText>;
        /// The annotations.
        optional annotations "annotations": NamedMap<Label, ApiText>;
        /// When it was made.
        optional created "creationTimestamp": Created;
        passed "uid" "resourceVersion" "generation" "generateName" "managedFields" "ownerReferences" "finalizers"
            "selfLink" "deletionTimestamp" "deletionGracePeriodSeconds";
    }
}

/// When an object was made, seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Created(pub(crate) i64);

/// What identifies an object and says whose it is.
#[derive(Clone, Debug)]
pub(crate) struct ObjectMetadata {
    /// Its name.
    pub(crate) name: Arc<str>,
    /// Its namespace, `default` where none is written; empty for an object of the cluster.
    pub(crate) namespace: Arc<str>,
    /// When it was made, seconds since 1970; objects in files mostly don't say.
    pub(crate) created: Option<i64>,
    /// Its labels.
    pub(crate) labels: Vec<(Arc<str>, Arc<str>)>,
    /// Its annotations, with their places.
    #[allow(dead_code, reason = "the Gateway API has none")]
    pub(crate) annotations: Vec<(Arc<str>, Spanned<Arc<str>>)>,
    /// Where its name is written.
    pub(crate) place: SourceSpan,
}

impl ObjectMetadata {
    /// What is written, made ready; `None` when it has no name, which was noted.
    pub(super) fn of(spec: MetadataSpec, is_namespaced: bool, report: &mut ProblemReport) -> Option<Self> {
        let Spanned { value: ApiText(name), place } = spec.name?;
        if let Some(reason) = name_fault(&name, NAME_BYTES_MAX, true) {
            report.error(place, format!("this is not a name of an object: {reason}"));
            return None;
        }
        let namespace = match spec.namespace {
            Some(Spanned { value: ApiText(namespace), place }) if is_namespaced => {
                if let Some(reason) = name_fault(&namespace, LABEL_BYTES_MAX, false) {
                    report.error(place, format!("this is not a namespace: {reason}"));
                    return None;
                }
                namespace
            }
            None if is_namespaced => "default".into(),
            // An API server refuses one here, kubectl leaves it out.
            Some(_) | None => "".into(),
        };
        let pairs = |named: Option<Spanned<NamedMap<Label, ApiText>>>| {
            let entries = named.into_iter().flat_map(|named| named.value.0);
            entries.filter_map(|entry| {
                let Spanned { value: ApiText(value), place } = entry.value?;
                Some((entry.name.value.0, Spanned { value, place }))
            })
        };
        Some(Self {
            name,
            namespace,
            created: spec.created.map(|created| created.value.0),
            labels: pairs(spec.labels).map(|(key, value)| (key, value.value)).collect(),
            annotations: pairs(spec.annotations).collect(),
            place,
        })
    }

    /// The value of a label.
    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(name, _)| **name == *key).map(|(_, value)| &**value)
    }

    /// The value of an annotation.
    #[allow(dead_code, reason = "the Gateway API has none")]
    pub(crate) fn annotation(&self, key: &str) -> Option<&Spanned<Arc<str>>> {
        self.annotations.iter().find(|(name, _)| **name == *key).map(|(_, value)| value)
    }
}

impl ObjectName {
    /// The name of an object.
    pub(crate) fn of(metadata: &ObjectMetadata) -> Self {
        Self { namespace: metadata.namespace.clone(), name: metadata.name.clone() }
    }
}

impl FromScalar for Created {
    fn parse(text: &str) -> Result<Self, Misfit> {
        let at = text.parse::<Timestamp>();
        at.map(|at| Self(at.as_second())).map_err(|_| Misfit::form("write it as in `2026-01-31T12:00:00Z`"))
    }

    fn info() -> WordInfo {
        WordInfo::text("a time such as `2026-01-31T12:00:00Z`")
    }
}

/// What keeps a text from being a DNS name in lower case as Kubernetes takes them, if anything does; `has_dots` for names
/// of several labels.
pub(crate) fn name_fault(name: &str, bytes_max: usize, has_dots: bool) -> Option<&'static str> {
    if name.is_empty() || name.len() > bytes_max {
        return Some("it is empty or too long");
    }
    let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_inner = |byte: u8| is_letter(byte) || byte == b'-';
    let mut labels = name.split('.');
    let is_fine = labels.all(|label| {
        let bytes = label.as_bytes();
        let ends = [bytes.first(), bytes.last()];
        ends.iter().all(|end| end.is_some_and(|byte| is_letter(*byte)))
            && bytes.iter().all(|byte| is_inner(*byte))
    });
    if !is_fine || (!has_dots && name.contains('.')) {
        return Some(
            "it is made of lower-case letters, digits and `-`, and begins and ends with a letter or digit",
        );
    }
    None
}

/// Longest name of an object.
const NAME_BYTES_MAX: usize = 253;
/// Longest name of a namespace.
const LABEL_BYTES_MAX: usize = 63;
