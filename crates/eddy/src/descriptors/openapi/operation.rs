//! OpenAPI operation of one method.

use eddy_protobuf::{FieldDescriptor, HttpBodyBinding, HttpRoute};
use serde_json::{Map, Value, json};

use super::parameters::query_parameters;
use super::paths::RoutePath;
use super::schemas::Schemas;

/// Returns the operation of a route.
pub(super) fn operation(route: &HttpRoute, place: &RoutePath, schemas: &mut Schemas<'_>) -> Value {
    let mut operation = Map::new();
    let service = service_of(&route.path);
    let method = route.path.rsplit('/').next().unwrap_or_default();
    operation.insert("tags".to_owned(), json!([service]));
    operation.insert("operationId".to_owned(), json!(schemas.operation_id(&format!("{service}.{method}"))));
    let parameters = parameters(route, place, schemas);
    if !parameters.is_empty() {
        operation.insert("parameters".to_owned(), Value::Array(parameters));
    }
    if let Some(body) = request_body(route, schemas) {
        operation.insert("requestBody".to_owned(), body);
    }
    let failure =
        json!({"description": "Error of the call.", "content": {JSON: {"schema": schemas.status()}}});
    let well = json!({"description": "Response of the method.", "content": response(route, schemas)});
    operation.insert("responses".to_owned(), json!({"200": well, "default": failure}));
    Value::Object(operation)
}

/// Returns the path parameters, followed by the query parameters.
fn parameters(route: &HttpRoute, place: &RoutePath, schemas: &mut Schemas<'_>) -> Vec<Value> {
    let mut parameters = Vec::new();
    for parameter in &place.parameters {
        let field = parameter.field.as_deref().and_then(|path| schemas.field_at(route.input, path));
        let schema = field.map_or_else(|| json!({"type": "string"}), |field| schemas.of_text(field));
        let mut told = json!({"name": parameter.name, "in": "path", "required": true, "schema": schema});
        if let (true, Some(told)) = (parameter.is_rest, told.as_object_mut()) {
            told.insert("description".to_owned(), json!("The rest of the path, which may contain slashes."));
        }
        parameters.push(told);
    }
    query_parameters(route, schemas, &mut parameters);
    parameters
}

fn request_body(route: &HttpRoute, schemas: &mut Schemas<'_>) -> Option<Value> {
    let schema = match route.body {
        HttpBodyBinding::None => return None,
        HttpBodyBinding::Whole => schemas.of_message(route.input),
        HttpBodyBinding::Field(index) => schemas.of_field(schemas.field(route.input, index)?),
    };
    let content = if route.is_client_streaming {
        json!({JSON: {"schema": {"type": "array", "items": schema}}, LINES: {"schema": schema}})
    } else {
        json!({JSON: {"schema": schema}})
    };
    Some(json!({"required": true, "content": content}))
}

fn response(route: &HttpRoute, schemas: &mut Schemas<'_>) -> Value {
    let field: Option<&FieldDescriptor> =
        route.response_body.and_then(|index| schemas.field(route.output, index));
    let schema = match field {
        Some(field) => schemas.of_field(field),
        None => schemas.of_message(route.output),
    };
    if route.is_server_streaming {
        let element = json!({"anyOf": [schema, {
            "type": "object", "properties": {"error": schemas.status()}, "required": ["error"]
        }]});
        json!({
            JSON: {"schema": {"type": "array", "items": element}},
            LINES: {"schema": element},
            "text/event-stream": {"schema": {"type": "string"}},
        })
    } else {
        json!({JSON: {"schema": schema}})
    }
}

const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";

/// Returns the full service name in the path of a method.
pub(super) fn service_of(path: &str) -> &str {
    path.trim_start_matches('/').split('/').next().unwrap_or_default()
}
