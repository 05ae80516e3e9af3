//! JSON strings in metadata.

/// Returns a text without control characters as a JSON string.
pub(crate) fn json_text(text: &str) -> Box<str> {
    let mut json = String::from("\"");
    for character in text.chars() {
        if matches!(character, '"' | '\\') {
            json.push('\\');
        }
        json.push(character);
    }
    json.push('"');
    json.into()
}
