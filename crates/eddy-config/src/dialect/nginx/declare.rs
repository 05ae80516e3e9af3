//! What names a configuration gives to variables, and which of them it reads, before any of it is read.
//!
//! NGINX looks names up when the whole file is read: a `set` may stand behind the first use, and takes the place of a family
//! such as `$http_...`. A map is looked up when its variable is read, and one that nothing reads does nothing.

use std::collections::HashSet;

use eddy_route::nginx::group_names;

use super::catalogue::{self, Use};
use super::reader::NginxReader;
use super::tree::Directive;

impl NginxReader<'_> {
    /// Defines the variables of `set`, `map` and named groups, and notes which are read.
    pub(super) fn declare_variables(&mut self, directives: &[Directive]) {
        for directive in directives {
            let block = directive.block.as_deref().unwrap_or_default();
            let arguments = directive.arguments.as_slice();
            match (directive.name.text.as_str(), arguments) {
                ("set" | "auth_request_set", [name, ..]) | ("map", [_, name]) => {
                    // What is none of the configuration's is told where it is read.
                    name.text.strip_prefix('$').and_then(|name| self.spec.variables.define(name));
                }
                ("location" | "server_name" | "rewrite" | "if", words) => {
                    words.iter().for_each(|word| self.declare_groups(&word.text));
                }
                _ => {}
            }
            if directive.name.text == "map" {
                block.iter().for_each(|row| self.declare_groups(&row.name.text));
            } else {
                self.declare_variables(block);
            }
        }
        note_reads(directives, &mut self.read_names);
    }

    fn declare_groups(&mut self, pattern: &str) {
        for name in group_names(pattern) {
            // One of NGINX's own is told where the expression is read.
            let _ = self.spec.variables.define(name);
        }
    }
}

/// Notes the variables that directives read, but for those that mean nothing, and conditions of logs.
fn note_reads(directives: &[Directive], names: &mut HashSet<String>) {
    for directive in directives {
        let name = directive.name.text.as_str();
        let is_read = catalogue::find_all(name).all(|known| !matches!(known.use_, Use::Idle(_)));
        if !is_read || name == "access_log" {
            continue;
        }
        // The variable that is filled is not read.
        let filled = match name {
            "set" => Some(0),
            "map" => Some(1),
            _ => None,
        };
        let words = directive.arguments.iter().enumerate().filter(|(at, _)| Some(*at) != filled);
        words.for_each(|(_, word)| note_names(&word.text, names));
        let block = directive.block.as_deref().unwrap_or_default();
        if name == "map" {
            for row in block {
                row.arguments.iter().for_each(|value| note_names(&value.text, names));
            }
        } else {
            note_reads(block, names);
        }
    }
}

fn note_names(text: &str, names: &mut HashSet<String>) {
    for (at, _) in text.match_indices('$') {
        let rest = text.get(at + 1..).unwrap_or_default();
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let end =
            rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
        names.insert(rest.get(..end).unwrap_or_default().to_ascii_lowercase());
    }
}
