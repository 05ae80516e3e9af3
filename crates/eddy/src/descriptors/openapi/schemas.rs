//! OpenAPI schemas of messages, for the JSON form of protobuf.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use eddy_protobuf::{EnumId, FieldDescriptor, FieldType, JsonFieldNaming, Label, MessageId, Schema, Special};
use serde_json::{Map, Value, json};

/// Referenced schemas, created on demand.
#[derive(Debug)]
pub(super) struct Schemas<'s> {
    pub(super) schema: &'s Schema,
    names: JsonFieldNaming,
    made: BTreeMap<String, Value>,
    operations: BTreeMap<String, u32>,
}

impl<'s> Schemas<'s> {
    pub(super) fn new(schema: &'s Schema, names: JsonFieldNaming) -> Self {
        Self { schema, names, made: BTreeMap::new(), operations: BTreeMap::new() }
    }

    pub(super) fn into_value(self) -> Value {
        Value::Object(self.made.into_iter().collect())
    }

    /// Returns a unique operation ID.
    pub(super) fn operation_id(&mut self, name: &str) -> String {
        let count = self.operations.entry(name.to_owned()).or_default();
        *count += 1;
        if *count == 1 { name.to_owned() } else { format!("{name}.{count}") }
    }

    /// Returns the name of a field in the document.
    pub(super) fn name_of(&self, field: &'s FieldDescriptor) -> &'s str {
        match self.names {
            JsonFieldNaming::Json => &field.json_name,
            JsonFieldNaming::Declared => &field.name,
        }
    }

    /// Returns the field of a message with this index.
    pub(super) fn field(&self, message: MessageId, index: u16) -> Option<&'s FieldDescriptor> {
        self.schema.message(message).fields.get(usize::from(index))
    }

    /// Returns the field at the end of a path of declared names, such as `a.b`.
    pub(super) fn field_at(&self, message: MessageId, path: &str) -> Option<&'s FieldDescriptor> {
        let mut message = Some(message);
        let mut found = None;
        for name in path.split('.') {
            let (_, field) = self.schema.message(message?).by_name(name.as_bytes())?;
            message = field.kind.message();
            found = Some(field);
        }
        found
    }

    /// Returns the schema of a field in the JSON of its message.
    pub(super) fn of_field(&mut self, field: &FieldDescriptor) -> Value {
        match field.label {
            Label::Singular => self.of_kind(field.kind),
            Label::Repeated => json!({"type": "array", "items": self.of_kind(field.kind)}),
            Label::Map => {
                let entry = field.kind.message();
                let value = entry.and_then(|entry| self.schema.message(entry).by_number(2));
                let value = value.map_or_else(|| json!({}), |(_, value)| self.of_kind(value.kind));
                json!({"type": "object", "additionalProperties": value})
            }
        }
    }

    /// Returns the schema of one value of a field in the path or query.
    pub(super) fn of_text(&mut self, field: &FieldDescriptor) -> Value {
        let wrapped = field.kind.message().and_then(|id| wrapped(self.schema, id));
        self.of_kind(wrapped.unwrap_or(field.kind))
    }

    /// Returns the schema of a message: a reference, except for messages with their own JSON form.
    pub(super) fn of_message(&mut self, id: MessageId) -> Value {
        let message = self.schema.message(id);
        if let Some(kind) = wrapped(self.schema, id) {
            let value = self.of_kind(kind);
            return json!({"oneOf": [value, {"type": "null"}]});
        }
        if let Some(own) = own_form(message.special) {
            return own;
        }
        let name = message.name.to_string();
        if let Entry::Vacant(place) = self.made.entry(name.clone()) {
            // Reserved first, because the message may contain itself.
            place.insert(Value::Null);
            let made = self.object(id);
            self.made.insert(name.clone(), made);
        }
        reference(&name)
    }

    /// Returns the schema of `google.rpc.Status`, which describes failures.
    pub(super) fn status(&mut self) -> Value {
        let name = "google.rpc.Status";
        self.made.entry(name.to_owned()).or_insert_with(|| {
            json!({
                "type": "object",
                "description": "Error of a call.",
                "properties": {
                    "code": {"type": "integer", "format": "int32", "description": "gRPC status code."},
                    "message": {"type": "string"},
                    "details": {"type": "array", "items": own_form(Special::Any)},
                },
            })
        });
        reference(name)
    }

    /// Whether a message has its own JSON form.
    pub(super) fn is_special(&self, id: MessageId) -> bool {
        self.schema.message(id).special != Special::None
    }

    /// Whether a message can be a query parameter: its JSON form is a single text or value.
    pub(super) fn has_text_form(&self, field: &FieldDescriptor) -> bool {
        field.kind.message().is_some_and(|id| self.schema.message(id).special.has_text_form())
    }

    fn object(&mut self, id: MessageId) -> Value {
        let message = self.schema.message(id);
        let mut properties = Map::new();
        let mut required = Vec::new();
        for field in &message.fields {
            let name = self.name_of(field).to_owned();
            if field.is_required {
                required.push(json!(name));
            }
            properties.insert(name, self.of_field(field));
        }
        let mut object = Map::new();
        object.insert("type".to_owned(), json!("object"));
        let choices = self.choices(id);
        if !choices.is_empty() {
            object.insert("description".to_owned(), json!(choices.join(" ")));
        }
        object.insert("properties".to_owned(), Value::Object(properties));
        if !required.is_empty() {
            object.insert("required".to_owned(), Value::Array(required));
        }
        Value::Object(object)
    }

    /// Returns one sentence per oneof.
    fn choices(&self, id: MessageId) -> Vec<String> {
        let message = self.schema.message(id);
        let of = |at: usize| {
            let members = message.fields.iter().filter(|field| field.oneof() == Some(at));
            members.map(|field| self.name_of(field)).collect::<Vec<_>>()
        };
        let each = message.oneofs().enumerate().map(|(at, _)| of(at)).filter(|members| members.len() > 1);
        each.map(|members| format!("At most one of: {}.", members.join(", "))).collect()
    }

    fn of_kind(&mut self, kind: FieldType) -> Value {
        match kind {
            FieldType::Double | FieldType::Float => {
                let format = if kind == FieldType::Double { "double" } else { "float" };
                let words = json!({"type": "string", "enum": ["NaN", "Infinity", "-Infinity"]});
                json!({"oneOf": [{"type": "number", "format": format}, words]})
            }
            FieldType::Int64 | FieldType::Sint64 | FieldType::Sfixed64 => {
                json!({"type": "string", "format": "int64"})
            }
            FieldType::Uint64 | FieldType::Fixed64 => json!({"type": "string", "format": "uint64"}),
            FieldType::Int32 | FieldType::Sint32 | FieldType::Sfixed32 => {
                json!({"type": "integer", "format": "int32"})
            }
            FieldType::Uint32 | FieldType::Fixed32 => {
                json!({"type": "integer", "format": "uint32", "minimum": 0})
            }
            FieldType::Bool => json!({"type": "boolean"}),
            FieldType::String => json!({"type": "string"}),
            FieldType::Bytes => json!({"type": "string", "contentEncoding": "base64"}),
            FieldType::Enum(id) => self.of_enum(id),
            FieldType::Message(id) | FieldType::Group(id) => self.of_message(id),
        }
    }

    fn of_enum(&mut self, id: EnumId) -> Value {
        let enumeration = self.schema.enumeration(id);
        if &*enumeration.name == "google.protobuf.NullValue" {
            return json!({"type": "null"});
        }
        let name = enumeration.name.to_string();
        self.made.entry(name.clone()).or_insert_with(|| {
            let values: Vec<&str> = enumeration.values().map(|(value, _)| value).collect();
            json!({"type": "string", "enum": values})
        });
        reference(&name)
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// Returns the type within a message such as `google.protobuf.Int32Value`.
fn wrapped(schema: &Schema, id: MessageId) -> Option<FieldType> {
    let message = schema.message(id);
    let value = message.by_number(1).filter(|_| message.special == Special::Wrapper);
    value.map(|(_, field)| field.kind)
}

/// Returns the JSON form of a well-known message, if it has its own.
fn own_form(special: Special) -> Option<Value> {
    let own = match special {
        Special::Timestamp => json!({"type": "string", "format": "date-time"}),
        Special::Duration => json!({"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]{1,9})?s$"}),
        Special::FieldMask => json!({"type": "string", "description": "Comma-separated field paths."}),
        Special::Struct => json!({"type": "object"}),
        Special::Value => json!({"description": "Any JSON value."}),
        Special::ListValue => json!({"type": "array", "items": {}}),
        Special::Any => json!({
            "type": "object",
            "properties": {"@type": {"type": "string"}},
            "required": ["@type"],
            "additionalProperties": true,
        }),
        Special::None | Special::Wrapper => return None,
    };
    Some(own)
}
