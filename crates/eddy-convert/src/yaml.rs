//! Values of a configuration, and their text as readable YAML: one key per line, short lists in one line.

use std::time::Duration;

use serde_json::Value;

/// Sets a key to a value, unless it is the default.
pub(super) fn put<T: PartialEq>(
    own: &mut Value,
    key: &str,
    value: T,
    default: T,
    to_value: impl FnOnce(T) -> Value,
) {
    if value != default {
        own[key] = to_value(value);
    }
}

/// Returns a duration as eddy.yaml and manifests write it.
pub(super) fn time(time: Duration) -> Value {
    format!("{}ms", time.as_millis()).into()
}

/// Returns a value as a block that is indented by `indent` spaces.
pub(super) fn block(value: &Value, indent: usize) -> String {
    let mut out = String::new();
    write(value, indent, &mut out);
    out
}

fn write(value: &Value, indent: usize, out: &mut String) {
    let pad = " ".repeat(indent);
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (key, value) in members {
                out.push_str(&format!("{pad}{}:", scalar_text(key)));
                nested(value, indent + 2, out);
            }
        }
        Value::Array(elements) if !elements.is_empty() => {
            for element in elements {
                if element.is_object() {
                    // The first key is on the line of the dash.
                    out.push_str(&format!("{pad}- {}", block(element, indent + 2).trim_start()));
                } else {
                    out.push_str(&format!("{pad}- {}\n", inline(element)));
                }
            }
        }
        Value::Array(_)
        | Value::Object(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_) => {
            out.push_str(&format!("{pad}{}\n", inline(value)));
        }
    }
}

fn nested(value: &Value, indent: usize, out: &mut String) {
    let is_deep = match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(elements) => elements.iter().any(|element| element.is_object() || element.is_array()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    if is_deep {
        out.push('\n');
        write(value, indent, out);
    } else {
        out.push_str(&format!(" {}\n", inline(value)));
    }
}

/// Returns a value on one line; anything but a plain word is quoted, as in JSON.
fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => scalar_text(text),
        Value::Array(elements) => {
            let texts: Vec<String> = elements.iter().map(inline).collect();
            format!("[{}]", texts.join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

fn scalar_text(text: &str) -> String {
    let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./-".contains(&byte))
        && !matches!(
            text.to_ascii_lowercase().as_str(),
            "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
        );
    if is_word { text.to_owned() } else { Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::block;

    #[test]
    fn block_scalars_are_readable_and_keep_their_content() {
        let value = json!({"a": [{"b": 1, "c": ["x", "y z"]}, "1"], "d": {}, "e": {"f": "on", "g": null}});
        let text = block(&value, 0);
        assert_eq!(text, "a:\n  - b: 1\n    c: [x, \"y z\"]\n  - \"1\"\nd: {}\ne:\n  f: \"on\"\n  g: null\n");
    }
}
