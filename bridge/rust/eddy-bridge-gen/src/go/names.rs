//! Go identifiers.

use syn::Ident;

use crate::parse::camel;
use crate::types::{MemoryOwner, Type};

/// Returns the exported name of a field, method or type.
pub(crate) fn exported(name: &Ident) -> String {
    let name = name.to_string();
    let words: Vec<String> = name
        .trim_start_matches("r#")
        .split('_')
        .filter(|word| !word.is_empty())
        .map(|word| {
            let upper = word.to_uppercase();
            if INITIALS.contains(&upper.as_str()) {
                upper
            } else {
                camel(&Ident::new(&safe(word), proc_macro2::Span::call_site()))
            }
        })
        .collect();
    words.concat()
}

/// Returns a word as an identifier for [`camel`], which can't begin with a digit.
fn safe(word: &str) -> String {
    if word.starts_with(|first: char| first.is_ascii_digit()) { format!("X{word}") } else { word.to_owned() }
}

/// Returns the name of an argument or variable.
pub(crate) fn local(name: &Ident) -> String {
    let exported = exported(name);
    let first_word_len = INITIALS
        .iter()
        .filter(|initials| exported.starts_with(**initials))
        .map(|initials| initials.len())
        .max()
        .unwrap_or(1);
    let (head, tail) = exported.split_at(first_word_len.min(exported.len()));
    let local = format!("{}{tail}", head.to_lowercase());
    if RESERVED.contains(&local.as_str()) { format!("{local}Value") } else { local }
}

/// Returns a type in Go syntax.
pub(crate) fn of_type(of: &Type) -> String {
    match of {
        Type::Unit => "struct{}".to_owned(),
        Type::Bool => "bool".to_owned(),
        Type::Scalar(scalar) => scalar.go.to_owned(),
        Type::Str { owner: MemoryOwner::Caller } => "bridge.Str".to_owned(),
        Type::Str { owner: MemoryOwner::Own } => "string".to_owned(),
        Type::List { of: element, owner: MemoryOwner::Caller } if matches!(**element, Type::Scalar(_)) => {
            format!("bridge.Slice[{}]", of_type(element))
        }
        Type::List { of, .. } => format!("[]{}", of_type(of)),
        Type::Map { key, value } => format!("map[{}]{}", of_type(key), of_type(value)),
        Type::Option(value) => format!("bridge.Option[{}]", of_type(value)),
        Type::Result(value, error) => format!("bridge.Result[{}, {}]", of_type(value), of_type(error)),
        Type::Record(name) => name.to_string(),
    }
}

/// Returns a type as part of a function name.
pub(crate) fn word(of: &Type) -> String {
    match of {
        Type::Unit => "Unit".to_owned(),
        Type::Bool => "Bool".to_owned(),
        Type::Scalar(scalar) => scalar.method.to_owned(),
        Type::Str { owner: MemoryOwner::Caller } => "Str".to_owned(),
        Type::Str { owner: MemoryOwner::Own } => "String".to_owned(),
        Type::List { of, owner: MemoryOwner::Caller } if matches!(**of, Type::Scalar(_)) => {
            format!("SliceOf{}", word(of))
        }
        Type::List { of, .. } => format!("ListOf{}", word(of)),
        Type::Map { key, value } => format!("MapOf{}To{}", word(key), word(value)),
        Type::Option(value) => format!("OptionOf{}", word(value)),
        Type::Result(value, error) => format!("ResultOf{}Or{}", word(value), word(error)),
        Type::Record(name) => name.to_string(),
    }
}

/// Words that are all capitals in Go.
const INITIALS: [&str; 8] = ["API", "HTTP", "ID", "IP", "JSON", "TLS", "URL", "UUID"];

/// Go keywords, and identifiers of the generated code.
const RESERVED: [&str; 44] = [
    "break",
    "case",
    "chan",
    "const",
    "continue",
    "default",
    "defer",
    "else",
    "fallthrough",
    "for",
    "func",
    "go",
    "goto",
    "if",
    "import",
    "interface",
    "map",
    "package",
    "range",
    "return",
    "select",
    "struct",
    "switch",
    "type",
    "var",
    "in",
    "out",
    "ctx",
    "err",
    "bridge",
    "context",
    "call",
    "answer",
    "string",
    "len",
    "nil",
    "append",
    "s",
    "make",
    "extent",
    "frame",
    "kept",
    "outcome",
    "reply",
];
