//! The reference page: each key with its meaning, type, limit, default and an example.

use std::fmt::Write as _;

use super::text::{absence, definition, limit, paragraphs};
use crate::read::{FromNode, KeyGroupCount, KeyInfo, MappingInfo, ValueSchema, listed};
use crate::spec::GatewaySpec;

/// Returns the reference page in Markdown, as published in `docs/reference/config.md`.
pub fn reference_page() -> String {
    let mut sections = Vec::new();
    collect(&GatewaySpec::shape(), "", &mut sections);
    let mut out = include_str!("intro.md").to_owned();
    for section in &sections {
        write_section(&mut out, section, &sections);
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// A mapping and the first path at which it occurs.
struct ReferenceSection {
    path: String,
    info: MappingInfo,
}

fn collect(shape: &ValueSchema, path: &str, sections: &mut Vec<ReferenceSection>) {
    match shape {
        ValueSchema::Word(_) | ValueSchema::Any => {}
        ValueSchema::List(element) => collect(element, &format!("{path}[]"), sections),
        ValueSchema::Named { value, .. } => collect(value, &format!("{path}.NAME"), sections),
        ValueSchema::Either(one, other) => {
            collect(one, path, sections);
            collect(other, path, sections);
        }
        ValueSchema::Mapping(info) => {
            if sections.iter().any(|section| section.info.name == info.name) {
                return;
            }
            sections.push(ReferenceSection { path: path.to_owned(), info: info.clone() });
            for key in &info.keys {
                let dot = if path.is_empty() { "" } else { "." };
                collect(&key.shape, &format!("{path}{dot}{}", key.name), sections);
            }
        }
    }
}

fn write_section(out: &mut String, section: &ReferenceSection, all: &[ReferenceSection]) {
    // Writing to a string never fails.
    let _ = writeln!(out, "## {}\n", heading(section));
    for paragraph in paragraphs(&section.info.about) {
        let _ = writeln!(out, "{paragraph}\n");
    }
    for group in section.info.groups {
        let count = match group.count {
            KeyGroupCount::One => "Exactly one",
            KeyGroupCount::OneOrMore => "At least one",
            KeyGroupCount::NoneOrOne => "At most one",
        };
        let _ = writeln!(out, "{count} of {} is given.\n", listed(group.keys, "and"));
    }
    for key in &section.info.keys {
        write_key(out, key, all);
    }
}

fn heading(section: &ReferenceSection) -> String {
    let ReferenceSection { path, info } = section;
    match info.name {
        _ if path.is_empty() => "Top-level keys".to_owned(),
        name if path.ends_with(name) => format!("`{path}`"),
        name => format!("`{path}`: {name}"),
    }
}

fn write_key(out: &mut String, key: &KeyInfo, all: &[ReferenceSection]) {
    let mut facts = vec![type_text(&key.shape, all)];
    facts.extend(limit(&key.shape).map(ToOwned::to_owned));
    if key.is_required {
        facts.push("required".to_owned());
    }
    let _ = writeln!(out, "**`{}`**: {}\\", key.name, facts.join("; "));
    let text = paragraphs(&key.text).join(" ");
    let absence = absence(key).map_or_else(String::new, |absence| format!(" {absence}"));
    let _ = writeln!(out, "{text}{absence}\\\nExample: `{}: {}`\n", key.name, key.example);
    let choices = choices(&key.shape);
    for (choice, meaning) in choices {
        let _ = writeln!(out, "* `{choice}`: {meaning}");
    }
    if !choices.is_empty() {
        out.push('\n');
    }
}

fn type_text(shape: &ValueSchema, all: &[ReferenceSection]) -> String {
    match shape {
        ValueSchema::Word(word) => word.what.clone(),
        ValueSchema::Any => "any value".to_owned(),
        ValueSchema::List(element) => format!("a list of: {}", type_text(element, all)),
        ValueSchema::Named { name, value } => {
            format!("a mapping from {} to: {}", name.what, type_text(value, all))
        }
        ValueSchema::Either(one, other) => format!("{}, or {}", type_text(one, all), type_text(other, all)),
        ValueSchema::Mapping(info) => match all.iter().find(|section| section.info.name == info.name) {
            Some(section) => {
                format!("[{}](#{})", definition(info).replace('_', " "), anchor(&heading(section)))
            }
            None => info.name.to_owned(),
        },
    }
}

fn choices(shape: &ValueSchema) -> &[(&'static str, &'static str)] {
    let ValueSchema::Word(word) = shape else { return &[] };
    &word.choices
}

/// Returns the anchor that Markdown generates for a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ' '));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}
