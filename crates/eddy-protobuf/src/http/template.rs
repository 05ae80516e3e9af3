//! Path templates: `/v1/{name=shelves/*}/books/{book.id}:verb`.

use super::error::HttpRuleProblem;
use super::percent::{Within, decode};

/// A parsed template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PathTemplate {
    pub(super) segments: Vec<PathTemplateSegment>,
    pub(super) variables: Vec<Variable>,
    /// Text after the last colon.
    pub(super) verb: Option<Box<str>>,
}

/// A path segment of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PathTemplateSegment {
    /// This segment, decoded.
    Literal(Box<str>),
    /// `*`: any segment that is not empty.
    One,
    /// `**`: any number of segments, up to the end.
    Rest,
}

/// A field that some segments set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    /// Path of the field, with dots for nested fields.
    pub(super) field: Box<str>,
    /// Index of its first segment.
    pub(super) from: usize,
    /// Index after its last segment; `None` if it has all segments up to the end.
    pub(super) to: Option<usize>,
    /// Whether its template is other than `*`.
    pub(super) is_multi: bool,
}

/// Parses a template from the front.
struct PathTemplateParser<'t> {
    text: &'t str,
    at: usize,
    template: PathTemplate,
}

impl PathTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// [`HttpRuleProblem::Template`], [`HttpRuleProblem::FieldTwice`].
    ///
    /// # Spec
    /// Path template syntax of
    /// [google/api/http.proto](https://github.com/googleapis/googleapis/blob/master/google/api/http.proto).
    pub(super) fn parse(text: &str) -> Result<Self, HttpRuleProblem> {
        let mut parser = PathTemplateParser { text, at: 0, template: Self::default() };
        if !parser.takes('/') {
            return Err(parser.problem("a template begins with a slash"));
        }
        parser.segments(Nesting::Outside)?;
        if parser.takes(':') {
            let verb = parser.rest();
            if verb.is_empty() || verb.contains(['/', '{', '}', '*', ':']) {
                return Err(parser.problem("a colon is followed by one verb at the end"));
            }
            parser.template.verb = Some(verb.into());
            parser.at = text.len();
        }
        if parser.at < text.len() {
            return Err(parser.problem("unexpected character"));
        }
        let variables = &parser.template.variables;
        let twice = variables
            .iter()
            .enumerate()
            .find(|(at, variable)| variables.iter().take(*at).any(|other| other.field == variable.field));
        match twice {
            Some((_, variable)) => Err(HttpRuleProblem::FieldTwice(variable.field.to_string())),
            None => Ok(parser.template),
        }
    }
}

/// Whether segments are those of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nesting {
    Outside,
    InVariable,
}

impl<'t> PathTemplateParser<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn takes(&mut self, mark: char) -> bool {
        let is_there = self.rest().starts_with(mark);
        self.at += if is_there { mark.len_utf8() } else { 0 };
        is_there
    }

    fn problem(&self, what: &'static str) -> HttpRuleProblem {
        HttpRuleProblem::Template { what, at: self.at }
    }

    /// Parses one or more segments, separated by slashes.
    fn segments(&mut self, nesting: Nesting) -> Result<(), HttpRuleProblem> {
        loop {
            if self.template.segments.last() == Some(&PathTemplateSegment::Rest) {
                return Err(self.problem("only a verb may follow `**`"));
            }
            self.segment(nesting)?;
            if !self.takes('/') {
                return Ok(());
            }
        }
    }

    fn segment(&mut self, nesting: Nesting) -> Result<(), HttpRuleProblem> {
        if self.takes('{') {
            if nesting == Nesting::InVariable {
                return Err(self.problem("variables cannot be nested"));
            }
            return self.variable();
        }
        if self.takes('*') {
            let segment = if self.takes('*') { PathTemplateSegment::Rest } else { PathTemplateSegment::One };
            self.template.segments.push(segment);
            return Ok(());
        }
        let rest = self.rest();
        let length = rest.find(['/', '{', '}', '*', ':', '=']).unwrap_or(rest.len());
        let literal = rest.get(..length).unwrap_or_default();
        if literal.is_empty() {
            return Err(self.problem("a segment is empty"));
        }
        let literal = decode(literal.as_bytes(), Within::Segment);
        let literal = literal.ok_or_else(|| self.problem("invalid percent-encoding"))?;
        self.at += length;
        self.template.segments.push(PathTemplateSegment::Literal(literal.into()));
        Ok(())
    }

    /// Parses a variable after its opening brace.
    fn variable(&mut self) -> Result<(), HttpRuleProblem> {
        let rest = self.rest();
        let length = rest.find(['=', '}']).unwrap_or(rest.len());
        let field: Box<str> = rest.get(..length).unwrap_or_default().into();
        let is_name = |name: &str| {
            name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        };
        if !field.split('.').all(is_name) {
            return Err(self.problem("a variable is a field path such as `book.name`"));
        }
        self.at += length;
        let from = self.template.segments.len();
        if self.takes('=') {
            self.segments(Nesting::InVariable)?;
        } else {
            self.template.segments.push(PathTemplateSegment::One);
        }
        if !self.takes('}') {
            return Err(self.problem("a variable ends with `}`"));
        }
        let segments = &self.template.segments;
        let is_open = segments.last() == Some(&PathTemplateSegment::Rest);
        let is_multi = segments.len() - from > 1 || is_open;
        let to = (!is_open).then_some(segments.len());
        self.template.variables.push(Variable { field, from, to, is_multi });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_parsed() {
        let template = PathTemplate::parse("/v1/{name=shelves/*}/books/{book.id}:move").unwrap();
        let literal = |text: &str| PathTemplateSegment::Literal(text.into());
        let segments = [
            literal("v1"),
            literal("shelves"),
            PathTemplateSegment::One,
            literal("books"),
            PathTemplateSegment::One,
        ];
        assert_eq!(template.segments, segments);
        assert_eq!(template.verb.as_deref(), Some("move"));
        let [name, id] = template.variables.as_slice() else { panic!("{template:?}") };
        assert_eq!((&*name.field, name.from, name.to, name.is_multi), ("name", 1, Some(3), true));
        assert_eq!((&*id.field, id.from, id.to, id.is_multi), ("book.id", 4, Some(5), false));
        let template = PathTemplate::parse("/a%20b/{rest=**}").unwrap();
        assert_eq!(template.segments, [literal("a b"), PathTemplateSegment::Rest]);
        assert_eq!(template.variables.first().map(|rest| (rest.to, rest.is_multi)), Some((None, true)));
    }

    #[test]
    fn an_invalid_template_is_refused() {
        for text in [
            "",
            "v1",
            "/",
            "/v1/",
            "/v1//a",
            "/{",
            "/{}",
            "/{a",
            "/{a=}",
            "/{a={b}}",
            "/{a.}",
            "/{1a}",
            "/**/a",
            "/{a=**}/b",
            "/a:",
            "/a:b/c",
            "/a:b:c",
            "/a}",
            "/a*",
            "/*a",
            "/%zz",
            "/a=b",
            "/{a=**/b}",
            "/{a}b",
        ] {
            let problem = PathTemplate::parse(text);
            assert!(matches!(problem, Err(HttpRuleProblem::Template { .. })), "{text}: {problem:?}");
        }
        assert_eq!(PathTemplate::parse("/{a}/{a}"), Err(HttpRuleProblem::FieldTwice("a".to_owned())));
    }
}
