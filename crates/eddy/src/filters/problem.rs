//! Problem of a filter, and its position in the configuration.

use std::path::Path;

use eddy_filter::LoadError;
use eddy_spec::problem::{Problem, ProblemReport, Severity, SourceText};
use eddy_spec::yaml::{self, YamlNode, YamlNodeKind};
use serde::{Deserialize, Serialize};

use super::unbuilt::{FilterFileKind, build_hint};

/// Filter that cannot be created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FilterProblem {
    /// Filter name in the configuration; empty if no filter is concerned.
    pub(crate) filter: String,
    /// Description of the problem.
    pub(crate) message: String,
    /// Advice to the user.
    pub(crate) hint: Option<String>,
    /// Whether the filter works nevertheless, but probably not as intended.
    #[serde(default)]
    pub(crate) is_warning: bool,
    /// Position in a script, if the problem is there.
    #[serde(default)]
    pub(crate) script: Option<Box<ScriptLine>>,
    /// Text of the filter's configuration that is wrong.
    #[serde(default)]
    pub(crate) text: Option<Box<str>>,
    /// The `config` that the filter refused, if it did.
    #[serde(default)]
    pub(crate) config: Option<Box<RefusedConfig>>,
}

/// Configuration that a filter refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum RefusedConfig {
    /// The filter's own.
    Filter,
    /// That of a rule of a table.
    Rule {
        /// Name of the table.
        table: Box<str>,
        /// Number of the rule among those of the table with a `config` for the filter, from 0.
        index: usize,
    },
}

/// Line of a script file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ScriptLine {
    /// Script file.
    pub(crate) path: String,
    /// Line, from 1; 0 for the script as a whole.
    pub(crate) line: u32,
}

impl FilterProblem {
    /// Creates a problem of the filter with this name; with an empty name, of no particular filter.
    pub(crate) fn new(filter: &str, message: impl Into<String>, hint: Option<&str>) -> Self {
        Self {
            filter: filter.to_owned(),
            message: message.into(),
            hint: hint.map(str::to_owned),
            is_warning: false,
            script: None,
            text: None,
            config: None,
        }
    }

    pub(super) fn of_load(filter: &str, error: &LoadError) -> Self {
        let hint = match error {
            LoadError::UnknownFilter { .. } => {
                Some("use the name under which the library registers the filter")
            }
            LoadError::Refused { .. } => {
                Some("the filter rejects its `config`; see the documentation of the filter")
            }
            LoadError::Path { .. } | LoadError::Library { .. } => None,
        };
        let text = if let LoadError::Path { path, .. } = error { Some(path.as_str().into()) } else { None };
        let config = matches!(error, LoadError::Refused { .. }).then(|| Box::new(RefusedConfig::Filter));
        Self { text, config, ..Self::new(filter, error.to_string(), hint) }
    }

    /// Returns the warning about functions that a module imports and eddy does not have, if there are any.
    pub(super) fn of_imports(filter: &str, functions: &[&str]) -> Option<Self> {
        if functions.is_empty() {
            return None;
        }
        let names: Vec<String> = functions.iter().map(|name| format!("`{name}`")).collect();
        let message = format!(
            "its module imports {}, which eddy does not have: a call returns `Unimplemented`",
            names.join(", ")
        );
        let hint =
            "turn off the feature of the module that needs it, or check that the module works without it";
        Some(Self { is_warning: true, ..Self::new(filter, message, Some(hint)) })
    }

    /// As [`Self::of_load`], for a file that may not be built yet.
    pub(super) fn of_file(filter: &str, error: &LoadError, file: &Path, kind: FilterFileKind) -> Self {
        let problem = Self::of_load(filter, error);
        Self { hint: problem.hint.or_else(|| build_hint(file, kind)), ..problem }
    }

    /// As [`Self::of_load`], for a built-in filter, whose errors need no hint.
    pub(super) fn of_builtin(filter: &str, error: &LoadError) -> Self {
        Self { hint: None, ..Self::of_load(filter, error) }
    }

    /// Returns the problem at the position where the filter is configured.
    pub(crate) fn in_sources(&self, sources: &[SourceText]) -> Problem {
        let severity = if self.is_warning { Severity::Warning } else { Severity::Error };
        Problem { severity, ..self.located_in(sources) }
    }

    fn located_in(&self, sources: &[SourceText]) -> Problem {
        let message = if self.filter.is_empty() {
            self.message.clone()
        } else {
            format!("filter \"{}\": {}", self.filter, self.message)
        };
        let at = |path: &str, (line, column): (u32, u32), marked: &str| Problem {
            line,
            column,
            length: u32::try_from(marked.chars().count()).unwrap_or(1).max(1),
            ..Problem::of_file(path, message.clone(), self.hint.clone())
        };
        match self.script.as_deref() {
            Some(ScriptLine { path, line: 0 }) => {
                return Problem::of_file(path, message, self.hint.clone());
            }
            Some(ScriptLine { path, line }) => return at(path, (*line, 1), ""),
            None => {}
        }
        let refused = self.config.as_ref();
        let refused = refused.and_then(|config| {
            let place = |source: &SourceText| config_position(&source.text, &self.filter, config);
            sources.iter().find_map(|source| Some((source, place(source)?)))
        });
        if let Some((source, place)) = refused {
            return at(&source.path, place, "config");
        }
        let place = sources.iter().find_map(|source| Some((source, place_of(&source.text, &self.filter)?)));
        let Some((source, place)) = place else {
            let path = sources.first().map(|source| &*source.path).unwrap_or_default();
            return Problem::of_file(path, message, self.hint.clone());
        };
        let text = self.text.as_deref();
        let within = text.and_then(|text| Some((find_value_position(&source.text, place, text)?, text)));
        let (place, marked) = within.unwrap_or((place, &self.filter));
        at(&source.path, place, marked)
    }
}

/// Returns line and column of the key `config` of a filter or a rule.
fn config_position(text: &str, filter: &str, refused: &RefusedConfig) -> Option<(u32, u32)> {
    let tree = yaml::parse(text, 0, &mut ProblemReport::new());
    let root = tree.root?;
    let key = match refused {
        RefusedConfig::Filter => &root.entry("filters")?.value.entry(filter)?.value.entry("config")?.key,
        RefusedConfig::Rule { table, index } => {
            let table = &root.entry("routes")?.value.entry(table)?.value;
            // A table in a dialect, or with settings of its own, has its rules below a key.
            let list =
                if let YamlNodeKind::List(_) = &table.form { table } else { &table.entry("rules")?.value };
            let YamlNodeKind::List(rules) = &list.form else { return None };
            let config_of = |rule: &YamlNode<'_>| {
                let key = &rule.entry("filters")?.value.entry(filter)?.value.entry("config")?.key;
                Some((key.place.line, key.place.column))
            };
            return rules.iter().filter_map(config_of).nth(*index);
        }
    };
    Some((key.place.line, key.place.column))
}

/// Returns line and column of a filter's key below `filters:` in a YAML text in block style; other styles are not
/// found.
fn place_of(text: &str, filter: &str) -> Option<(u32, u32)> {
    let begin = text.lines().position(|line| line.strip_prefix("filters:").is_some_and(is_blank))?;
    let lines = text.lines().enumerate().skip(begin + 1);
    let block = lines.take_while(|(_, line)| is_blank(line) || line.starts_with([' ', '#']));
    for (index, line) in block {
        let key = line.trim_start();
        let unquoted = key.trim_start_matches(['"', '\'']);
        let rest = unquoted.strip_prefix(filter).map(|rest| rest.trim_start_matches(['"', '\'']));
        if rest.is_some_and(|rest| rest.starts_with(':')) {
            let column = line.len() - unquoted.len() + 1;
            return Some((u32::try_from(index + 1).ok()?, u32::try_from(column).ok()?));
        }
    }
    None
}

/// Returns line and column of a text that is a whole value below a filter's key.
fn find_value_position(source: &str, (line, column): (u32, u32), text: &str) -> Option<(u32, u32)> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let own = usize::try_from(line).ok()?.checked_sub(1)?;
    let lines = source.lines().enumerate().skip(own);
    let key = indent(source.lines().nth(own)?);
    let is_below = |(index, line): &(usize, &str)| *index == own || is_blank(line) || indent(line) > key;
    for (index, line) in lines.take_while(is_below) {
        let begin = if index == own { usize::try_from(column).ok()? - 1 } else { 0 };
        let found = line.match_indices(text).map(|(at, _)| at).filter(|at| *at >= begin);
        let is_end = |byte: Option<u8>| byte.is_none_or(|byte| b" \t,:{}[]'\"".contains(&byte));
        let is_whole = |at: &usize| {
            is_end(line.as_bytes().get(at + text.len()).copied())
                && is_end(at.checked_sub(1).and_then(|before| line.as_bytes().get(before)).copied())
        };
        // A path may be the same word as its key; the value comes last.
        if let Some(at) = found.filter(is_whole).last() {
            return Some((u32::try_from(index + 1).ok()?, u32::try_from(at + 1).ok()?));
        }
    }
    None
}

fn is_blank(text: &str) -> bool {
    let text = text.trim_start();
    text.is_empty() || text.starts_with('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_located_where_it_is_configured() {
        let text = "listeners:\n  - filters: [auth]\nfilters: # all\n\n  # one\n  mark:\n    native: {filter: mark}\n  \"auth\": {}\nroutes:\n  auth: []\n";
        assert_eq!(place_of(text, "auth"), Some((8, 4)));
        assert_eq!(place_of(text, "mark"), Some((6, 3)));
        assert_eq!(place_of(text, "mar"), None);
        assert_eq!(place_of("filters: {auth: {}}", "auth"), None);
    }

    #[test]
    fn a_setting_is_located_below_its_filter() {
        let text = "filters:\n  one: {fields: {request: {no: {path: no.way}}}}\n  two:\n    fields:\n      no.way2: x\n      request: {no: {path: 'no.way'}}\n  three: no.way\n";
        let within = |filter: &str, path: &str| find_value_position(text, place_of(text, filter)?, path);
        assert_eq!(within("one", "no.way"), Some((2, 39)));
        assert_eq!(within("one", "no"), Some((2, 28)));
        assert_eq!(within("two", "no.way"), Some((6, 29)));
        assert_eq!(within("two", "three"), None);
    }

    #[test]
    fn a_refused_config_is_located() {
        let text = "filters:\n  one: {go: {filter: one}, config: {a: 1}}\n  two:\n    go: {filter: config}\n    config:\n      a: 1\n  three: {go: {}}\nroutes:\n  site:\n    - {cluster: a, filters: {one: {disabled: true}}}\n    - cluster: a\n      filters: {one: {config: 1}}\n    - cluster: b\n      filters:\n        one:\n          config: 2\n";
        let own = |filter: &str| config_position(text, filter, &RefusedConfig::Filter);
        assert_eq!((own("one"), own("two"), own("three")), (Some((2, 28)), Some((5, 5)), None));
        let rule = |index| config_position(text, "one", &RefusedConfig::Rule { table: "site".into(), index });
        assert_eq!((rule(0), rule(1), rule(2)), (Some((12, 23)), Some((16, 11)), None));
        let source = SourceText::new("a.yaml", text);
        let refused = LoadError::Refused { message: "no".to_owned() };
        let shown =
            FilterProblem::of_load("two", &refused).in_sources(std::slice::from_ref(&source)).to_string();
        assert!(shown.starts_with("a.yaml:5:5: error: filter \"two\": no"), "{shown}");
        // Without a `config`, the filter itself is shown.
        let shown = FilterProblem::of_load("three", &refused).in_sources(&[source]).to_string();
        assert!(shown.starts_with("a.yaml:7:3: "), "{shown}");
    }

    #[test]
    fn a_problem_is_shown_with_its_position() {
        let sources = [
            SourceText::new("a.yaml", "listeners: []\n"),
            SourceText::new("b.yaml", "filters:\n  auth: {}\n"),
        ];
        let problem = FilterProblem::new("auth", "no", Some("yes"));
        assert_eq!(
            problem.in_sources(&sources).to_string(),
            "b.yaml:2:3: error: filter \"auth\": no\n  hint: yes"
        );
        let other = FilterProblem::new("other", "no", None);
        assert_eq!(other.in_sources(&sources).to_string(), "a.yaml: error: filter \"other\": no");
        let none = FilterProblem::new("", "no", None);
        assert_eq!(none.in_sources(&sources).to_string(), "a.yaml: error: no");
        let script = |line| Some(Box::new(ScriptLine { path: "x.lua".to_owned(), line }));
        let warning = FilterProblem { is_warning: true, script: script(0), ..problem.clone() };
        assert_eq!(
            warning.in_sources(&sources).to_string(),
            "x.lua: warning: filter \"auth\": no\n  hint: yes"
        );
        let line = FilterProblem { script: script(3), ..other };
        assert_eq!(line.in_sources(&sources).to_string(), "x.lua:3:1: error: filter \"other\": no");
    }
}
