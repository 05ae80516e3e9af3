//! Header edits.

use eddy_http::FieldEdits;
use eddy_spec::problem::{SourceSpan, shown};
use eddy_spec::yaml::YamlNode;

use super::reader::{EnvoyReader, text};

impl EnvoyReader<'_> {
    /// Appends the edits of one level to those of the levels before it.
    pub(super) fn follow(&mut self, edits: &mut FieldEdits, then: &FieldEdits, place: SourceSpan) {
        match edits.joined(then) {
            Ok(joined) => *edits = joined,
            Err(fault) => drop(self.report.error(place, fault.to_string())),
        }
    }

    /// Reads the request and response header edits of one level; removals come first.
    pub(super) fn edits(&mut self, node: &YamlNode<'_>) -> (FieldEdits, FieldEdits) {
        let request = self.edits_of(node, "request_headers_to_remove", "request_headers_to_add");
        (request, self.edits_of(node, "response_headers_to_remove", "response_headers_to_add"))
    }

    fn edits_of(&mut self, node: &YamlNode<'_>, removed: &str, added: &str) -> FieldEdits {
        let mut edits = FieldEdits::new();
        for name in self.list(node, removed) {
            let result = edits.remove(text(name).unwrap_or_default());
            self.take_edit(name.place, result);
        }
        for option in self.list(node, added) {
            let Some(header) = self.get(option, "header") else { continue };
            let name = self.text(header, "key").unwrap_or_default().to_owned();
            let value = self.text(header, "value").unwrap_or_default().to_owned();
            if value.replace("%%", "").contains('%') {
                self.report
                    .objection(
                        header.place,
                        format!("`%...%` in the value of `{}` is not supported", shown(&name)),
                    )
                    .hint("write constant text; a filter can insert values of the request");
                continue;
            }
            let value = value.replace("%%", "%");
            let is_set = match (self.text(option, "append_action"), self.text(option, "append")) {
                (Some("OVERWRITE_IF_EXISTS_OR_ADD" | "2"), _) | (None, Some("false")) => true,
                (None | Some("APPEND_IF_EXISTS_OR_ADD" | "0"), _) => false,
                (Some(other), _) => {
                    self.report
                        .objection(
                            option.place,
                            format!("`append_action: {}` is not supported", shown(other)),
                        )
                        .hint("supported are APPEND_IF_EXISTS_OR_ADD and OVERWRITE_IF_EXISTS_OR_ADD");
                    continue;
                }
            };
            let result = if is_set { edits.set(&name, &value) } else { edits.add(&name, &value) };
            self.take_edit(header.place, result);
        }
        edits
    }
}
