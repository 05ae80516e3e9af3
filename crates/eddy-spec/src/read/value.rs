//! Reads a single value from a node, with uniform problem messages.

use super::shape::{KeyGroup, KeyGroupCount, ValueSchema, WordInfo, WordKind};
use crate::problem::{ProblemReport, SourceSpan, shown};
use crate::yaml::{YamlEntry, YamlNode, YamlNodeKind};

/// A value and its position in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Position in the source.
    pub place: SourceSpan,
}

/// A value that can be read from a node.
pub trait FromNode: Sized {
    /// Whether an empty node (`~` or `null`) is also a value.
    const ACCEPTS_NULL: bool = false;

    /// Reads the value; returns `None` if it is invalid, after reporting the problem.
    fn read(node: &YamlNode<'_>, report: &mut ProblemReport) -> Option<Self>;

    /// Returns the schema of the value.
    fn shape() -> ValueSchema;

    /// Whether `node` is of the right kind (scalar, list or mapping), regardless of its content.
    fn fits(node: &YamlNode<'_>) -> bool;
}

/// A value that is written as a scalar.
pub trait FromScalar: Sized {
    /// Whether it must be written without quotes, like numbers and `true`.
    const IS_PLAIN: bool = false;

    /// Parses the text.
    fn parse(text: &str) -> Result<Self, InvalidValue>;

    /// Returns the schema of the texts.
    fn info() -> WordInfo;
}

/// Why a text is not a valid value of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidValue {
    /// The text is malformed.
    Form {
        /// Hint how to fix it.
        hint: Option<String>,
    },
    /// The text is not one of a few keywords. The report suggests the one that was probably meant, as long as its
    /// budget for suggestions lasts.
    Choice {
        /// Keywords that may have been meant.
        words: Vec<&'static str>,
    },
    /// The text is well-formed but outside the range of its type.
    Range,
    /// Another reason, which completes "`text` …": `is not a time zone`.
    Reason {
        /// The reason.
        reason: String,
        /// Hint how to fix it.
        hint: Option<String>,
    },
}

impl<T: FromNode> Spanned<T> {
    /// Reads a value and keeps its position.
    pub fn read(node: &YamlNode<'_>, report: &mut ProblemReport) -> Option<Self> {
        if matches!(node.form, YamlNodeKind::Refused) {
            return None;
        }
        if node.is_nothing() && !T::ACCEPTS_NULL {
            report.error_with(node.place, || format!("expected {}, found nothing", T::shape().what()));
            return None;
        }
        Some(Self { value: T::read(node, report)?, place: node.place })
    }
}

impl InvalidValue {
    /// A malformed text.
    pub const FORM: Self = Self::Form { hint: None };

    /// Returns the misfit of a malformed text, with a hint how to fix it.
    pub fn form(hint: impl Into<String>) -> Self {
        Self::Form { hint: Some(hint.into()) }
    }

    /// Returns a misfit with another reason.
    pub fn reason(reason: impl Into<String>) -> Self {
        Self::Reason { reason: reason.into(), hint: None }
    }

    /// Returns a misfit with another reason, and a hint how to fix it.
    pub(crate) fn reason_with_hint(reason: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Reason { reason: reason.into(), hint: Some(hint.into()) }
    }
}

impl<T: FromScalar> FromNode for T {
    fn read(node: &YamlNode<'_>, report: &mut ProblemReport) -> Option<Self> {
        let YamlNodeKind::Text { text, is_plain } = &node.form else {
            note_kind(node, Self::shape, report);
            return None;
        };
        if Self::IS_PLAIN && !is_plain {
            let message = format!("expected {}, found the string `{}`", Self::info().what, shown(text));
            report.error(node.place, message).hint("leave the quotes out");
            return None;
        }
        match Self::parse(text) {
            Ok(value) => Some(value),
            Err(misfit) => {
                note_misfit(node.place, text, Self::info, &misfit, report);
                None
            }
        }
    }

    fn shape() -> ValueSchema {
        ValueSchema::Word(Self::info())
    }

    fn fits(node: &YamlNode<'_>) -> bool {
        matches!(node.form, YamlNodeKind::Text { .. })
    }
}

impl FromScalar for bool {
    const IS_PLAIN: Self = true;

    fn parse(text: &str) -> Result<Self, InvalidValue> {
        match text {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => match &*text.to_ascii_lowercase() {
                "true" | "yes" | "on" | "y" => Err(InvalidValue::form("write `true`")),
                "false" | "no" | "off" | "n" => Err(InvalidValue::form("write `false`")),
                _ => Err(InvalidValue::FORM),
            },
        }
    }

    fn info() -> WordInfo {
        WordInfo { kind: WordKind::Flag, ..WordInfo::text("`true` or `false`") }
    }
}

/// Reports that a node is of the wrong kind.
pub fn note_kind(node: &YamlNode<'_>, expected: impl FnOnce() -> ValueSchema, report: &mut ProblemReport) {
    let found = || match &node.form {
        YamlNodeKind::Text { .. } if node.is_nothing() => "nothing".to_owned(),
        YamlNodeKind::Text { text, .. } => format!("`{}`", shown(text)),
        YamlNodeKind::List(_) => "a list".to_owned(),
        YamlNodeKind::Mapping { .. } => "a mapping".to_owned(),
        YamlNodeKind::Refused => String::new(),
    };
    // The problem of a refused node is already reported.
    if !matches!(node.form, YamlNodeKind::Refused) {
        report.error_with(node.place, || format!("expected {}, found {}", expected().what(), found()));
    }
}

fn note_misfit(
    place: SourceSpan,
    text: &str,
    info: impl FnOnce() -> WordInfo,
    misfit: &InvalidValue,
    report: &mut ProblemReport,
) {
    let message = || {
        let text = shown(text);
        match misfit {
            InvalidValue::Form { .. } | InvalidValue::Choice { .. } => {
                format!("expected {}, found `{text}`", info().what)
            }
            InvalidValue::Range => {
                let info = info();
                let limit = info.limit.as_deref().expect("a type with a range names it");
                format!("`{text}` is out of range: expected {limit}")
            }
            InvalidValue::Reason { reason, .. } => format!("`{text}` {reason}"),
        }
    };
    let hint = match misfit {
        InvalidValue::Form { hint } | InvalidValue::Reason { hint, .. } => hint.clone(),
        InvalidValue::Choice { words } => {
            let meant = report.closest(text, words.iter().copied());
            meant.map(|meant| format!("did you mean `{meant}`?"))
        }
        InvalidValue::Range => None,
    };
    let found = report.error_with(place, message);
    if let Some(hint) = hint {
        found.hint(hint);
    }
}

/// Returns the entries of a mapping with known keys; reports a problem and returns `None` if the node is no mapping.
pub fn entries_of<'n, 't, T: FromNode>(
    node: &'n YamlNode<'t>,
    report: &mut ProblemReport,
) -> Option<&'n [YamlEntry<'t>]> {
    let YamlNodeKind::Mapping { entries, .. } = &node.form else {
        note_kind(node, T::shape, report);
        return None;
    };
    Some(entries)
}

/// Reports an unknown key of the mapping `mapping` with the schema `shape`, as an objection that leniency can turn into
/// a warning. Returns the key that was probably meant.
///
/// # Cost
/// Only a problem that is shown pays for its hint; the schema of a mapping is a large tree.
pub fn unknown_key(
    entry: &YamlEntry<'_>,
    mapping: &str,
    keys: &[&'static str],
    shape: impl FnOnce() -> &'static ValueSchema,
    report: &mut ProblemReport,
) -> Option<&'static str> {
    let written = &*entry.key.text;
    let renamed = new_name(mapping, written);
    let meant = renamed.or_else(|| report.closest(written, keys.iter().copied()));
    let message = || format!("unknown key `{}` in {mapping}", shown(written));
    let found = report.objection_with(entry.key.place, message);
    found.hint_with(|| match meant {
        Some(meant) if renamed.is_some() => format!("the key has been renamed to `{meant}`"),
        Some(meant) => format!("did you mean `{meant}`?"),
        None => match shape().parent_keys_of(written).as_slice() {
            [] => format!("the keys here are {}", listed(keys, "and")),
            homes => format!("it is a key of {}, one level deeper", listed(homes, "and")),
        },
    });
    meant
}

/// Returns the present name of a key that earlier releases of eddy had in the mapping called `mapping`.
fn new_name(mapping: &str, written: &str) -> Option<&'static str> {
    RENAMED.into_iter().find(|key| (key.mapping, key.before) == (mapping, written)).map(|key| key.now)
}

/// Key with another name than in earlier releases.
struct RenamedKey {
    mapping: &'static str,
    before: &'static str,
    now: &'static str,
}

const RENAMED: [RenamedKey; 1] =
    [RenamedKey { mapping: "a cluster", before: "links", now: "connections_per_endpoint" }];

/// Context of a mapping whose entries have been read.
#[derive(Clone, Copy, Debug)]
pub struct MappingContext<'n, 't> {
    /// The mapping.
    pub node: &'n YamlNode<'t>,
    /// Name of the mapping in messages.
    pub title: &'static str,
    /// Known keys that misspelt keys were probably meant to be.
    pub meant: &'n [&'static str],
}

impl MappingContext<'_, '_> {
    /// Reports a required key that is missing, with an example.
    pub(crate) fn note_missing(&self, key: &str, example: &str, report: &mut ProblemReport) {
        if !self.reports_missing(&[key]) {
            return;
        }
        report
            .error(self.node.place, format!("{} needs the key `{key}`", self.title))
            .hint(format!("for example `{key}: {example}`"));
    }

    /// Reports a required key that is missing, without an example, because it would say no more than the key.
    pub fn note_needed(&self, key: &str, report: &mut ProblemReport) {
        if self.reports_missing(&[key]) {
            report.error(self.node.place, format!("{} needs the key `{key}`", self.title));
        }
    }

    /// Reports if too many or too few keys of `group` are given.
    pub(crate) fn note_group(&self, group: &KeyGroup, report: &mut ProblemReport) {
        let YamlNodeKind::Mapping { entries, .. } = &self.node.form else { return };
        let KeyGroup { count, keys } = group;
        let said = || format!("{} has {} of {}", self.title, count.text(), listed(keys, "and"));
        let mut given = entries.iter().filter(|entry| keys.contains(&&*entry.key.text));
        let first = given.next().map_or("", |first| &first.key.text);
        let others = given.filter(|_| *count != KeyGroupCount::OneOrMore);
        for other in others {
            let message = format!("`{}` can't be combined with `{first}`", other.key.text);
            report.error(other.key.place, message).hint(said());
        }
        if *count != KeyGroupCount::NoneOrOne && self.reports_missing(keys) {
            let message = format!("{} needs {} of {}", self.title, count.text(), listed(keys, "and"));
            report.error(self.node.place, message);
        }
    }

    /// Whether the absence of `keys` should be reported: the whole mapping was read, none of them is given, and no
    /// misspelt key was probably meant to be one of them.
    fn reports_missing(&self, keys: &[&str]) -> bool {
        let is_whole = matches!(self.node.form, YamlNodeKind::Mapping { is_whole: true, .. });
        let is_there = keys.iter().any(|key| self.node.entry(key).is_some() || self.meant.contains(key));
        is_whole && !is_there
    }
}

/// Formats a list of words: `a`, `b` and `c`.
pub fn listed(words: &[&str], last: &str) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        Some((end, [])) => end.clone(),
        Some((end, start)) => format!("{} {last} {end}", start.join(", ")),
        None => String::new(),
    }
}
