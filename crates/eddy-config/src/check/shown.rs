//! The configuration as it may be shown: what was read without comments, secrets hidden.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::problem::SourceText;
use crate::yaml::{Form, Node, Tree};

/// Writes what was read as YAML, each source after its name. Comments are left out, as they may hold secrets, too.
pub(super) fn shown_text(sources: &[SourceText], trees: &[Tree<'_>]) -> Arc<str> {
    let mut out = String::new();
    for (source, tree) in sources.iter().zip(trees) {
        // Writing to a string never fails.
        let _ = writeln!(out, "# {}", source.path.escape_debug());
        if let Some(root) = &tree.root {
            write_node(&mut out, root, 0, Position::Top);
        }
    }
    out.into()
}

/// What stands before a value on its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Nothing.
    Top,
    /// A key and a colon.
    AfterKey,
    /// A dash.
    AfterDash,
}

fn write_node(out: &mut String, node: &Node<'_>, indent: usize, position: Position) {
    match &node.form {
        Form::Text { text, is_plain } => {
            if position == Position::AfterKey {
                out.push(' ');
            }
            write_text(out, text, *is_plain);
            out.push('\n');
        }
        Form::List(elements) if elements.is_empty() => write_empty(out, "[]", position),
        Form::List(elements) => {
            begin_block(out, position);
            for (element, number) in elements.iter().zip(0..) {
                indent_line(out, indent, position, number);
                out.push_str("- ");
                write_node(out, element, indent + 2, Position::AfterDash);
            }
        }
        Form::Mapping { entries, .. } if entries.is_empty() => write_empty(out, "{}", position),
        Form::Mapping { entries, .. } => {
            begin_block(out, position);
            for (entry, number) in entries.iter().zip(0..) {
                indent_line(out, indent, position, number);
                write_text(out, &entry.key.text, true);
                out.push(':');
                if is_secret(&entry.key.text) && !holds_keys(&entry.value) {
                    out.push_str(" (hidden)\n");
                } else {
                    write_node(out, &entry.value, indent + 2, Position::AfterKey);
                }
            }
        }
    }
}

fn write_empty(out: &mut String, text: &str, position: Position) {
    if position == Position::AfterKey {
        out.push(' ');
    }
    out.push_str(text);
    out.push('\n');
}

/// A block begins on a line of its own after a key, and on the same line after a dash.
fn begin_block(out: &mut String, position: Position) {
    if position == Position::AfterKey {
        out.push('\n');
    }
}

fn indent_line(out: &mut String, indent: usize, position: Position, number: usize) {
    if number > 0 || position != Position::AfterDash {
        out.extend(std::iter::repeat_n(' ', indent));
    }
}

/// Writes a text as it was if that is safe on one line, else in double quotes.
fn write_text(out: &mut String, text: &str, is_plain: bool) {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"_./-".contains(&byte);
    let stays_plain =
        is_plain && text.bytes().all(|byte| is_safe(byte) || byte == b':') && !text.ends_with(':');
    if stays_plain && !text.starts_with('-') {
        out.push_str(text);
        return;
    }
    match serde_json::to_string(text) {
        Ok(quoted) => out.push_str(&quoted),
        Err(_) => out.push_str("\"\""),
    }
}

/// Whether what stands under a name is known to be secret, or likely to be.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_PARTS.iter().any(|part| name.contains(part))
}

/// Whether a value has keys of the file format below it, which are no secrets by themselves.
fn holds_keys(node: &Node<'_>) -> bool {
    const KEYS: &[&str] = &["endpoints", "rules", "match"];
    match &node.form {
        Form::Mapping { .. } => KEYS.iter().any(|key| node.entry(key).is_some()),
        Form::List(elements) => elements.iter().any(|element| matches!(element.form, Form::Mapping { .. })),
        Form::Text { .. } => false,
    }
}

/// Parts of names of fields and parameters that carry secrets.
const SECRET_PARTS: &[&str] = &[
    "authorization",
    "cookie",
    "token",
    "secret",
    "password",
    "passwd",
    "credential",
    "api-key",
    "api_key",
    "apikey",
    "session",
];
