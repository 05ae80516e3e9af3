//! Query parameters.

use eddy_protobuf::{HttpBodyBinding, HttpRoute, Label, MessageId};
use serde_json::{Value, json};

use super::schemas::Schemas;

/// Appends the query parameters: fields that neither path nor body contain.
pub(super) fn query_parameters(route: &HttpRoute, schemas: &mut Schemas<'_>, out: &mut Vec<Value>) {
    // With the whole message as the body, no field is left for the query.
    if route.body == HttpBodyBinding::Whole {
        return;
    }
    let mut walk = QueryParameterCollector { route, schemas, out, open: Vec::new() };
    walk.message(route.input, "", "");
}

struct QueryParameterCollector<'r, 's, 'o> {
    route: &'r HttpRoute,
    schemas: &'r mut Schemas<'s>,
    out: &'o mut Vec<Value>,
    /// Messages that contain the current field; a message within itself is not described again.
    open: Vec<MessageId>,
}

impl QueryParameterCollector<'_, '_, '_> {
    /// Appends the fields of a message; the prefixes are the path of the message, with declared names and with the
    /// names in the document.
    fn message(&mut self, id: MessageId, declared: &str, told: &str) {
        if self.open.contains(&id) {
            return;
        }
        self.open.push(id);
        let message = self.schemas.schema.message(id);
        for (index, field) in message.fields.iter().enumerate() {
            let is_body = declared.is_empty()
                && matches!(self.route.body, HttpBodyBinding::Field(body) if usize::from(body) == index);
            let declared = format!("{declared}{}", field.name);
            if is_body || field.label == Label::Map || self.route.path_fields().any(|path| path == declared) {
                continue;
            }
            let told = format!("{told}{}", self.schemas.name_of(field));
            match field.kind.message() {
                Some(_) if self.schemas.has_text_form(field) => self.parameter(&told, field),
                Some(inner) if field.label == Label::Singular && !self.schemas.is_special(inner) => {
                    self.message(inner, &format!("{declared}."), &format!("{told}."));
                }
                // Lists of messages, and values of any form, cannot be sent in a query.
                Some(_) => {}
                None => self.parameter(&told, field),
            }
        }
        self.open.pop();
    }

    fn parameter(&mut self, name: &str, field: &eddy_protobuf::FieldDescriptor) {
        let one = self.schemas.of_text(field);
        let schema =
            if field.label == Label::Repeated { json!({"type": "array", "items": one}) } else { one };
        self.out.push(json!({"name": name, "in": "query", "required": false, "schema": schema}));
    }
}
