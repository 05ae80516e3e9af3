//! OpenAPI document as a whole.

use std::fmt::Write;
use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use eddy_protobuf::{HttpIndex, HttpIndexOptions, JsonFieldNaming, Schema};
use serde_json::{Map, Value, json};

use super::operation::{operation, service_of};
use super::paths::Paths;
use super::schemas::Schemas;

/// Options of an OpenAPI document.
#[derive(Debug)]
pub(crate) struct OpenApiOptions<'a> {
    /// Full names of services; empty for all.
    pub(crate) services: &'a [String],
    /// Whether methods without a `google.api.http` rule are included.
    pub(crate) is_auto: bool,
    /// Naming of fields.
    pub(crate) names: JsonFieldNaming,
    pub(crate) title: &'a str,
    pub(crate) version: &'a str,
}

/// OpenAPI document, and the methods that it does not include.
#[derive(Debug)]
pub(crate) struct OpenApiOutput {
    /// JSON with a final line break.
    pub(crate) document: String,
    /// Omitted methods, with the reason.
    pub(crate) left_out: Vec<String>,
}

/// Describes the HTTP API that `grpc_json` provides for services.
///
/// # Errors
/// When `google.api.http` rules are invalid, with every problem; when no method is included.
///
/// # Spec
/// [OpenAPI 3.1](https://spec.openapis.org/oas/v3.1.1.html), schemas by the
/// [JSON form of protobuf](https://protobuf.dev/programming-guides/json/)
pub(crate) fn open_api(schema: Schema, options: &OpenApiOptions<'_>) -> Result<OpenApiOutput> {
    let schema = Arc::new(schema);
    let wanted = HttpIndexOptions {
        services: options.services.to_vec(),
        has_methods_without_rule: options.is_auto,
        ..HttpIndexOptions::default()
    };
    let index = match HttpIndex::new(Arc::clone(&schema), wanted) {
        Ok(index) => index,
        Err(problems) => {
            let mut text = String::new();
            for problem in problems {
                // Writing to a string never fails.
                let _ = write!(text, "\n  {problem}");
            }
            bail!("invalid google.api.http rules:{text}");
        }
    };
    ensure!(
        !index.routes().is_empty(),
        "no method has a google.api.http option; `--auto` includes methods without one"
    );
    let mut schemas = Schemas::new(&schema, options.names);
    let mut paths = Paths::default();
    let mut left_out = Vec::new();
    for route in index.routes() {
        let verb = route.method.to_ascii_lowercase();
        if !VERBS.contains(&verb.as_str()) {
            left_out.push(format!(
                "{}: OpenAPI has no method `{}` for {}",
                route.path, route.method, route.template
            ));
            continue;
        }
        let place = paths.place(route);
        let told = operation(route, &place, &mut schemas);
        paths.add(place, verb, told);
    }
    let mut tags: Vec<&str> = index.routes().iter().map(|route| service_of(&route.path)).collect();
    tags.dedup();
    let tags: Vec<Value> = tags.into_iter().map(|tag| json!({"name": tag})).collect();
    let mut document = Map::new();
    document.insert("openapi".to_owned(), json!("3.1.0"));
    document.insert("info".to_owned(), json!({"title": options.title, "version": options.version}));
    document.insert("tags".to_owned(), Value::Array(tags));
    document.insert("paths".to_owned(), paths.into_value());
    document.insert("components".to_owned(), json!({"schemas": schemas.into_value()}));
    let document = serde_json::to_string_pretty(&Value::Object(document))? + "\n";
    Ok(OpenApiOutput { document, left_out })
}

/// HTTP methods that OpenAPI supports.
const VERBS: [&str; 8] = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
