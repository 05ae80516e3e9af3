//! OpenAPI paths and their operations.

use std::collections::BTreeMap;

use eddy_protobuf::{HttpRoute, PathPart};
use serde_json::{Map, Value};

/// Paths by their shape: two that differ only in the names of their parameters are one.
#[derive(Debug, Default)]
pub(super) struct Paths {
    known: BTreeMap<String, PathItem>,
}

#[derive(Debug)]
struct PathItem {
    /// Path with its parameters.
    path: String,
    names: Vec<String>,
    operations: Map<String, Value>,
}

/// Path of a route in the document.
#[derive(Debug)]
pub(super) struct RoutePath {
    shape: String,
    /// Parameters in their order.
    pub(super) parameters: Vec<PathParameter>,
}

/// Path parameter.
#[derive(Debug)]
pub(super) struct PathParameter {
    pub(super) name: String,
    /// Field that consists of this parameter alone, if there is one.
    pub(super) field: Option<Box<str>>,
    /// Whether it matches the rest of the path, which OpenAPI can't express.
    pub(super) is_rest: bool,
}

impl Paths {
    /// Returns the path of a route; parameters have the names of the first route of this shape.
    pub(super) fn place(&mut self, route: &HttpRoute) -> RoutePath {
        let template = route.path_parts();
        let (mut shape, mut path) = (String::new(), String::new());
        let (mut parameters, mut names) = (Vec::new(), Vec::new());
        for part in &template.parts {
            shape.push('/');
            path.push('/');
            match part {
                PathPart::Literal(text) => {
                    shape.push_str(text);
                    path.push_str(text);
                }
                PathPart::Any { field, is_whole, is_rest } => {
                    let base = field.as_deref().unwrap_or("segment");
                    let name = unused(base, &names);
                    shape.push_str("{}");
                    path.push('{');
                    path.push_str(&name);
                    path.push('}');
                    names.push(name.clone());
                    parameters.push(PathParameter {
                        name,
                        field: field.clone().filter(|_| *is_whole),
                        is_rest: *is_rest,
                    });
                }
            }
        }
        if let Some(verb) = &template.verb {
            shape.push(':');
            shape.push_str(verb);
            path.push(':');
            path.push_str(verb);
        }
        let known = self.known.entry(shape.clone()).or_insert_with(|| PathItem {
            path,
            names,
            operations: Map::new(),
        });
        for (parameter, name) in parameters.iter_mut().zip(&known.names) {
            parameter.name.clone_from(name);
        }
        RoutePath { shape, parameters }
    }

    /// Adds the operation of an HTTP method at a path.
    pub(super) fn add(&mut self, place: RoutePath, verb: String, operation: Value) {
        if let Some(known) = self.known.get_mut(&place.shape) {
            known.operations.insert(verb, operation);
        }
    }

    pub(super) fn into_value(self) -> Value {
        let paths = self.known.into_values().filter(|known| !known.operations.is_empty());
        Value::Object(paths.map(|known| (known.path, Value::Object(known.operations))).collect())
    }
}

/// Returns a name that no earlier parameter has.
fn unused(base: &str, names: &[String]) -> String {
    let numbered = (2..).map(|number| format!("{base}_{number}"));
    let mut choices = std::iter::once(base.to_owned()).chain(numbered);
    choices.find(|choice| !names.contains(choice)).unwrap_or_default()
}
