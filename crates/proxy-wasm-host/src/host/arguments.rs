//! What modules say with their calls.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::time::Duration;

use crate::abi::{Callback, Pairs};
use crate::ids::ContextId;

/// On whose behalf a module calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallerScope {
    /// The effective context; it is alive. None while the module starts, when it may do no more than log.
    pub context: Option<ContextId>,
    /// The callback under way; none while the module starts.
    pub callback: Option<Callback>,
}

/// Whether more is to come of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rest {
    /// More is to come.
    More,
    /// This was the last of it.
    End,
}

impl Rest {
    /// From whether this was the last.
    pub const fn of_end(is_end: bool) -> Self {
        if is_end { Self::End } else { Self::More }
    }

    /// Whether this was the last.
    pub const fn is_end(self) -> bool {
        matches!(self, Self::End)
    }
}

/// An answer instead of the one from upstream.
#[derive(Debug, Clone)]
pub struct LocalResponse<'a> {
    /// The status, as the module wrote it.
    pub status: u32,
    /// Why, for those who operate the proxy.
    pub details: &'a [u8],
    /// The body.
    pub body: &'a [u8],
    /// Fields to add.
    pub headers: Pairs<'a>,
    /// The status for clients that speak gRPC.
    pub grpc_status: Option<u32>,
}

/// A request to another server.
#[derive(Debug, Clone)]
pub struct HttpCall<'a> {
    /// The server, by the host's name for it.
    pub upstream: &'a [u8],
    /// The fields, `:method`, `:path` and `:authority` among them.
    pub headers: Pairs<'a>,
    /// The body.
    pub body: &'a [u8],
    /// The trailers.
    pub trailers: Pairs<'a>,
    /// How long to wait for the response.
    pub timeout: Duration,
}

/// A call with one message and one answer.
#[derive(Debug, Clone)]
pub struct GrpcCall<'a> {
    /// Whom to call.
    pub stream: GrpcStream<'a>,
    /// The message.
    pub message: &'a [u8],
    /// How long to wait for the answer.
    pub timeout: Duration,
}

/// A call with any number of messages both ways.
#[derive(Debug, Clone)]
pub struct GrpcStream<'a> {
    /// The server, by the host's name for it or as a serialized description of one.
    pub upstream: &'a [u8],
    /// The service.
    pub service: &'a [u8],
    /// The method.
    pub method: &'a [u8],
    /// Metadata to send first.
    pub initial_metadata: Pairs<'a>,
}

/// How a call of the module's ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallStatus<'a> {
    /// The status of HTTP or gRPC.
    pub code: u32,
    /// The message that came with it.
    pub message: Cow<'a, [u8]>,
}

/// A value that modules share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedValue<'a> {
    /// The value.
    pub value: Cow<'a, [u8]>,
    /// What to say to replace this very value.
    pub cas: NonZeroU32,
}

/// The path of a property: segments with zero bytes in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PropertyPath<'a>(pub &'a [u8]);

impl<'a> PropertyPath<'a> {
    /// Its segments. A zero byte at the end, which some kits write, adds none.
    pub fn segments(self) -> impl Iterator<Item = &'a [u8]> {
        let path = self.0.strip_suffix(&[0]).unwrap_or(self.0);
        path.split(|byte| *byte == 0)
    }
}
