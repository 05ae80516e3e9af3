//! Reads fields of messages, and knows which of them nobody read.

use std::collections::HashSet;
use std::time::Duration;

use eddy_http::EditFault;

use super::api::is_json_name;
use super::shape::{seconds, type_of};
use crate::problem::{ProblemReport, SourceSpan, shown};
use crate::yaml::{YamlEntry, YamlKey, YamlNode, YamlNodeKind};

/// What is read, and what was found.
pub(super) struct EnvoyReader<'r> {
    pub(super) report: &'r mut ProblemReport,
    /// Where the keys are written that were read.
    read_keys: HashSet<SourceSpan>,
    /// How many leaves of matcher trees were looked at, one for each way to it.
    pub(super) leaves: usize,
}

impl<'r> EnvoyReader<'r> {
    pub(super) fn new(report: &'r mut ProblemReport) -> Self {
        Self { report, read_keys: HashSet::new(), leaves: 0 }
    }

    /// The value of a field, named as in the API.
    pub(super) fn get<'n, 't>(&mut self, node: &'n YamlNode<'t>, name: &str) -> Option<&'n YamlNode<'t>> {
        let entry = entry(node, name)?;
        self.read_keys.insert(entry.key.place);
        (!entry.value.is_nothing()).then_some(&entry.value)
    }

    /// The text of a field.
    pub(super) fn text<'n>(&mut self, node: &'n YamlNode<'_>, name: &str) -> Option<&'n str> {
        self.get(node, name).and_then(text)
    }

    /// The text of a field that is not empty; proto-JSON does not tell the empty text from none.
    pub(super) fn word<'n>(&mut self, node: &'n YamlNode<'_>, name: &str) -> Option<&'n str> {
        self.text(node, name).filter(|text| !text.is_empty())
    }

    /// Whether a field is `true`.
    pub(super) fn is_true(&mut self, node: &YamlNode<'_>, name: &str) -> bool {
        self.text(node, name) == Some("true")
    }

    /// The number of a field.
    pub(super) fn number<T: std::str::FromStr>(&mut self, node: &YamlNode<'_>, name: &str) -> Option<T> {
        self.text(node, name)?.parse().ok()
    }

    /// The duration of a field.
    pub(super) fn duration(&mut self, node: &YamlNode<'_>, name: &str) -> Option<Duration> {
        self.text(node, name).and_then(seconds)
    }

    /// The elements of a field.
    pub(super) fn list<'n, 't>(&mut self, node: &'n YamlNode<'t>, name: &str) -> &'n [YamlNode<'t>] {
        self.get(node, name).map(elements).unwrap_or_default()
    }

    /// Takes a key that is no field but one of a map.
    pub(super) fn take(&mut self, key: &YamlKey<'_>) {
        self.read_keys.insert(key.place);
    }

    /// Takes fields that change nothing eddy does, with all within.
    pub(super) fn pass(&mut self, node: &YamlNode<'_>, names: &[&str]) {
        for name in names {
            if let Some(entry) = entry(node, name) {
                self.read_keys.insert(entry.key.place);
                self.pass_all(&entry.value);
            }
        }
    }

    /// Takes fields that would change what Envoy does and change nothing here, and says so.
    pub(super) fn warn_ineffective(&mut self, node: &YamlNode<'_>, names: &[(&str, &str)]) {
        for (name, instead) in names {
            if let Some(entry) = entry(node, name) {
                let message = format!("`{name}` changes nothing here: {instead}");
                self.report.warning(entry.key.place, message);
            }
            self.pass(node, &[*name]);
        }
    }

    /// Takes all fields within.
    pub(super) fn pass_all(&mut self, node: &YamlNode<'_>) {
        match &node.form {
            YamlNodeKind::List(elements) => elements.iter().for_each(|element| self.pass_all(element)),
            YamlNodeKind::Mapping { entries, .. } => {
                for entry in entries {
                    self.read_keys.insert(entry.key.place);
                    self.pass_all(&entry.value);
                }
            }
            YamlNodeKind::Text { .. } | YamlNodeKind::Refused => {}
        }
    }

    /// The message in an Any of this name; another one is an objection.
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
                .objection(place, format!("eddy has no `{}`", shown(name)))
                .hint(format!("what may stand here is {}", names.join(", ")));
            self.pass_all(node);
        }
        found.map(|at| (node, at))
    }

    /// Objects to each field that nobody read.
    pub(super) fn object_to_rest(&mut self, node: &YamlNode<'_>) {
        match &node.form {
            YamlNodeKind::List(elements) => elements.iter().for_each(|element| self.object_to_rest(element)),
            YamlNodeKind::Mapping { entries, .. } => {
                for entry in entries {
                    if self.read_keys.contains(&entry.key.place) {
                        self.object_to_rest(&entry.value);
                    } else if !is_default(&entry.value) {
                        let key = &entry.key.text;
                        self.report
                            .objection(entry.key.place, format!("eddy has no `{}` here", shown(key)))
                            .hint(advice(key));
                    }
                }
            }
            YamlNodeKind::Text { .. } | YamlNodeKind::Refused => {}
        }
    }

    /// Notes what is wrong with an edit of fields.
    pub(super) fn take_edit(&mut self, place: SourceSpan, result: Result<(), EditFault>) {
        if let Err(fault) = result {
            self.report
                .objection(place, fault.to_string())
                .hint("eddy keeps the framing of messages to itself");
        }
    }
}

/// The entry of a field in either spelling.
pub(super) fn entry<'n, 't>(node: &'n YamlNode<'t>, name: &str) -> Option<&'n YamlEntry<'t>> {
    match &node.form {
        YamlNodeKind::Mapping { entries, .. } => {
            entries.iter().find(|entry| entry.key.text == name || is_json_name(&entry.key.text, name))
        }
        YamlNodeKind::Text { .. } | YamlNodeKind::List(_) | YamlNodeKind::Refused => None,
    }
}

/// The elements of a node that is a list.
pub(super) fn elements<'n, 't>(node: &'n YamlNode<'t>) -> &'n [YamlNode<'t>] {
    if let YamlNodeKind::List(elements) = &node.form { elements } else { &[] }
}

/// The text of a node that is one.
pub(super) fn text<'n>(node: &'n YamlNode<'_>) -> Option<&'n str> {
    if let YamlNodeKind::Text { text, .. } = &node.form { Some(text) } else { None }
}

/// Whether a value says what holds anyway: protobuf does not tell it from one that is not written.
fn is_default(node: &YamlNode<'_>) -> bool {
    match &node.form {
        YamlNodeKind::Text { text, .. } => matches!(&**text, "" | "false" | "0" | "0s" | "~" | "null"),
        YamlNodeKind::List(elements) => elements.is_empty(),
        YamlNodeKind::Mapping { entries, .. } => entries.is_empty(),
        YamlNodeKind::Refused => true,
    }
}

/// What to do about a field that eddy has not.
fn advice(name: &str) -> &'static str {
    match name {
        "typed_per_filter_config" | "typedPerFilterConfig" => {
            "Envoy's filters are not there; configure a filter of eddy's in eddy.yaml, under `filters`"
        }
        "host_rewrite_header" | "host_rewrite_path_regex" | "auto_host_rewrite" => {
            "eddy takes no host from a request: write `host_rewrite_literal`"
        }
        "internal_redirect_policy" => "eddy passes redirects on: leave it out",
        "rate_limits" | "rateLimits" | "rate_limit" | "cors" | "csrf_policy" => {
            "eddy.yaml has built-in filters for this, under `filters`"
        }
        "health_checks" | "healthChecks" => {
            "endpoints that fail are left out without being asked: see `outlier_detection`"
        }
        "rds" | "vhds" | "scoped_routes" | "eds_cluster_config" | "dynamic_resources" => {
            "eddy takes routes and clusters from files: write them here"
        }
        _ => "leave it out, or pass it over with `--lenient`",
    }
}
