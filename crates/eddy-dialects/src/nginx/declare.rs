//! Names of variables that a configuration defines or reads, collected before anything else is read.
//!
//! NGINX resolves names after it has read the whole file: a `set` may follow the first use, and overrides a family of
//! variables such as `$http_...`. A map is evaluated when its variable is read, so one that nothing reads has no
//! effect.

use std::collections::HashSet;

use eddy_route::nginx::group_names;

use super::catalogue::{self, Use};
use super::reader::NginxReader;
use super::tree::Directive;

impl NginxReader<'_, '_> {
    /// Defines the variables of `set`, `map` and named groups, and records which variables are read.
    pub(super) fn declare_variables(&mut self, directives: &[Directive]) {
        for directive in directives {
            let block = directive.block.as_deref().unwrap_or_default();
            let arguments = directive.arguments.as_slice();
            match (directive.name.text.as_str(), arguments) {
                ("set" | "auth_request_set", [name, ..]) | ("map", [_, name]) => {
                    // A name that the configuration cannot define is reported where it is read.
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
            // A name of NGINX's own is reported where the expression is read.
            let _ = self.spec.variables.define(name);
        }
    }
}

/// Records the variables that directives read, except for directives without effect and conditions of logs.
fn note_reads(directives: &[Directive], names: &mut HashSet<String>) {
    for directive in directives {
        let name = directive.name.text.as_str();
        let is_read = catalogue::find_all(name).all(|known| !matches!(known.use_, Use::Idle(_)));
        if !is_read || name == "access_log" {
            continue;
        }
        // The variable that is assigned is not read.
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
        let rest = &text[at + 1..];
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        let end =
            rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
        names.insert(rest[..end].to_ascii_lowercase());
    }
}
