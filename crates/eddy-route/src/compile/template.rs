//! Path templates such as `/users/{id}/{rest...}`: segments, each fixed or captured.

use crate::error::RouteProblem;

/// A parsed template.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CompiledPathTemplate {
    pub(crate) text: Box<str>,
    /// Segments after the first `/`, without a final `{rest...}`.
    pub(crate) segments: Vec<TemplateSegment>,
    /// Name of a final `{rest...}`.
    pub(crate) rest: Option<Box<str>>,
    /// Length of the text before the first capture; a final `/` of it does not count, as with prefixes.
    pub(crate) prefix_len: usize,
    /// Number of bytes that are not captured.
    pub(crate) fixed_len: usize,
}

/// A segment of a template.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TemplateSegment {
    /// Literal text.
    Fixed(Box<str>),
    /// Any text except the empty one, captured under a name.
    Capture(Box<str>),
}

impl TemplateSegment {
    /// Returns the number of bytes that are not captured, including the `/` before the segment.
    fn fixed_len(&self) -> usize {
        match self {
            Self::Fixed(text) => text.len() + 1,
            Self::Capture(_) => 1,
        }
    }
}

impl CompiledPathTemplate {
    /// Parses a normalised template; `None` if it captures nothing and thus is an exact path.
    pub(crate) fn check(text: &str) -> Result<Option<Self>, RouteProblem> {
        let fault = |reason| RouteProblem::Template { template: text.to_owned(), reason };
        let mut template =
            Self { text: text.into(), segments: Vec::new(), rest: None, prefix_len: 0, fixed_len: 0 };
        let mut parts = text.strip_prefix('/').unwrap_or(text).split('/').peekable();
        while let Some(part) = parts.next() {
            let Some(inner) = part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) else {
                if part.contains(['{', '}']) {
                    return Err(fault("a capture must be a whole segment"));
                }
                template.segments.push(TemplateSegment::Fixed(part.into()));
                continue;
            };
            let rest = inner.strip_suffix("...");
            let name = rest.unwrap_or(inner);
            if !is_capture_name(name) {
                return Err(fault("a capture name must consist of letters, digits and _"));
            }
            if template.capture_names().any(|known| known == name) {
                return Err(fault("two captures have the same name"));
            }
            match rest {
                None => template.segments.push(TemplateSegment::Capture(name.into())),
                Some(_) if parts.peek().is_some() => {
                    return Err(fault("only the last capture may match the rest of the path"));
                }
                Some(_) => template.rest = Some(name.into()),
            }
        }
        if template.segments.len() > TEMPLATE_SEGMENTS_MAX {
            return Err(fault("it has more than 64 segments"));
        }
        let is_fixed = |segment: &&TemplateSegment| matches!(segment, TemplateSegment::Fixed(_));
        template.prefix_len =
            template.segments.iter().take_while(is_fixed).map(TemplateSegment::fixed_len).sum();
        template.fixed_len = template.segments.iter().map(TemplateSegment::fixed_len).sum();
        let captures = template.capture_names().count();
        Ok((captures > 0).then_some(template))
    }

    /// Whether the whole path matches the template.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        let Some(path) = path.strip_prefix(b"/") else { return false };
        let mut parts = path.split(|byte| *byte == b'/');
        let is_begun = self.segments.iter().all(|segment| match (segment, parts.next()) {
            (TemplateSegment::Fixed(text), Some(part)) => text.as_bytes() == part,
            (TemplateSegment::Capture(_), Some(part)) => !part.is_empty(),
            (_, None) => false,
        });
        is_begun && (self.rest.is_some() || parts.next().is_none())
    }

    /// Returns the text of a capture in a matching path.
    pub(crate) fn capture<'p>(&self, path: &'p [u8], number: usize) -> &'p [u8] {
        let mut left = path.strip_prefix(b"/").unwrap_or(path);
        let mut captures = 0;
        for segment in &self.segments {
            let end = memchr::memchr(b'/', left).unwrap_or(left.len());
            let (part, after) = left.split_at(end);
            left = after.strip_prefix(b"/").unwrap_or(after);
            if let TemplateSegment::Capture(_) = segment {
                if captures == number {
                    return part;
                }
                captures += 1;
            }
        }
        left
    }

    /// Returns the names of the captures in order.
    pub(crate) fn capture_names(&self) -> impl Iterator<Item = &str> {
        let captured = self.segments.iter().filter_map(|segment| match segment {
            TemplateSegment::Capture(name) => Some(name.as_ref()),
            TemplateSegment::Fixed(_) => None,
        });
        captured.chain(self.rest.as_deref())
    }
}

/// Whether a text is a valid capture name.
pub(crate) fn is_capture_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Maximum segments of a template; a walk keeps at most one branch for each.
const TEMPLATE_SEGMENTS_MAX: usize = 64;
