//! Linking: fields get their types; messages get their fields.

use super::define::{Defining, Extension, INDEX_MAX, join, too_many};
use super::features::{Features, Presence, option};
use super::raw::{RawField, RawFile, RawService, malformed};
use crate::schema::tables::SchemaSymbol;
use crate::schema::{
    FieldDescriptor, FieldType, Label, MessageId, MethodDescriptor, Schema, SchemaError, ServiceDescriptor,
};
use crate::wire::NUMBER_MAX;

/// Links the fields of every message and the methods of every service.
pub(super) fn link(defining: Defining<'_, '_>) -> Result<Schema, SchemaError> {
    let Defining { mut schema, messages, extensions, services } = defining;
    let mut fields: Vec<Vec<FieldDescriptor>> = Vec::with_capacity(messages.len());
    for (pending, message) in messages.iter().zip(&schema.messages) {
        let linker = Linker { schema: &schema, file: pending.file, message: &message.name };
        let linked: Result<Vec<FieldDescriptor>, SchemaError> =
            pending.raw.fields.iter().map(|field| linker.field(field, pending.features, None)).collect();
        fields.push(linked?);
    }
    for extension in &extensions {
        let (message, field) = link_extension(&schema, extension)?;
        if let Some(fields) = fields.get_mut(message.0 as usize) {
            fields.push(field);
        }
    }
    for ((fields, pending), message) in fields.into_iter().zip(&messages).zip(&mut schema.messages) {
        if fields.len() > INDEX_MAX {
            return Err(too_many(pending.file, &message.name, "fields"));
        }
        message.set_fields(fields);
        let twice = message.fields.array_windows().find(|[one, two]| one.number == two.number);
        if let Some([_, field]) = twice {
            let problem = "another field has the same number";
            return Err(field_problem(pending.file, &message.name, &field.name, problem));
        }
    }
    schema.services = services
        .into_iter()
        .map(|(file, raw, name)| link_service(&schema, file, raw, name))
        .collect::<Result<_, _>>()?;
    Ok(schema)
}

fn link_extension(
    schema: &Schema,
    extension: &Extension<'_, '_>,
) -> Result<(MessageId, FieldDescriptor), SchemaError> {
    let Extension { file, raw, scope, features } = extension;
    let name = join(scope, raw.name);
    let extendee = raw.extendee.trim_start_matches('.');
    let Some(message) = schema.find_message(extendee) else {
        return Err(SchemaError::TypeMissing {
            file: file.name.to_owned(),
            message: scope.to_string(),
            field: raw.name.to_owned(),
            missing: extendee.to_owned(),
        });
    };
    let linker = Linker { schema, file, message: extendee };
    linker.field(raw, *features, Some(&format!("[{name}]"))).map(|field| (message, field))
}

fn link_service(
    schema: &Schema,
    file: &RawFile<'_>,
    raw: &RawService<'_>,
    name: Box<str>,
) -> Result<ServiceDescriptor, SchemaError> {
    let find = |method: &str, of: &str| {
        let missing = of.trim_start_matches('.');
        schema.find_message(missing).ok_or_else(|| SchemaError::MethodTypeMissing {
            file: file.name.to_owned(),
            service: name.to_string(),
            method: method.to_owned(),
            missing: missing.to_owned(),
        })
    };
    let methods: Result<Box<[MethodDescriptor]>, SchemaError> = raw
        .methods
        .iter()
        .map(|method| {
            Ok(MethodDescriptor {
                name: method.name.into(),
                input: find(method.name, method.input)?,
                output: find(method.name, method.output)?,
                is_client_streaming: method.is_client_streaming,
                is_server_streaming: method.is_server_streaming,
                options: method.options.into(),
            })
        })
        .collect();
    Ok(ServiceDescriptor { methods: methods?, name })
}

/// Builds the fields of one message.
struct Linker<'a, 'd> {
    schema: &'a Schema,
    file: &'a RawFile<'d>,
    message: &'a str,
}

impl Linker<'_, '_> {
    fn field(
        &self,
        raw: &RawField<'_>,
        outer: Features,
        extension: Option<&str>,
    ) -> Result<FieldDescriptor, SchemaError> {
        let fault = |problem| field_problem(self.file, self.message, raw.name, problem);
        let features = outer.with(raw.options, FIELD_FEATURES).map_err(malformed)?;
        let number = match u32::try_from(raw.number) {
            Ok(number) if (1..=NUMBER_MAX).contains(&number) => number,
            _ => return Err(fault("the field number is 0 or above 536870911")),
        };
        let kind = self.kind(raw, features)?;
        if number == 1 && self.is_map_entry() && !kind.can_be_map_key() {
            return Err(fault("a map key must be an integer, a bool or a string"));
        }
        let is_map = kind.message().is_some_and(|id| self.schema.message(id).is_map_entry);
        let label = match raw.label {
            REPEATED if is_map => Label::Map,
            REPEATED => Label::Repeated,
            _ => Label::Singular,
        };
        let is_required = raw.label == REQUIRED || features.presence == Presence::Required;
        let has_presence = label == Label::Singular
            && (features.presence != Presence::Implicit
                || kind.message().is_some()
                || raw.oneof.is_some()
                || extension.is_some()
                || raw.is_optional);
        let packs = option(raw.options, PACKED).map_err(malformed)?;
        let oneof = raw.oneof.filter(|_| !raw.is_optional);
        let oneof =
            oneof.map(u16::try_from).transpose().map_err(|_| fault("the message has no such oneof"))?;
        let json_name: Box<str> = match (extension, raw.json_name) {
            (Some(name), _) => name.into(),
            (None, Some(name)) => name.into(),
            (None, None) => camel_case(raw.name).into(),
        };
        let name: Box<str> = extension.unwrap_or(raw.name).into();
        Ok(FieldDescriptor {
            number,
            kind,
            label,
            has_presence,
            is_packed: label == Label::Repeated
                && kind.is_packable()
                && packs.map_or(features.is_packed, |packs| packs != 0),
            is_required,
            checks_utf8: features.checks_utf8,
            oneof,
            options: raw.options.into(),
            json_key: key(&json_name),
            name_key: key(&name),
            name,
            json_name,
        })
    }

    fn kind(&self, raw: &RawField<'_>, features: Features) -> Result<FieldType, SchemaError> {
        let type_name = raw.type_name.trim_start_matches('.');
        let missing = || SchemaError::TypeMissing {
            file: self.file.name.to_owned(),
            message: self.message.to_owned(),
            field: raw.name.to_owned(),
            missing: type_name.to_owned(),
        };
        Ok(match raw.kind {
            1 => FieldType::Double,
            2 => FieldType::Float,
            3 => FieldType::Int64,
            4 => FieldType::Uint64,
            5 => FieldType::Int32,
            6 => FieldType::Fixed64,
            7 => FieldType::Fixed32,
            8 => FieldType::Bool,
            9 => FieldType::String,
            12 => FieldType::Bytes,
            13 => FieldType::Uint32,
            15 => FieldType::Sfixed32,
            16 => FieldType::Sfixed64,
            17 => FieldType::Sint32,
            18 => FieldType::Sint64,
            // A field whose type its writer did not resolve has a name and no kind.
            0 | 10 | 11 | 14 => match self.schema.names.get(type_name).ok_or_else(missing)? {
                SchemaSymbol::Enum(id) => FieldType::Enum(*id),
                SchemaSymbol::Message(id) => {
                    // Map entries and their values are length-prefixed whatever the file says.
                    let is_of_map = self.schema.message(*id).is_map_entry || self.is_map_entry();
                    let is_group = raw.kind == 10 || features.is_delimited && !is_of_map;
                    if is_group { FieldType::Group(*id) } else { FieldType::Message(*id) }
                }
                SchemaSymbol::Service(_) => return Err(missing()),
            },
            _ => return Err(field_problem(self.file, self.message, raw.name, "unknown field type")),
        })
    }

    /// Whether the fields are those of a map entry.
    fn is_map_entry(&self) -> bool {
        self.schema.find_message(self.message).is_some_and(|id| self.schema.message(id).is_map_entry)
    }
}

fn field_problem(file: &RawFile<'_>, message: &str, field: &str, problem: &'static str) -> SchemaError {
    SchemaError::Field {
        file: file.name.to_owned(),
        message: message.to_owned(),
        field: field.to_owned(),
        problem,
    }
}

/// Returns a key as in an object: a comma, the quoted name and a colon.
fn key(name: &str) -> Box<[u8]> {
    let mut key = b",\"".to_vec();
    for byte in name.bytes() {
        // Names from descriptors are identifiers, but `json_name` may be any text.
        match byte {
            b'"' | b'\\' => key.extend([b'\\', byte]),
            0..0x20 => key.extend(format!("\\u{byte:04x}").bytes()),
            _ => key.push(byte),
        }
    }
    key.extend(b"\":");
    key.into()
}

/// Returns the JSON name of a field without one in the descriptors.
fn camel_case(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut is_upper = false;
    for letter in name.chars() {
        match letter {
            '_' => is_upper = true,
            _ => {
                camel.push(if is_upper { letter.to_ascii_uppercase() } else { letter });
                is_upper = false;
            }
        }
    }
    camel
}

const REPEATED: u64 = 3;
const REQUIRED: u64 = 2;
/// `FieldOptions.packed`.
const PACKED: u32 = 2;
/// `FieldOptions.features`.
const FIELD_FEATURES: u32 = 21;

#[cfg(test)]
mod tests {
    use crate::schema::{Schema, SchemaError};

    /// Returns a length-prefixed field.
    fn field(number: u8, value: &[u8]) -> Vec<u8> {
        let length = u8::try_from(value.len()).expect("a short value");
        [&[number << 3 | 2, length], value].concat()
    }

    /// Loads `message M { map<KEY, int32> m = 1; }` with a key of this type number.
    fn load(key: u8) -> Result<(), SchemaError> {
        let of_entry = |name: &[u8], number: u8, kind: u8| {
            field(2, &[&field(1, name), &[0x18, number, 0x20, 1, 0x28, kind][..]].concat())
        };
        let entry =
            [field(1, b"E"), of_entry(b"key", 1, key), of_entry(b"value", 2, 5), field(7, &[0x38, 1])];
        let map = [&field(1, b"m"), &[0x18, 1, 0x20, 3, 0x28, 11][..], &field(6, b".M.E")];
        let message = [field(1, b"M"), field(2, &map.concat()), field(3, &entry.concat())];
        let file = [field(1, b"t.proto"), field(4, &message.concat()), field(12, b"proto3")];
        Schema::from_descriptors(&field(1, &file.concat())).map(drop)
    }

    #[test]
    fn map_keys_are_integers_bools_and_strings() {
        for kind in [3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 17, 18] {
            assert_eq!(load(kind), Ok(()), "type {kind}");
        }
        for kind in [1, 2, 12] {
            let problem = load(kind).map_err(|error| error.to_string());
            let expected = "file \"t.proto\": field \"key\" of \"M.E\": a map key must be an integer, a bool or a string";
            assert_eq!(problem, Err(expected.to_owned()), "type {kind}");
        }
    }
}
