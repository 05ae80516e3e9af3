//! Namespaces from which routes may attach to a listener.

use eddy_ids::Shared;
use eddy_spec::problem::{ProblemReport, shown};
use eddy_spec::read::Spanned;

use super::spec::{NamespacesSpec, SelectorSpec};
use crate::kubernetes::Manifests;

/// Namespaces whose routes may attach.
#[derive(Debug)]
pub(super) enum From {
    /// Namespace of the Gateway.
    Same,
    /// All namespaces.
    All,
    /// Namespaces whose labels pass all tests.
    Selector(Vec<LabelTest>),
}

/// Test of a label.
#[derive(Debug)]
pub(super) struct LabelTest {
    key: Shared<str>,
    kind: LabelTestKind,
}

#[derive(Debug)]
enum LabelTestKind {
    In(Vec<Shared<str>>),
    NotIn(Vec<Shared<str>>),
    Exists,
    Absent,
}

impl From {
    /// Whether routes of a namespace may attach.
    pub(super) fn allows_namespace(&self, namespace: &str, own: &str, manifests: &Manifests<'_, '_>) -> bool {
        match self {
            Self::All => true,
            Self::Same => namespace == own,
            Self::Selector(tests) => tests.iter().all(|test| {
                // Kubernetes gives each namespace its name as a label.
                let value = if &*test.key == "kubernetes.io/metadata.name" {
                    Some(namespace)
                } else {
                    manifests.objects.namespace_label(namespace, &test.key)
                };
                let is_one_of = |values: &[Shared<str>]| {
                    value.is_some_and(|value| values.iter().any(|other| **other == *value))
                };
                match &test.kind {
                    LabelTestKind::In(values) => is_one_of(values),
                    LabelTestKind::NotIn(values) => !is_one_of(values),
                    LabelTestKind::Exists => value.is_some(),
                    LabelTestKind::Absent => value.is_none(),
                }
            }),
        }
    }

    /// Reads the namespaces that a listener allows; problems go to `report`.
    pub(super) fn of(spec: Option<Spanned<NamespacesSpec>>, report: &mut ProblemReport) -> Self {
        let Some(Spanned { value: NamespacesSpec { from, selector }, place }) = spec else {
            return Self::Same;
        };
        match from.as_ref().map(|from| &*from.value.0) {
            Some("Same") | None => Self::Same,
            Some("All") => Self::All,
            Some("Selector") => match selector {
                Some(selector) => Self::Selector(tests_of(selector.value, report)),
                None => {
                    report.error(place, "`from: Selector` needs the key `selector`");
                    Self::Selector(Vec::new())
                }
            },
            Some(other) => {
                let place = from.as_ref().map_or(place, |from| from.place);
                report
                    .error(place, format!("expected `Same`, `All` or `Selector`, found `{}`", shown(other)));
                Self::Same
            }
        }
    }
}

fn tests_of(spec: SelectorSpec, report: &mut ProblemReport) -> Vec<LabelTest> {
    let mut tests = Vec::new();
    for entry in spec.labels.into_iter().flat_map(|labels| labels.value.0) {
        let Some(value) = entry.value else { continue };
        tests.push(LabelTest { key: entry.name.value.0, kind: LabelTestKind::In(vec![value.value.0]) });
    }
    for Spanned { value: expression, .. } in
        spec.expressions.into_iter().flat_map(|expressions| expressions.value)
    {
        let (Some(key), Some(operator)) = (expression.key, expression.operator) else { continue };
        let values = expression
            .values
            .into_iter()
            .flat_map(|values| values.value)
            .map(|value| value.value.0)
            .collect();
        let kind = match &*operator.value.0 {
            "In" => LabelTestKind::In(values),
            "NotIn" => LabelTestKind::NotIn(values),
            "Exists" => LabelTestKind::Exists,
            "DoesNotExist" => LabelTestKind::Absent,
            other => {
                let message =
                    format!("expected `In`, `NotIn`, `Exists` or `DoesNotExist`, found `{}`", shown(other));
                report.error(operator.place, message);
                continue;
            }
        };
        tests.push(LabelTest { key: key.value.0, kind });
    }
    tests
}
