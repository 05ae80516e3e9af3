//! A way to call a method, ready to be used.

use super::template::Variable;
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
    pub body: Body,
    /// The only field that the body of a response has; its index in the output.
    pub response_body: Option<u16>,
    pub(super) variables: Box<[Bound]>,
    /// Whether the template has a verb.
    pub(super) has_verb: bool,
}

/// What the body of a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
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
