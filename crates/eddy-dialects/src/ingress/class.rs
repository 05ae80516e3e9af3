//! Class of an Ingress: its controller, and how eddy interprets the Ingress.

use std::collections::HashMap;

use eddy_spec::problem::{ProblemReport, shown};
use eddy_spec::read::Spanned;

use super::model::Ingress;
use super::nginx::has_nginx_annotations;
use super::spec::ClassSpec;
use crate::kubernetes::{Object, Objects};

/// Interpretation of an Ingress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flavour {
    /// As the API specifies.
    Plain,
    /// As ingress-nginx does.
    Nginx,
}

/// Flavours of IngressClasses, by name.
pub(super) struct Classes {
    known: HashMap<String, Flavour>,
    /// Flavour of Ingresses without a class, if there is a default class.
    default: Option<Flavour>,
}

impl Classes {
    /// Reads IngressClass objects; problems go to `report`.
    pub(super) fn read(objects: &Objects<'_>, report: &mut ProblemReport) -> Self {
        let mut classes = Self { known: HashMap::new(), default: None };
        for object in objects.of("networking.k8s.io", "IngressClass") {
            let Some(flavour) = read_class(object, report) else { continue };
            classes.known.insert(object.metadata.name.to_string(), flavour);
            let default = object.metadata.annotation("ingressclass.kubernetes.io/is-default-class");
            if default.is_some_and(|value| &*value.value == "true") {
                // With several defaults, Kubernetes uses none of them for an Ingress without a class.
                classes.default.get_or_insert(flavour);
            }
        }
        classes
    }

    /// Returns the flavour of an Ingress of a class, or without one.
    ///
    /// A class that does not exist counts as that of ingress-nginx if its name is `nginx`. An Ingress without a class,
    /// or of one that does not exist, is interpreted as by ingress-nginx if it has annotations of that controller.
    pub(super) fn controller_flavour(&self, ingress: &Ingress, class: Option<&Spanned<String>>) -> Flavour {
        let known = match class {
            Some(class) => self.known.get(&class.value).copied(),
            None => self.default,
        };
        known.unwrap_or_else(|| {
            let is_nginx =
                class.is_some_and(|class| class.value == "nginx") || has_nginx_annotations(ingress);
            if is_nginx { Flavour::Nginx } else { Flavour::Plain }
        })
    }
}

fn read_class(object: &Object<'_>, report: &mut ProblemReport) -> Option<Flavour> {
    let spec = object.needed_part::<ClassSpec>("spec", report)?;
    let controller = spec.value.controller?;
    match &*controller.value.0 {
        NGINX => Some(Flavour::Nginx),
        EDDY => Some(Flavour::Plain),
        other => {
            let message = format!(
                "eddy serves Ingresses of the controller `{}` as plain Ingresses, without the controller's extensions",
                shown(other)
            );
            report
                .warning(controller.place, message)
                .hint(format!("write `{EDDY}` for plain Ingresses, or `{NGINX}`"));
            Some(Flavour::Plain)
        }
    }
}

/// Controller name of ingress-nginx.
const NGINX: &str = "k8s.io/ingress-nginx";
/// Controller name of eddy.
const EDDY: &str = "eddy.dev/ingress";
