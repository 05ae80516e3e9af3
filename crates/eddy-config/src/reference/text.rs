//! Turns doc comments and titles into text for the schema and the page.

use crate::read::{KeyInfo, MappingInfo, ValueSchema};

/// The paragraphs of a doc comment, each on one line.
pub(super) fn paragraphs(doc: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in doc.lines().map(str::trim) {
        let Some(last) = paragraphs.last_mut() else { continue };
        match (line.is_empty(), last.is_empty()) {
            (true, true) => {}
            (true, false) => paragraphs.push(String::new()),
            (false, true) => last.push_str(line),
            (false, false) => {
                last.push(' ');
                last.push_str(line);
            }
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

/// What a mapping is called as a definition of the schema: `a listener` is `listener`.
pub(super) fn definition(info: &MappingInfo) -> String {
    let name = info.name.trim_start_matches("a ").trim_start_matches("an ").trim_start_matches("the ");
    name.replace(' ', "_")
}

/// What holds when a key isn't given; `None` when the text of the key says it, or it must be given.
pub(super) fn absence(key: &KeyInfo) -> Option<String> {
    match (key.default, key.otherwise) {
        (Some("''"), _) => Some("Default: empty.".to_owned()),
        (Some(default), _) => Some(format!("Default: `{default}`.")),
        (None, Some(otherwise)) => Some(format!("Without it: {otherwise}.")),
        (None, None) => None,
    }
}

/// The range of a value, or of the elements of a list.
pub(super) fn limit(shape: &ValueSchema) -> Option<&str> {
    match shape {
        ValueSchema::Word(word) => word.limit.as_deref(),
        ValueSchema::List(element) => limit(element),
        ValueSchema::Named { .. } | ValueSchema::Either(..) | ValueSchema::Mapping(_) | ValueSchema::Any => {
            None
        }
    }
}
