//! Result of an exchange.

use super::crossing::Note;
use super::message::{Request, Response};

/// Result of an exchange.
#[derive(Clone, Debug, Default)]
pub struct ChainOutcome {
    pub(super) sent: Option<Request>,
    pub(super) answered: Option<Response>,
    pub(super) is_local: bool,
    pub(super) details: String,
    pub(super) faults: Vec<String>,
    pub(super) metadata: Vec<Note>,
    pub(super) is_route_cleared: bool,
    pub(super) ends_connection: bool,
    pub(super) endpoint: Option<String>,
    pub(super) grpc_status: Option<u32>,
    pub(super) crossings: usize,
    pub(super) timed_out: usize,
}

impl ChainOutcome {
    /// Returns the request that the endpoint received.
    ///
    /// # Panics
    /// If there is none; check [`Self::was_sent`].
    #[must_use]
    #[track_caller]
    pub fn sent(&self) -> &Request {
        self.sent.as_ref().expect("the request reached the endpoint")
    }

    /// Whether the request reached the endpoint.
    #[must_use]
    pub fn was_sent(&self) -> bool {
        self.sent.is_some()
    }

    /// Returns the response that the client received.
    ///
    /// # Panics
    /// If there is none, because a filter reset the exchange; check [`Self::was_answered`].
    #[must_use]
    #[track_caller]
    pub fn answered(&self) -> &Response {
        self.answered.as_ref().expect("the client received a response")
    }

    /// Whether the client received a response.
    #[must_use]
    pub fn was_answered(&self) -> bool {
        self.answered.is_some()
    }

    /// Whether the response is a local reply.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// Returns the reason given by a reply, a word for the access log entry.
    #[must_use]
    pub fn details(&self) -> &str {
        &self.details
    }

    /// Returns the fault messages of filters.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// Returns metadata set by filters, as JSON.
    #[must_use]
    pub fn metadata(&self, space: &str, key: &str) -> Option<&str> {
        let found = self.metadata.iter().find(|note| note.space == space && note.key == key);
        found.map(|note| note.value.as_str())
    }

    /// Whether a filter requested a new rule lookup.
    #[must_use]
    pub fn is_route_cleared(&self) -> bool {
        self.is_route_cleared
    }

    /// Whether a filter set `Connection: close`: the client's connection is closed after the response.
    #[must_use]
    pub fn ends_connection(&self) -> bool {
        self.ends_connection
    }

    /// Returns the endpoint that a filter selected.
    #[must_use]
    pub fn endpoint(&self) -> Option<&str> {
        self.endpoint.as_deref()
    }

    /// Returns the `grpc-status` of a reply.
    #[must_use]
    pub fn grpc_status(&self) -> Option<u32> {
        self.grpc_status
    }

    /// Returns the number of calls into libraries, including those that report ends.
    #[must_use]
    pub fn crossings(&self) -> usize {
        self.crossings
    }

    /// Returns the number of pauses that were not resumed in time.
    #[must_use]
    pub fn timed_out(&self) -> usize {
        self.timed_out
    }
}
