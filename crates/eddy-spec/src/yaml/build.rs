//! Builds the tree from the parser's events, within limits.

use std::collections::HashMap;

use granit_parser::{Event, Options, Parser, ScalarStyle, Span, options};

use super::node::{YamlEntry, YamlKey, YamlNode, YamlNodeKind};
use super::syntax;
use crate::problem::{ProblemReport, SourceSpan, shown};

/// Tree of a text with at most one document.
#[derive(Debug)]
pub struct YamlTree<'t> {
    /// Root value; `None` if there is none.
    pub root: Option<YamlNode<'t>>,
    /// Whether the text was read to its end.
    pub is_whole: bool,
}

/// Trees of a text with several documents.
#[derive(Debug)]
pub struct Documents<'t> {
    /// Root value of each document; empty documents are left out.
    pub roots: Vec<YamlNode<'t>>,
    /// Whether the text was read to its end.
    pub is_whole: bool,
}

/// Parses the text of source number `source`; problems are added to `report`.
///
/// After a syntax error the tree holds everything before it, so that further problems can be reported.
///
/// # Cost
/// Linear in the text plus the expansion of its aliases, which is limited to [`NODES_MAX`] nodes.
pub fn parse<'t>(text: &'t str, source: u32, report: &mut ProblemReport) -> YamlTree<'t> {
    let Documents { roots, is_whole } = parse_within(text, source, 1, report);
    YamlTree { root: roots.into_iter().next(), is_whole }
}

/// Parses a text that may hold several documents, at most [`DOCUMENTS_MAX`].
///
/// # Cost
/// As [`parse`].
pub fn parse_documents<'t>(text: &'t str, source: u32, report: &mut ProblemReport) -> Documents<'t> {
    parse_within(text, source, DOCUMENTS_MAX, report)
}

fn parse_within<'t>(
    text: &'t str,
    source: u32,
    documents_max: usize,
    report: &mut ProblemReport,
) -> Documents<'t> {
    let mut builder = Builder::new(source, documents_max, report);
    if text.len() > TEXT_BYTES_MAX {
        let place = SourceSpan { source, line: 1, column: 1, length: 1 };
        builder.report.error(place, format!("too large: at most {} MiB are read", TEXT_BYTES_MAX >> 20));
        return Documents { roots: Vec::new(), is_whole: false };
    }
    for event in Parser::new_from_str_with_options(text, parser_options()) {
        let goes_on = match event {
            Ok((event, span)) => builder.handle(event, span),
            Err(error) => {
                syntax::note(&error, text, source, builder.report);
                builder.drop_newest_text();
                false
            }
        };
        if !goes_on {
            return Documents { roots: builder.into_cut(), is_whole: false };
        }
    }
    Documents { roots: builder.roots, is_whole: true }
}

pub(super) fn parser_options() -> Options {
    options! {
        disallow_directives: true,
        emit_unresolved_aliases: true,
        flow_nesting_limit: DEPTH_MAX + 1,
        block_nesting_limit: DEPTH_MAX + 1,
    }
}

/// State of the tree builder.
struct Builder<'t, 'r> {
    source: u32,
    report: &'r mut ProblemReport,
    /// Lists and mappings that are not closed yet, outermost first.
    open: Vec<YamlStackFrame<'t>>,
    roots: Vec<YamlNode<'t>>,
    /// Anchored values, for aliases.
    anchored: HashMap<usize, Anchored<'t>>,
    documents: usize,
    documents_max: usize,
    nodes_left: usize,
    /// Whether the last event was a scalar, which a syntax error may have truncated.
    has_newest_text: bool,
}

/// End of a list or mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CollectionEnd {
    Found,
    /// A syntax error comes first.
    Missing,
}

/// A list or mapping whose end has not been reached.
struct YamlStackFrame<'t> {
    place: SourceSpan,
    anchor: usize,
    node: PartialYamlNode<'t>,
    /// Height of the highest element so far.
    height: usize,
    /// `nodes_left` at its beginning, from which its weight is computed at its end.
    nodes_left_before: usize,
}

enum PartialYamlNode<'t> {
    List(Vec<YamlNode<'t>>),
    Mapping {
        entries: Vec<YamlEntry<'t>>,
        awaited: ExpectedPart<'t>,
        /// Whether a key was refused.
        has_refused_key: bool,
    },
}

/// Next expected part of a mapping.
#[derive(Default)]
enum ExpectedPart<'t> {
    #[default]
    Key,
    Value(YamlKey<'t>),
    /// The value of a refused key; it is dropped.
    RefusedValue,
}

/// A value with an anchor.
struct Anchored<'t> {
    node: YamlNode<'t>,
    height: usize,
    weight: usize,
}

impl<'t, 'r> Builder<'t, 'r> {
    fn new(source: u32, documents_max: usize, report: &'r mut ProblemReport) -> Self {
        Self {
            source,
            report,
            open: Vec::new(),
            roots: Vec::new(),
            anchored: HashMap::new(),
            documents: 0,
            documents_max,
            nodes_left: NODES_MAX,
            has_newest_text: false,
        }
    }

    /// Handles an event; returns `false` if parsing must stop.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the parser sends other events only when asked to")]
    fn handle(&mut self, event: Event<'t>, span: Span) -> bool {
        let place = self.place(span);
        self.has_newest_text = false;
        if let Some(tag) = event.tag() {
            let message = format!("the tag `{}` is not supported", shown(&tag.original()));
            let place = span.tag_span().map_or(place, |span| self.place(span));
            self.report.error(place, message).hint("leave it out; the key determines the type of its value");
        }
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let is_plain = style == ScalarStyle::Plain;
                let weight = 1 + text.len() / TEXT_BYTES_PER_NODE;
                self.has_newest_text = true;
                self.charge_nodes(weight, place)
                    && self.add(
                        YamlNode { place, form: YamlNodeKind::Text { text, is_plain } },
                        anchor,
                        0,
                        weight,
                    )
            }
            Event::SequenceStart(_, anchor, _) => {
                self.begin(place, anchor, PartialYamlNode::List(Vec::new()))
            }
            Event::MappingStart(_, anchor, _) => self.begin(
                place,
                anchor,
                PartialYamlNode::Mapping {
                    entries: Vec::new(),
                    awaited: ExpectedPart::Key,
                    has_refused_key: false,
                },
            ),
            Event::SequenceEnd | Event::MappingEnd => self.end(CollectionEnd::Found),
            Event::Alias(anchor) => self.expand(anchor, place),
            Event::UnresolvedAlias(name) => {
                let message = format!("`*{0}` refers to `&{0}`, which is not defined above", shown(&name));
                let hint = format!("if a string is meant, put it in quotes: '*{}'", shown(&name));
                self.report.error(place, message).hint(hint);
                self.add(YamlNode { place, form: YamlNodeKind::Refused }, 0, 0, 1)
            }
            Event::DocumentStart(..) => self.begin_document(place),
            Event::DocumentEnd | Event::StreamStart | Event::StreamEnd => true,
            _ => true,
        }
    }

    fn begin_document(&mut self, place: SourceSpan) -> bool {
        self.documents += 1;
        if self.documents <= self.documents_max {
            return true;
        }
        if self.documents_max > 1 {
            self.report.error(place, format!("too many documents: at most {} are read", self.documents_max));
        } else {
            self.report
                .error(place, "a file has one document, and this begins a second")
                .hint("move it to a separate file; several files can be given");
        }
        false
    }

    fn begin(&mut self, place: SourceSpan, anchor: usize, node: PartialYamlNode<'t>) -> bool {
        let nodes_left_before = self.nodes_left;
        if self.open.len() >= DEPTH_MAX {
            self.report.error(place, format!("nested too deeply: at most {DEPTH_MAX} levels are read"));
            return false;
        }
        self.open.push(YamlStackFrame { place, anchor, node, height: 0, nodes_left_before });
        self.charge_nodes(1, place)
    }

    /// Closes the innermost list or mapping.
    fn end(&mut self, end: CollectionEnd) -> bool {
        let Some(frame) = self.open.pop() else { return true };
        let form = match frame.node {
            PartialYamlNode::List(elements) => YamlNodeKind::List(elements),
            PartialYamlNode::Mapping { mut entries, has_refused_key, .. } => {
                self.refuse_repeated_keys(&mut entries);
                let is_whole = end == CollectionEnd::Found && !has_refused_key;
                YamlNodeKind::Mapping { entries, is_whole }
            }
        };
        let weight = frame.nodes_left_before.saturating_sub(self.nodes_left);
        self.add(YamlNode { place: frame.place, form }, frame.anchor, frame.height, weight)
    }

    /// Adds a finished value to its parent; `height` is the number of levels below it.
    fn add(&mut self, node: YamlNode<'t>, anchor: usize, height: usize, weight: usize) -> bool {
        if anchor != 0 {
            if !self.charge_nodes(weight, node.place) {
                return false;
            }
            self.anchored.insert(anchor, Anchored { node: node.clone(), height, weight });
        }
        let Some(frame) = self.open.last_mut() else {
            self.roots.push(node);
            return true;
        };
        frame.height = frame.height.max(height + 1);
        match &mut frame.node {
            PartialYamlNode::List(elements) => elements.push(node),
            PartialYamlNode::Mapping { entries, awaited, has_refused_key } => match std::mem::take(awaited) {
                ExpectedPart::Key => match key_from(node, self.report) {
                    Some(key) => *awaited = ExpectedPart::Value(key),
                    None => {
                        *awaited = ExpectedPart::RefusedValue;
                        *has_refused_key = true;
                    }
                },
                ExpectedPart::Value(key) => entries.push(YamlEntry { key, value: node }),
                ExpectedPart::RefusedValue => {}
            },
        }
        true
    }

    fn expand(&mut self, anchor: usize, place: SourceSpan) -> bool {
        let Some(Anchored { node, height, weight }) = self.anchored.get(&anchor) else {
            self.report.error(place, "this alias is inside the value that it refers to");
            return self.add(YamlNode { place, form: YamlNodeKind::Refused }, 0, 0, 1);
        };
        let (node, height, weight) = (node.clone(), *height, *weight);
        if self.open.len() + height > DEPTH_MAX {
            self.report.error(
                place,
                format!("nested too deeply with this alias: at most {DEPTH_MAX} levels are read"),
            );
            return false;
        }
        self.charge_nodes(weight, place) && self.add(node, 0, height, weight)
    }

    fn charge_nodes(&mut self, weight: usize, place: SourceSpan) -> bool {
        match self.nodes_left.checked_sub(weight) {
            Some(left) => {
                self.nodes_left = left;
                true
            }
            None => {
                self.nodes_left = 0;
                self.report.error(
                    place,
                    format!("too large: at most {NODES_MAX} values are read, aliases expanded"),
                );
                false
            }
        }
    }

    /// Keeps the first entry of each key and reports the others.
    fn refuse_repeated_keys(&mut self, entries: &mut Vec<YamlEntry<'t>>) {
        let is_small = entries.len() <= 8;
        let is_repeated =
            |at: usize| entries[..at].iter().any(|entry| entry.key.text == entries[at].key.text);
        if is_small && !(0..entries.len()).any(is_repeated) {
            return;
        }
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by(|&a, &b| entries[a].key.text.cmp(&entries[b].key.text).then(a.cmp(&b)));
        let mut repeated: Vec<usize> = Vec::new();
        for pair in order.chunk_by(|&a, &b| entries[a].key.text == entries[b].key.text) {
            let [first, others @ ..] = pair else { continue };
            for &other in others {
                let message = format!(
                    "duplicate key `{}`; the first is in line {}",
                    shown(&entries[other].key.text),
                    entries[*first].key.place.line
                );
                self.report.error(entries[other].key.place, message);
                repeated.push(other);
            }
        }
        repeated.sort_unstable();
        let mut index = 0;
        entries.retain(|_| {
            let is_repeated = repeated.binary_search(&index).is_ok();
            index += 1;
            !is_repeated
        });
    }

    /// Removes the last scalar: a syntax error right after it may have truncated it.
    fn drop_newest_text(&mut self) {
        if !self.has_newest_text {
            return;
        }
        match self.open.last_mut().map(|frame| &mut frame.node) {
            Some(PartialYamlNode::List(elements)) => drop(elements.pop()),
            Some(PartialYamlNode::Mapping { entries, awaited, .. }) => {
                if let ExpectedPart::Key = std::mem::take(awaited) {
                    entries.pop();
                }
            }
            None => {}
        }
    }

    /// Returns the trees before the syntax error.
    fn into_cut(mut self) -> Vec<YamlNode<'t>> {
        while let Some(frame) = self.open.last_mut() {
            frame.anchor = 0;
            self.end(CollectionEnd::Missing);
        }
        self.roots
    }

    fn place(&self, span: Span) -> SourceSpan {
        let start = syntax::place_of(span.start, self.source);
        let length = if span.end.line() == span.start.line() {
            span.end.col().saturating_sub(span.start.col())
        } else {
            1
        };
        SourceSpan { length: u32::try_from(length).unwrap_or(u32::MAX).max(1), ..start }
    }
}

/// Converts a node to a key. A key must be a scalar; returns `None` and reports a problem if it is not, or if it would
/// be a merge key, which is not supported.
fn key_from<'t>(node: YamlNode<'t>, report: &mut ProblemReport) -> Option<YamlKey<'t>> {
    match node.form {
        YamlNodeKind::Text { text, is_plain } if is_plain && text == "<<" => {
            report
                .error(node.place, "merge keys (`<<`) are not part of YAML 1.2 and are not supported")
                .hint("write the keys out, or use an alias for a whole value: `timeouts: *slow`");
            None
        }
        YamlNodeKind::Text { text, .. } => Some(YamlKey { text, place: node.place }),
        YamlNodeKind::Refused => None,
        YamlNodeKind::List(_) | YamlNodeKind::Mapping { .. } => {
            report.error(node.place, "a key must be a string").hint("put it in quotes if a string is meant");
            None
        }
    }
}

/// Maximum size of a text in bytes.
const TEXT_BYTES_MAX: usize = 16 << 20;
/// Maximum number of documents in a text.
const DOCUMENTS_MAX: usize = 100_000;
/// Maximum nesting depth of lists and mappings.
const DEPTH_MAX: usize = 64;
/// Maximum number of values in a file; values from aliases count each time, long texts count as several.
const NODES_MAX: usize = 2_000_000;
/// Bytes of a scalar that count as one more value.
const TEXT_BYTES_PER_NODE: usize = 32;
