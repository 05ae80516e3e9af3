//! Envoy's API: messages and enumerations, from the protobuf descriptors that `tools/envoy-api` reads.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Protobuf message.
#[derive(Debug, Default)]
pub(super) struct EnvoyApiMessage {
    /// Fields in the order of the API.
    pub(super) fields: Vec<EnvoyApiField>,
}

/// Field of a message.
#[derive(Debug)]
pub(super) struct EnvoyApiField {
    /// Name as in the API: `virtual_hosts`.
    pub(super) name: &'static str,
    /// Whether the field holds one value, a list or a map.
    pub(super) count: FieldCardinality,
    /// Kind of a scalar, or name of a message or enumeration.
    pub(super) kind: &'static str,
    /// The `oneof` that the field belongs to; at most one of its fields may be given.
    pub(super) choice: Option<&'static str>,
}

/// Number of values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldCardinality {
    One,
    List,
    Map,
}

/// Messages and enumerations of the API, by full name.
pub(super) struct Api {
    messages: HashMap<&'static str, EnvoyApiMessage>,
    enums: HashMap<&'static str, Vec<&'static str>>,
}

impl Api {
    /// Returns the API, which is parsed on first use.
    pub(super) fn get() -> &'static Self {
        static API: LazyLock<Api> = LazyLock::new(|| Api::read(TEXT));
        &API
    }

    /// Returns the message with this full name.
    pub(super) fn message(&self, name: &str) -> Option<&EnvoyApiMessage> {
        self.messages.get(name)
    }

    /// Returns the values of the enumeration with this full name.
    pub(super) fn values(&self, name: &str) -> Option<&[&'static str]> {
        self.enums.get(name).map(Vec::as_slice)
    }

    fn read(text: &'static str) -> Self {
        let mut api = Self { messages: HashMap::new(), enums: HashMap::new() };
        let mut head = ("", "");
        for line in text.lines() {
            match (line.strip_prefix(' '), head) {
                (None, _) => {
                    head = line.split_once(' ').expect("a heading is a kind and a name");
                    if head.0 == "message" {
                        api.messages.insert(head.1, EnvoyApiMessage::default());
                    } else {
                        api.enums.insert(head.1, Vec::new());
                    }
                }
                (Some(field), ("message", name)) => {
                    let message = api.messages.get_mut(name).expect("a field follows its message");
                    message.fields.push(EnvoyApiField::read(field));
                }
                (Some(value), (_, name)) => {
                    api.enums.get_mut(name).expect("a value follows its enumeration").push(value);
                }
            }
        }
        api
    }
}

impl EnvoyApiMessage {
    /// Returns the field with this name, in the spelling of the API or of JSON.
    pub(super) fn field(&self, name: &str) -> Option<&EnvoyApiField> {
        self.fields.iter().find(|field| field.name == name || is_json_name(name, field.name))
    }
}

impl EnvoyApiField {
    fn read(line: &'static str) -> Self {
        let (name, rest) = line.split_once(' ').expect("a field is a name and a kind");
        let (kind, choice) = rest.split_once(' ').map_or((rest, None), |(kind, choice)| (kind, Some(choice)));
        let (count, kind) = match kind.split_once(':') {
            Some(("list", kind)) => (FieldCardinality::List, kind),
            Some((_, kind)) => (FieldCardinality::Map, kind),
            None => (FieldCardinality::One, kind),
        };
        Self { name, count, kind, choice }
    }
}

/// Whether a key is the JSON spelling of an API name: `virtualHosts` for `virtual_hosts`.
pub(super) fn is_json_name(key: &str, name: &str) -> bool {
    let mut key = key.chars();
    let mut is_upper = false;
    for letter in name.chars() {
        if letter == '_' {
            is_upper = true;
            continue;
        }
        let wanted = if is_upper { letter.to_ascii_uppercase() } else { letter };
        is_upper = false;
        if key.next() != Some(wanted) {
            return false;
        }
    }
    key.next().is_none()
}

/// Output of `tools/envoy-api`.
const TEXT: &str = include_str!("api/api.txt");

#[cfg(test)]
mod tests {
    use super::{Api, FieldCardinality, is_json_name};

    #[test]
    fn the_api_is_read() {
        let api = Api::get();
        let message = api.message("envoy.config.route.v3.RouteMatch").unwrap();
        let field = message.field("safeRegex").unwrap();
        assert_eq!((field.name, field.kind), ("safe_regex", "envoy.type.matcher.v3.RegexMatcher"));
        assert_eq!((field.count, field.choice), (FieldCardinality::One, Some("path_specifier")));
        assert_eq!(message.field("headers").unwrap().count, FieldCardinality::List);
        assert!(api.values("envoy.config.route.v3.VirtualHost.TlsRequirementType").unwrap().contains(&"ALL"));
        // Every kind is known.
        let known =
            |kind: &str| api.message(kind).is_some() || api.values(kind).is_some() || !kind.contains('.');
        for field in api.messages.values().flat_map(|message| &message.fields) {
            assert!(known(field.kind), "{}", field.kind);
        }
    }

    #[test]
    fn names_may_be_in_snake_case_or_camel_case() {
        assert!(is_json_name("virtualHosts", "virtual_hosts"));
        assert!(is_json_name("name", "name"));
        assert!(!is_json_name("virtualhosts", "virtual_hosts"));
        assert!(!is_json_name("virtualHost", "virtual_hosts"));
    }
}
