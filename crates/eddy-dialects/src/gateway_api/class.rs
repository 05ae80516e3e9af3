//! GatewayClasses: which of them eddy serves, and the parameters that they or their Gateways name.

use eddy_ids::Shared;
use eddy_spec::problem::{ProblemReport, shown};
use eddy_spec::read::Spanned;
use eddy_spec::{ObjectStatus, PartStatus, StatusCondition};

use super::spec::{GatewayClassSpec, ParametersRefSpec};
use crate::kubernetes::{CONTROLLER, GATEWAY_API, Manifests};

/// One GatewayClass.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: Shared<str>,
    /// Name of its controller.
    pub(super) controller: Shared<str>,
    /// Reason why its parameters are unavailable, if it names any.
    pub(super) fault: Option<String>,
    /// Whether eddy serves Gateways of its controller.
    pub(super) is_ours: bool,
}

impl Class {
    /// Returns the reason why its Gateways are not served, if they are not.
    pub(super) fn fault_message(&self) -> Option<String> {
        self.fault.as_ref().map(|fault| format!("GatewayClass `{}`: {fault}", self.name))
    }
}

/// Reads the GatewayClasses.
pub(super) fn read_classes(manifests: &Manifests<'_, '_>, report: &mut ProblemReport) -> Vec<Class> {
    let mut classes = Vec::new();
    for object in manifests.objects.of(GATEWAY_API, "GatewayClass") {
        let Some(spec) = object.needed_part::<GatewayClassSpec>("spec", report) else { continue };
        let GatewayClassSpec { controller, parameters } = spec.value;
        let Some(controller) = controller.map(|controller| controller.value.0) else { continue };
        let is_ours = manifests.settings.is_controller(&controller);
        let parameters = parameters.filter(|_| is_ours);
        let fault = parameters.and_then(|parameters| parameters_fault(&parameters, &controller, report));
        classes.push(Class { name: object.metadata.name.clone(), controller, fault, is_ours });
    }
    classes
}

/// Returns the reason why the parameters of a GatewayClass or Gateway are unavailable: eddy supports no kind of
/// parameters. Parameters for another controller, whose Gateways eddy was configured to serve, are ignored with a
/// warning.
pub(super) fn parameters_fault(
    parameters: &Spanned<ParametersRefSpec>,
    controller: &str,
    report: &mut ProblemReport,
) -> Option<String> {
    let Spanned { value: spec, place } = parameters;
    let kind = spec.kind.as_ref().map(|kind| shown(&kind.value.0)).unwrap_or_default();
    if controller != CONTROLLER {
        report.warning(
            *place,
            format!("the parameters in a `{kind}` are ignored: they are for `{controller}`"),
        );
        return None;
    }
    let message = format!("the parameters in a `{kind}` can't be read: eddy supports no kind of parameters");
    report
        .warning(*place, format!("{message}, so this object is not served"))
        .hint("leave `parametersRef` out, and write its settings in eddy.yaml");
    Some(message)
}

/// Returns the conditions that eddy's GatewayClasses would get in a cluster.
pub(super) fn class_statuses(classes: &[Class]) -> impl Iterator<Item = ObjectStatus> {
    classes.iter().filter(|class| class.is_ours).map(|class| {
        let accepted = match &class.fault {
            Some(message) => StatusCondition::fails("Accepted", "InvalidParameters", message),
            None => StatusCondition::holds("Accepted"),
        };
        let whole = PartStatus { part: None, conditions: vec![accepted], ..PartStatus::default() };
        ObjectStatus {
            kind: "GatewayClass",
            namespace: "".into(),
            name: class.name.clone(),
            parts: vec![whole],
        }
    })
}
