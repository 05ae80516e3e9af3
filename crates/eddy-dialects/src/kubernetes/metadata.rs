//! Object metadata: name, labels, annotations and age.

use eddy_ids::Shared;
use eddy_spec::problem::{ProblemReport, SourceSpan};
use eddy_spec::read::{FromScalar, InvalidValue, NamedMap, Spanned, WordInfo};
use eddy_spec::value::ObjectName;
use jiff::Timestamp;

use super::value::{ApiText, Label};

object! {
    /// Metadata as written.
    MetadataSpec as "metadata" {
        required name "name": ApiText;
        optional namespace "namespace": ApiText;
        optional labels "labels": NamedMap<Label, ApiText>;
        optional annotations "annotations": NamedMap<Label, ApiText>;
        /// Creation time.
        optional created "creationTimestamp": Created;
    }
    passed "uid" "resourceVersion" "generation" "generateName" "managedFields" "ownerReferences" "finalizers"
        "selfLink" "deletionTimestamp" "deletionGracePeriodSeconds";
}

/// Creation time of an object, in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Created(pub(crate) i64);

/// Metadata of an object: identity, age, labels and annotations.
#[derive(Clone, Debug)]
pub(crate) struct ObjectMetadata {
    pub(crate) name: Shared<str>,
    /// Namespace; `default` where none is written, empty for a cluster-scoped object.
    pub(crate) namespace: Shared<str>,
    /// Creation time in seconds since 1970; objects in files usually have none.
    pub(crate) created: Option<i64>,
    pub(crate) labels: Vec<(Shared<str>, Shared<str>)>,
    /// Annotations, with source positions.
    pub(crate) annotations: Vec<(Shared<str>, Spanned<Shared<str>>)>,
    /// Source position of the name.
    pub(crate) place: SourceSpan,
}

impl ObjectMetadata {
    /// Checks the metadata. Returns `None` when the name is missing or invalid; the problem is reported.
    pub(super) fn of(spec: MetadataSpec, is_namespaced: bool, report: &mut ProblemReport) -> Option<Self> {
        let Spanned { value: ApiText(name), place } = spec.name?;
        if let Some(reason) = subdomain_fault(&name) {
            report.error(place, format!("this is not a valid object name: {reason}"));
            return None;
        }
        let namespace = match spec.namespace {
            Some(Spanned { value: ApiText(namespace), place }) if is_namespaced => {
                if let Some(reason) = label_fault(&namespace) {
                    report.error(place, format!("this is not a valid namespace: {reason}"));
                    return None;
                }
                namespace
            }
            None if is_namespaced => "default".into(),
            // An API server rejects a namespace here; kubectl drops it.
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

    /// Returns the name and namespace of the object.
    pub(crate) fn full_name(&self) -> ObjectName {
        ObjectName { namespace: self.namespace.clone(), name: self.name.clone() }
    }

    /// Returns the value of a label.
    pub(crate) fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(name, _)| **name == *key).map(|(_, value)| &**value)
    }

    /// Returns the value of an annotation.
    pub(crate) fn annotation(&self, key: &str) -> Option<&Spanned<Shared<str>>> {
        self.annotations.iter().find(|(name, _)| **name == *key).map(|(_, value)| value)
    }
}

impl FromScalar for Created {
    fn parse(text: &str) -> Result<Self, InvalidValue> {
        let at = text.parse::<Timestamp>();
        at.map(|at| Self(at.as_second()))
            .map_err(|_| InvalidValue::form("write it as in `2026-01-31T12:00:00Z`"))
    }

    fn info() -> WordInfo {
        WordInfo::text("a time such as `2026-01-31T12:00:00Z`")
    }
}

/// Returns the reason why a text is not a lowercase DNS name as Kubernetes requires, or `None` when it is one.
pub(crate) fn subdomain_fault(name: &str) -> Option<&'static str> {
    labels_fault(name, NAME_BYTES_MAX)
}

/// Returns the reason why a text is not a single label of such a name, or `None` when it is one.
fn label_fault(name: &str) -> Option<&'static str> {
    labels_fault(name, LABEL_BYTES_MAX).or_else(|| name.contains('.').then_some(NOT_A_LABEL))
}

fn labels_fault(name: &str, bytes_max: usize) -> Option<&'static str> {
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
    (!is_fine).then_some(NOT_A_LABEL)
}

const NOT_A_LABEL: &str =
    "it must consist of lower-case letters, digits and `-`, and begin and end with a letter or digit";

/// Maximum length of an object name, in bytes.
const NAME_BYTES_MAX: usize = 253;
/// Maximum length of a namespace name, in bytes.
const LABEL_BYTES_MAX: usize = 63;
