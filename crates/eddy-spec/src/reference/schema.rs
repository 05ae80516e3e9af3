//! The JSON Schema of `eddy.yaml` (draft 2020-12), for completion and checks in editors.

use super::json::Json;
use super::text::{absence, definition, limit, paragraphs};
use crate::problem::ProblemReport;
use crate::read::{FromNode, KeyGroup, KeyGroupCount, KeyInfo, MappingInfo, ValueSchema, WordInfo, WordKind};
use crate::spec::GatewaySpec;
use crate::yaml::parse;

/// Returns the JSON Schema of `eddy.yaml`, as published in `docs/reference/eddy.schema.json`.
///
/// An editor uses it when the first line of a file is `# yaml-language-server: $schema=` followed by its path.
pub fn schema() -> String {
    let ValueSchema::Mapping(root) = GatewaySpec::shape() else {
        unreachable!("the outermost value is a mapping")
    };
    let mut definitions = Vec::new();
    let Json::Object(body) = mapping(&root, &mut definitions) else { unreachable!("a mapping is an object") };
    let mut schema = vec![
        ("$schema".to_owned(), Json::text("https://json-schema.org/draft/2020-12/schema")),
        ("title".to_owned(), Json::text("eddy.yaml")),
    ];
    schema.extend(body);
    schema.push(("$defs".to_owned(), Json::Object(definitions)));
    let mut text = serde_json::to_string_pretty(&Json::Object(schema)).expect("plain data is always written");
    text.push('\n');
    text
}

type Definitions = Vec<(String, Json)>;

fn mapping(info: &MappingInfo, definitions: &mut Definitions) -> Json {
    let properties = info.keys.iter().map(|key| (key.name.to_owned(), property(key, definitions))).collect();
    let mut entries = vec![
        ("description".to_owned(), Json::text(paragraphs(&info.about).join("\n\n"))),
        ("type".to_owned(), Json::text("object")),
        ("properties".to_owned(), Json::Object(properties)),
        ("additionalProperties".to_owned(), Json::Flag(false)),
    ];
    let required: Vec<&str> = info.keys.iter().filter(|key| key.is_required).map(|key| key.name).collect();
    if !required.is_empty() {
        entries.push(("required".to_owned(), Json::texts(required)));
    }
    let mut groups: Vec<Json> = info.groups.iter().map(group).collect();
    match groups.pop() {
        Some(Json::Object(only)) if groups.is_empty() => entries.extend(only),
        Some(last) => {
            groups.push(last);
            entries.push(("allOf".to_owned(), Json::List(groups)));
        }
        None => {}
    }
    Json::Object(entries)
}

/// Returns the schema condition on the number of keys that are given of a group.
fn group(group: &KeyGroup) -> Json {
    let each =
        Json::List(group.keys.iter().map(|key| Json::object([("required", Json::texts([*key]))])).collect());
    match group.count {
        KeyGroupCount::One => Json::object([("oneOf", each)]),
        KeyGroupCount::OneOrMore => Json::object([("anyOf", each)]),
        KeyGroupCount::NoneOrOne => {
            let none = Json::object([("not", Json::object([("anyOf", each.clone())]))]);
            let Json::List(mut ways) = each else { unreachable!("a list, as made above") };
            ways.push(none);
            Json::object([("oneOf", Json::List(ways))])
        }
    }
}

fn property(key: &KeyInfo, definitions: &mut Definitions) -> Json {
    let mut description = paragraphs(&key.text).join("\n\n");
    let notes: Vec<String> = [limit(&key.shape).map(|limit| format!("Limit: {limit}.")), absence(key)]
        .into_iter()
        .flatten()
        .collect();
    if !notes.is_empty() {
        description.push_str("\n\n");
        description.push_str(&notes.join(" "));
    }
    let mut entries = vec![("description".to_owned(), Json::text(description))];
    if let Some(default) = key.default {
        entries.push(("default".to_owned(), written(default, &key.shape)));
    }
    entries.push(("examples".to_owned(), Json::List(vec![written(key.example, &key.shape)])));
    if let Json::Object(shape) = shape(&key.shape, definitions) {
        entries.extend(shape);
    }
    Json::Object(entries)
}

/// Converts a default or example, which is written as YAML, to JSON.
fn written(text: &str, shape: &ValueSchema) -> Json {
    let tree = parse(text, 0, &mut ProblemReport::new());
    tree.root.map_or_else(|| Json::text(""), |node| Json::of(&node, shape))
}

fn shape(of: &ValueSchema, definitions: &mut Definitions) -> Json {
    match of {
        ValueSchema::Word(info) => word(info),
        ValueSchema::Any => Json::Object(Vec::new()),
        ValueSchema::List(element) => {
            Json::object([("type", Json::text("array")), ("items", shape(element, definitions))])
        }
        ValueSchema::Named { name, value } => Json::object([
            ("type", Json::text("object")),
            ("propertyNames", word(name)),
            ("additionalProperties", shape(value, definitions)),
        ]),
        ValueSchema::Either(one, other) => {
            let ways = vec![shape(one, definitions), shape(other, definitions)];
            Json::object([("anyOf", Json::List(ways))])
        }
        ValueSchema::Mapping(info) => {
            let name = definition(info);
            if !definitions.iter().any(|(known, _)| *known == name) {
                // The definition is reserved before its nested definitions are added, which keeps the order.
                let place = definitions.len();
                definitions.push((name.clone(), Json::Flag(true)));
                let body = mapping(info, definitions);
                definitions[place].1 = body;
            }
            Json::object([("$ref", Json::text(format!("#/$defs/{name}")))])
        }
    }
}

fn word(info: &WordInfo) -> Json {
    let mut entries = Vec::new();
    let kind = match info.kind {
        // A text without a pattern may look like a number or `true`; the key decides how it is read.
        WordKind::Text if info.pattern.is_none() && info.choices.is_empty() => {
            Json::texts(["string", "number", "boolean"])
        }
        WordKind::Text => Json::text("string"),
        WordKind::Number { .. } => Json::text("integer"),
        WordKind::TextOrNumber => Json::texts(["string", "integer"]),
        WordKind::Decimal => Json::text("number"),
        WordKind::Flag => Json::text("boolean"),
    };
    entries.push(("type".to_owned(), kind));
    match info.kind {
        _ if !info.choices.is_empty() => {
            let choices = info.choices.iter().map(|(choice, _)| choice_json(choice, info.kind));
            entries.push(("enum".to_owned(), Json::List(choices.collect())));
        }
        WordKind::Number { least, most } => {
            entries.push(("minimum".to_owned(), Json::Number(least)));
            entries.push(("maximum".to_owned(), Json::Number(most)));
        }
        WordKind::TextOrNumber => entries.push(("minimum".to_owned(), Json::Number(0))),
        WordKind::Decimal => {
            entries.push(("minimum".to_owned(), Json::Number(0)));
            entries.push(("maximum".to_owned(), Json::Number(100)));
        }
        WordKind::Text | WordKind::Flag => {}
    }
    if let Some(pattern) = info.pattern {
        entries.push(("pattern".to_owned(), Json::text(pattern)));
    }
    Json::Object(entries)
}

fn choice_json(choice: &str, kind: WordKind) -> Json {
    match (kind, choice.parse()) {
        (WordKind::Number { .. }, Ok(number)) => Json::Number(number),
        (
            WordKind::Number { .. }
            | WordKind::Text
            | WordKind::TextOrNumber
            | WordKind::Decimal
            | WordKind::Flag,
            _,
        ) => Json::text(choice),
    }
}
