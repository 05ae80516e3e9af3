//! A route from HTTP requests to a method.

use super::template::{PathTemplate, PathTemplateSegment, Variable};
use crate::schema::MessageId;

/// A route from HTTP requests to a method.
#[derive(Debug)]
pub struct HttpRoute {
    /// gRPC path of the method, `/package.Service/Method`.
    pub path: Box<str>,
    /// HTTP method; `*` for any.
    pub method: Box<str>,
    /// Path template as written.
    pub template: Box<str>,
    /// Request message type.
    pub input: MessageId,
    /// Response message type.
    pub output: MessageId,
    /// Whether the method is client-streaming.
    pub is_client_streaming: bool,
    /// Whether the method is server-streaming.
    pub is_server_streaming: bool,
    /// Content of a request body.
    pub body: HttpBodyBinding,
    /// The only field that a response body contains, as its index in the output.
    pub response_body: Option<u16>,
    pub(super) variables: Box<[Bound]>,
    /// Whether the template has a verb.
    pub(super) has_verb: bool,
}

/// A path segment of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathPart {
    /// This text.
    Literal(Box<str>),
    /// Any text, which may set a field such as `a.b`.
    Any {
        /// The field that it sets, or a part of which it sets.
        field: Option<Box<str>>,
        /// Whether it alone sets the field.
        is_whole: bool,
        /// Whether it matches the rest of the path, including slashes.
        is_rest: bool,
    },
}

/// A parsed path template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathParts {
    /// Path segments.
    pub parts: Vec<PathPart>,
    /// Text after the last colon.
    pub verb: Option<Box<str>>,
}

impl HttpRoute {
    /// Returns the parsed template.
    pub fn path_parts(&self) -> PathParts {
        let PathTemplate { segments, variables, verb } =
            PathTemplate::parse(&self.template).expect("it was parsed when the route was built");
        let count = segments.len();
        let part = |at: usize, is_rest: bool| {
            let has_it = |variable: &&Variable| variable.from <= at && variable.to.is_none_or(|to| at < to);
            let variable = variables.iter().find(has_it);
            let is_whole = variable.is_some_and(|variable| variable.to.unwrap_or(count) - variable.from == 1);
            PathPart::Any { field: variable.map(|variable| variable.field.clone()), is_whole, is_rest }
        };
        let parts = segments.into_iter().enumerate().map(|(at, segment)| match segment {
            PathTemplateSegment::Literal(text) => PathPart::Literal(text),
            PathTemplateSegment::One => part(at, false),
            PathTemplateSegment::Rest => part(at, true),
        });
        PathParts { parts: parts.collect(), verb }
    }

    /// Returns the names of the fields that the path sets, with dots for nested fields.
    pub fn path_fields(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|bound| &*bound.variable.field)
    }
}

/// Content of a request body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpBodyBinding {
    /// No body.
    None,
    /// The whole message.
    Whole,
    /// The field of the message with this index.
    Field(u16),
}

/// A field that a part of the path sets.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) variable: Variable,
    /// Indexes of the field and of its parents, outermost first.
    pub(super) fields: Box<[u16]>,
}
