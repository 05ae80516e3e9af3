//! Argument types of host functions.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::time::Duration;

use crate::abi::{Callback, Pairs};
use crate::ids::ContextId;

/// Context and callback in which a module calls a host function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallerScope {
    /// Effective context, which exists; `None` while the module starts, when it may only log.
    pub context: Option<ContextId>,
    /// Callback in progress; `None` while the module starts.
    pub callback: Option<Callback>,
}

/// Whether more of a message follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rest {
    /// More follows.
    More,
    /// End of the message.
    End,
}

impl Rest {
    /// Returns [`End`](Self::End) if the message has ended.
    pub const fn of_end(is_end: bool) -> Self {
        if is_end { Self::End } else { Self::More }
    }

    /// Whether the message has ended.
    pub const fn is_end(self) -> bool {
        matches!(self, Self::End)
    }
}

/// Local reply: a response instead of the one from upstream.
#[derive(Debug, Clone)]
pub struct LocalResponse<'a> {
    /// Status code, as the module wrote it.
    pub status: u32,
    /// Reason, for operators of the proxy.
    pub details: &'a [u8],
    /// Response body.
    pub body: &'a [u8],
    /// Response headers to add.
    pub headers: Pairs<'a>,
    /// gRPC status, for gRPC clients.
    pub grpc_status: Option<u32>,
}

/// HTTP request to another server.
#[derive(Debug, Clone)]
pub struct HttpCall<'a> {
    /// Upstream, by the host's name for it.
    pub upstream: &'a [u8],
    /// Request headers, with `:method`, `:path` and `:authority`.
    pub headers: Pairs<'a>,
    /// Request body.
    pub body: &'a [u8],
    /// Request trailers.
    pub trailers: Pairs<'a>,
    /// Timeout for the response.
    pub timeout: Duration,
}

/// Unary gRPC call.
#[derive(Debug, Clone)]
pub struct GrpcCall<'a> {
    /// Target of the call.
    pub stream: GrpcStream<'a>,
    /// Request message.
    pub message: &'a [u8],
    /// Timeout for the response.
    pub timeout: Duration,
}

/// Streaming gRPC call.
#[derive(Debug, Clone)]
pub struct GrpcStream<'a> {
    /// Upstream, by the host's name for it or as a serialized description of one.
    pub upstream: &'a [u8],
    /// Service name.
    pub service: &'a [u8],
    /// Method name.
    pub method: &'a [u8],
    /// Initial metadata.
    pub initial_metadata: Pairs<'a>,
}

/// Final status of a call made by the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallStatus<'a> {
    /// HTTP or gRPC status code.
    pub code: u32,
    /// Status message.
    pub message: Cow<'a, [u8]>,
}

/// Value shared between modules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedValue<'a> {
    /// Value.
    pub value: Cow<'a, [u8]>,
    /// Compare-and-swap number with which this value can be replaced.
    pub cas: NonZeroU32,
}

/// Path of a property: segments separated by zero bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PropertyPath<'a>(pub &'a [u8]);

impl<'a> PropertyPath<'a> {
    /// Returns the segments. A trailing zero byte, which some SDKs write, adds none.
    pub fn segments(self) -> impl Iterator<Item = &'a [u8]> {
        let path = self.0.strip_suffix(&[0]).unwrap_or(self.0);
        path.split(|byte| *byte == 0)
    }
}
