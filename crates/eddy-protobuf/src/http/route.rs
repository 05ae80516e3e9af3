//! A way to call a method, ready to be used.

use super::template::{PathTemplate, PathTemplateSegment, Variable};
use crate::schema::MessageId;

/// A way to call a method by HTTP.
#[derive(Debug)]
pub struct HttpRoute {
    /// The path of the method in gRPC, `/package.Service/Method`.
    pub path: Box<str>,
    /// The method of HTTP; `*` for any.
    pub method: Box<str>,
    /// The template as written.
    pub template: Box<str>,
    /// What the method takes.
    pub input: MessageId,
    /// What it answers with.
    pub output: MessageId,
    /// Whether it takes a stream.
    pub is_client_streaming: bool,
    /// Whether it answers with a stream.
    pub is_server_streaming: bool,
    /// What the body of a request is.
    pub body: HttpBodyBinding,
    /// The only field that the body of a response has; its index in the output.
    pub response_body: Option<u16>,
    pub(super) variables: Box<[Bound]>,
    /// Whether the template has a verb.
    pub(super) has_verb: bool,
}

/// A part of a path between slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathPart {
    /// This text.
    Literal(Box<str>),
    /// Any text, of which a field is told: `a.b`, or nothing where none is.
    Any {
        /// The field that it tells, or a part of it.
        field: Option<Box<str>>,
        /// Whether it is all that tells the field.
        is_whole: bool,
        /// Whether it has all up to the end, slashes and all.
        is_rest: bool,
    },
}

/// The template of a path, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathParts {
    /// What stands between slashes.
    pub parts: Vec<PathPart>,
    /// What stands behind the last colon.
    pub verb: Option<Box<str>>,
}

impl HttpRoute {
    /// The template, taken apart.
    pub fn path_parts(&self) -> PathParts {
        // It was read when the route was made.
        let PathTemplate { segments, variables, verb } =
            PathTemplate::parse(&self.template).unwrap_or_default();
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

    /// Names of the fields that the path tells, those within others with dots between.
    pub fn path_fields(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().map(|bound| &*bound.variable.field)
    }
}

/// What the body of a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpBodyBinding {
    /// There is none.
    None,
    /// The message.
    Whole,
    /// The field of the message with this index.
    Field(u16),
}

/// A field that a part of the path tells.
#[derive(Debug)]
pub(super) struct Bound {
    pub(super) variable: Variable,
    /// Indexes of the field and those it is in, outermost first.
    pub(super) fields: Box<[u16]>,
}
