//! Reader of message fields; records which fields were read.

use std::collections::HashSet;
use std::time::Duration;

use eddy_http::EditFault;
use eddy_ids::Shared;
use eddy_route::SourceLocation;
use eddy_spec::problem::{ProblemReport, SourceSpan, shown};
use eddy_spec::yaml::{YamlEntry, YamlKey, YamlNode, YamlNodeKind};

use super::api::is_json_name;
use super::shape::{seconds, type_of};

/// Reader of Envoy messages: the keys read so far and the problems found.
pub(super) struct EnvoyReader<'r> {
    pub(super) report: &'r mut ProblemReport,
    /// Name of the file, as given to eddy.
    pub(super) file: Shared<str>,
    /// Source positions of the keys that were read.
    read_keys: HashSet<SourceSpan>,
    /// Number of leaves of matcher trees visited, once for each path to a leaf.
    pub(super) leaves: usize,
}

impl<'r> EnvoyReader<'r> {
    pub(super) fn new(file: Shared<str>, report: &'r mut ProblemReport) -> Self {
        Self { report, file, read_keys: HashSet::new(), leaves: 0 }
    }

    /// Returns the value of a field, named as in the API, and marks the field as read.
    pub(super) fn get<'n, 't>(&mut self, node: &'n YamlNode<'t>, name: &str) -> Option<&'n YamlNode<'t>> {
        let entry = entry(node, name)?;
        self.read_keys.insert(entry.key.place);
        (!entry.value.is_nothing()).then_some(&entry.value)
    }

    /// Returns the text of a field.
    pub(super) fn text<'n>(&mut self, node: &'n YamlNode<'_>, name: &str) -> Option<&'n str> {
        self.get(node, name).and_then(text)
    }

    /// Returns the text of a field unless it is empty: proto-JSON does not distinguish an empty string from an absent
    /// one.
    pub(super) fn word<'n>(&mut self, node: &'n YamlNode<'_>, name: &str) -> Option<&'n str> {
        self.text(node, name).filter(|text| !text.is_empty())
    }

    /// Whether a field is `true`.
    pub(super) fn is_true(&mut self, node: &YamlNode<'_>, name: &str) -> bool {
        self.text(node, name) == Some("true")
    }

    /// Returns the number in a field.
    pub(super) fn number<T: std::str::FromStr>(&mut self, node: &YamlNode<'_>, name: &str) -> Option<T> {
        self.text(node, name)?.parse().ok()
    }

    /// Returns the duration in a field.
    pub(super) fn duration(&mut self, node: &YamlNode<'_>, name: &str) -> Option<Duration> {
        self.text(node, name).and_then(seconds)
    }

    /// Returns the elements of a field.
    pub(super) fn list<'n, 't>(&mut self, node: &'n YamlNode<'t>, name: &str) -> &'n [YamlNode<'t>] {
        self.get(node, name).map(elements).unwrap_or_default()
    }

    /// Marks a key as read that is the key of a map, not a field.
    pub(super) fn take(&mut self, key: &YamlKey<'_>) {
        self.read_keys.insert(key.place);
    }

    /// Marks fields as read, with everything inside, because they do not affect eddy.
    pub(super) fn pass(&mut self, node: &YamlNode<'_>, names: &[&str]) {
        for name in names {
            if let Some(entry) = entry(node, name) {
                self.read_keys.insert(entry.key.place);
                self.mark_all_read(&entry.value);
            }
        }
    }

    /// Marks fields as read that affect Envoy but not eddy, with a warning for each.
    pub(super) fn warn_ineffective(&mut self, node: &YamlNode<'_>, names: &[(&str, &str)]) {
        for (name, instead) in names {
            if let Some(entry) = entry(node, name) {
                let message = format!("`{name}` has no effect in eddy: {instead}");
                self.report.warning(entry.key.place, message);
            }
            self.pass(node, &[*name]);
        }
    }

    /// Marks all fields inside a node as read.
    pub(super) fn mark_all_read(&mut self, node: &YamlNode<'_>) {
        match &node.form {
            YamlNodeKind::List(elements) => elements.iter().for_each(|element| self.mark_all_read(element)),
            YamlNodeKind::Mapping { entries, .. } => {
                for entry in entries {
                    self.read_keys.insert(entry.key.place);
                    self.mark_all_read(&entry.value);
                }
            }
            YamlNodeKind::Text { .. } | YamlNodeKind::Refused => {}
        }
    }

    /// Returns the message in an `Any` and the index of its type in `names`; other types are reported.
    pub(super) fn typed<'n, 't>(
        &mut self,
        node: &'n YamlNode<'t>,
        names: &[&str],
    ) -> Option<(&'n YamlNode<'t>, usize)> {
        let name = type_of(node)?;
        self.read_keys.insert(node.entry("@type")?.key.place);
        let found = names.iter().position(|known| *known == name);
        if found.is_none() {
            let place = node.entry("@type").map_or(node.place, |entry| entry.value.place);
            self.report
                .objection(place, format!("`{}` is not supported", shown(name)))
                .hint(format!("expected one of: {}", names.join(", ")));
            self.mark_all_read(node);
        }
        found.map(|at| (node, at))
    }

    /// Returns the message in the `typed_config` of an extension, like [`Self::typed`].
    pub(super) fn typed_config<'n, 't>(
        &mut self,
        node: &'n YamlNode<'t>,
        names: &[&str],
    ) -> Option<(&'n YamlNode<'t>, usize)> {
        self.pass(node, &["name"]);
        let config = self.get(node, "typed_config")?;
        self.typed(config, names)
    }

    /// Returns the file and line of a source position.
    pub(super) fn origin(&self, place: SourceSpan) -> SourceLocation {
        SourceLocation { file: Shared::clone(&self.file), line: place.line }
    }

    /// Reports each field that was not read: an error, or a warning with `--lenient`.
    pub(super) fn report_unread_fields(&mut self, node: &YamlNode<'_>) {
        match &node.form {
            YamlNodeKind::List(elements) => {
                elements.iter().for_each(|element| self.report_unread_fields(element))
            }
            YamlNodeKind::Mapping { entries, .. } => {
                for entry in entries {
                    if self.read_keys.contains(&entry.key.place) {
                        self.report_unread_fields(&entry.value);
                    } else if !is_default(&entry.value) {
                        let key = &entry.key.text;
                        self.report
                            .objection(entry.key.place, format!("`{}` is not supported here", shown(key)))
                            .hint(advice(key));
                    }
                }
            }
            YamlNodeKind::Text { .. } | YamlNodeKind::Refused => {}
        }
    }

    /// Reports the fault of a header edit, if there is one.
    pub(super) fn take_edit(&mut self, place: SourceSpan, result: Result<(), EditFault>) {
        if let Err(fault) = result {
            self.report
                .objection(place, fault.to_string())
                .hint("eddy writes the headers that delimit messages itself");
        }
    }
}

/// Returns the entry of a field, in either spelling of its name.
pub(super) fn entry<'n, 't>(node: &'n YamlNode<'t>, name: &str) -> Option<&'n YamlEntry<'t>> {
    match &node.form {
        YamlNodeKind::Mapping { entries, .. } => {
            entries.iter().find(|entry| entry.key.text == name || is_json_name(&entry.key.text, name))
        }
        YamlNodeKind::Text { .. } | YamlNodeKind::List(_) | YamlNodeKind::Refused => None,
    }
}

/// Returns the elements of a node that is a list.
pub(super) fn elements<'n, 't>(node: &'n YamlNode<'t>) -> &'n [YamlNode<'t>] {
    if let YamlNodeKind::List(elements) = &node.form { elements } else { &[] }
}

/// Returns the text of a node that is a text.
pub(super) fn text<'n>(node: &'n YamlNode<'_>) -> Option<&'n str> {
    if let YamlNodeKind::Text { text, .. } = &node.form { Some(text) } else { None }
}

/// Whether a value is a protobuf default, which protobuf does not distinguish from an absent field.
fn is_default(node: &YamlNode<'_>) -> bool {
    match &node.form {
        YamlNodeKind::Text { text, .. } => matches!(&**text, "" | "false" | "0" | "0s" | "~" | "null"),
        YamlNodeKind::List(elements) => elements.is_empty(),
        YamlNodeKind::Mapping { entries, .. } => entries.is_empty(),
        YamlNodeKind::Refused => true,
    }
}

/// Returns advice for a field that eddy does not support.
fn advice(name: &str) -> &'static str {
    match name {
        "typed_per_filter_config" | "typedPerFilterConfig" => {
            "Envoy's filters are not available; configure an eddy filter in eddy.yaml, under `filters`"
        }
        "host_rewrite_header" | "host_rewrite_path_regex" | "auto_host_rewrite" => {
            "eddy can't take the host from a request: write `host_rewrite_literal`"
        }
        "internal_redirect_policy" => "eddy forwards redirects to the client: leave it out",
        "rate_limits" | "rateLimits" | "rate_limit" | "cors" | "csrf_policy" => {
            "eddy.yaml has built-in filters for this, under `filters`"
        }
        "health_checks" | "healthChecks" => {
            "failing endpoints are ejected without active health checks: see `outlier_detection`"
        }
        "rds" | "vhds" | "scoped_routes" | "eds_cluster_config" | "dynamic_resources" => {
            "eddy reads routes and clusters only from files: write them here"
        }
        _ => "leave it out, or ignore it with `--lenient`",
    }
}
