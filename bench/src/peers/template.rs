//! Configuration templates: the committed files with placeholders and conditional parts.
//!
//! `@NAME@` is replaced by a value. A line `#% if FLAG`, `#% unless FLAG` or `#% each route` begins a part that
//! `#% end` closes; inside `each route`, `@INDEX@` is the number of the route. `#% each listener` repeats a part for
//! each listener, with its `@LISTENER@`, `@LISTENER_ADDRESS@`, `@LISTENER_PORT@` and flags of its own. `#` begins a
//! comment in every format concerned, so the templates remain valid for their own tools.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use anyhow::{Context, Result, bail};

/// Values of the placeholders.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    /// Replacements by name.
    pub names: BTreeMap<&'static str, String>,
    /// Enabled flags.
    pub flags: BTreeSet<&'static str>,
    /// Number of routes of `each route`.
    pub routes: usize,
    /// Listeners of `each listener`.
    pub listeners: Vec<ListenerValues>,
}

/// A listener in a template.
#[derive(Clone, Debug)]
pub(super) struct ListenerValues {
    pub name: &'static str,
    pub address: SocketAddr,
    pub flags: &'static [&'static str],
}

/// Renders a template.
///
/// # Errors
/// An unknown name or directive, or an unclosed part.
pub(super) fn render(text: &str, values: &Values) -> Result<String> {
    let mut lines = text.lines().enumerate();
    let mut out = String::with_capacity(text.len());
    let parts = parse(&mut lines, Depth::Outside)?;
    write(&parts, values, TemplateScope::Whole, &mut out)?;
    Ok(out)
}

#[derive(Clone, Debug)]
enum TemplateNode<'a> {
    Line(&'a str),
    If { flag: &'a str, is_wanted: bool, parts: Vec<Self> },
    EachRoute(Vec<Self>),
    EachListener(Vec<Self>),
}

/// The part that a line belongs to.
#[derive(Clone, Copy)]
enum TemplateScope<'a> {
    Whole,
    Route(usize),
    Listener(&'a ListenerValues),
}

impl TemplateScope<'_> {
    fn has_flag(self, flag: &str) -> bool {
        matches!(self, Self::Listener(listener) if listener.flags.contains(&flag))
    }

    fn value(self, name: &str) -> Option<String> {
        match (self, name) {
            (Self::Route(index), "INDEX") => Some(index.to_string()),
            (Self::Listener(listener), "LISTENER") => Some(listener.name.to_owned()),
            (Self::Listener(listener), "LISTENER_ADDRESS") => Some(listener.address.to_string()),
            (Self::Listener(listener), "LISTENER_PORT") => Some(listener.address.port().to_string()),
            (Self::Whole | Self::Route(_) | Self::Listener(_), _) => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Outside,
    Inside,
}

fn parse<'a>(
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
    depth: Depth,
) -> Result<Vec<TemplateNode<'a>>> {
    let mut parts = Vec::new();
    while let Some((index, line)) = lines.next() {
        let Some(directive) = line.trim_start().strip_prefix(MARK) else {
            parts.push(TemplateNode::Line(line));
            continue;
        };
        let words: Vec<&str> = directive.split_whitespace().collect();
        match *words.as_slice() {
            ["end"] if depth == Depth::Inside => return Ok(parts),
            ["if", flag] => {
                parts.push(TemplateNode::If { flag, is_wanted: true, parts: parse(lines, Depth::Inside)? });
            }
            ["unless", flag] => {
                parts.push(TemplateNode::If { flag, is_wanted: false, parts: parse(lines, Depth::Inside)? });
            }
            ["each", "route"] => parts.push(TemplateNode::EachRoute(parse(lines, Depth::Inside)?)),
            ["each", "listener"] => parts.push(TemplateNode::EachListener(parse(lines, Depth::Inside)?)),
            _ => bail!("line {}: unknown directive `{line}`", index + 1),
        }
    }
    if depth == Depth::Inside {
        bail!("a section has no `{MARK} end`");
    }
    Ok(parts)
}

fn write(
    parts: &[TemplateNode<'_>],
    values: &Values,
    scope: TemplateScope<'_>,
    out: &mut String,
) -> Result<()> {
    for part in parts {
        match part {
            TemplateNode::Line(line) => fill_in(line, values, scope, out)?,
            TemplateNode::If { flag, is_wanted, parts } => {
                if (values.flags.contains(flag) || scope.has_flag(flag)) == *is_wanted {
                    write(parts, values, scope, out)?;
                }
            }
            TemplateNode::EachRoute(parts) => {
                for index in 0..values.routes {
                    write(parts, values, TemplateScope::Route(index), out)?;
                }
            }
            TemplateNode::EachListener(parts) => {
                for listener in &values.listeners {
                    write(parts, values, TemplateScope::Listener(listener), out)?;
                }
            }
        }
    }
    Ok(())
}

fn fill_in(line: &str, values: &Values, scope: TemplateScope<'_>, out: &mut String) -> Result<()> {
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('@') {
        out.push_str(before);
        let is_other = |character: char| {
            !character.is_ascii_uppercase() && !character.is_ascii_digit() && character != '_'
        };
        let length = after.find(is_other);
        let (name, tail) = after.split_at(length.unwrap_or(after.len()));
        match tail.strip_prefix('@').filter(|_| name.starts_with(|first: char| first.is_ascii_uppercase())) {
            Some(tail) => {
                out.push_str(&value_of(name, values, scope).with_context(|| format!("in `{line}`"))?);
                rest = tail;
            }
            None => {
                out.push('@');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out.push('\n');
    Ok(())
}

fn value_of(name: &str, values: &Values, scope: TemplateScope<'_>) -> Result<String> {
    let value = scope.value(name).or_else(|| values.names.get(name).cloned());
    value.with_context(|| format!("unknown name `@{name}@`"))
}

const MARK: &str = "#%";

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        Values {
            names: BTreeMap::from([("ADDRESS", "127.0.0.1:80".to_owned())]),
            flags: BTreeSet::from(["log"]),
            routes: 2,
            listeners: vec![
                ListenerValues { name: "bare", address: ([127, 0, 0, 1], 81).into(), flags: &[] },
                ListenerValues { name: "auth", address: ([127, 0, 0, 1], 82).into(), flags: &["auth"] },
            ],
        }
    }

    fn check(template: &str, expected: &str) {
        assert_eq!(render(template, &values()).unwrap(), expected, "{template:?}");
    }

    fn check_fault(template: &str, expected: &str) {
        let failure = format!("{:#}", render(template, &values()).unwrap_err());
        assert!(failure.contains(expected), "{failure}");
    }

    #[test]
    fn names_are_filled_in() {
        check("listen @ADDRESS@;", "listen 127.0.0.1:80;\n");
        check("fd@1 a@b.c @", "fd@1 a@b.c @\n");
        check("a@1@b", "a@1@b\n");
        check("\"@type\": x", "\"@type\": x\n");
    }

    #[test]
    fn parts_are_kept_or_left_out() {
        check("#% if log\na\n#% end\n#% unless log\nb\n#% end\n#% if metrics\nc\n#% end", "a\n");
    }

    #[test]
    fn routes_are_listed() {
        check("  #% each route\nr@INDEX@ @ADDRESS@\n  #% end", "r0 127.0.0.1:80\nr1 127.0.0.1:80\n");
        check("#% each route\n#% if log\nr@INDEX@\n#% end\n#% end", "r0\nr1\n");
    }

    #[test]
    fn listeners_have_names_addresses_and_flags_of_their_own() {
        let template =
            "#% each listener\n@LISTENER@ @LISTENER_ADDRESS@ @LISTENER_PORT@\n#% if auth\nx\n#% end\n#% end";
        check(template, "bare 127.0.0.1:81 81\nauth 127.0.0.1:82 82\nx\n");
        check("#% each listener\n#% if log\nx\n#% end\n#% end\n#% if auth\ny\n#% end", "x\nx\n");
    }

    #[test]
    fn template_errors_are_reported() {
        check_fault("@PORT@", "unknown name `@PORT@`");
        check_fault("@INDEX@", "unknown name `@INDEX@`");
        check_fault("@LISTENER@", "unknown name `@LISTENER@`");
        check_fault("a\n#% when x", "line 2: unknown directive");
        check_fault("#% if log\na", "no `#% end`");
        check_fault("#% end", "unknown directive");
    }
}
