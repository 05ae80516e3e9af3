//! Converts doc comments and titles to text for the schema and the reference page.

use crate::read::{KeyInfo, MappingInfo, ValueSchema};

/// Returns the paragraphs of a doc comment, each on one line.
pub(super) fn paragraphs(doc: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in doc.lines().map(str::trim) {
        let last = paragraphs.last_mut().expect("there is always a last paragraph");
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

/// Returns the name of a mapping's schema definition: `a listener` becomes `listener`.
pub(super) fn definition(info: &MappingInfo) -> String {
    let name = info.name.trim_start_matches("a ").trim_start_matches("an ").trim_start_matches("the ");
    name.replace(' ', "_")
}

/// Returns the effect of leaving a key out; `None` when the key's text says it, or the key is required.
pub(super) fn absence(key: &KeyInfo) -> Option<String> {
    match (key.default, key.otherwise) {
        (Some("''"), _) => Some("Default: empty.".to_owned()),
        (Some(default), _) => Some(format!("Default: `{default}`.")),
        (None, Some(otherwise)) => Some(format!("Without it: {otherwise}.")),
        (None, None) => None,
    }
}

/// Returns the range of a value, or of the elements of a list.
pub(super) fn limit(shape: &ValueSchema) -> Option<&str> {
    match shape {
        ValueSchema::Word(word) => word.limit.as_deref(),
        ValueSchema::List(element) => limit(element),
        ValueSchema::Named { .. } | ValueSchema::Either(..) | ValueSchema::Mapping(_) | ValueSchema::Any => {
            None
        }
    }
}
