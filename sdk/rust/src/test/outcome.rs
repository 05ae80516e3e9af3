//! What came of an exchange.

use super::crossing::Note;
use super::message::{Request, Response};

/// What came of an exchange.
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
    /// The request that the endpoint got.
    ///
    /// # Panics
    /// When there is none; [`Self::was_sent`] tells.
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

    /// The response that the client got.
    ///
    /// # Panics
    /// When there is none, because a filter reset the exchange; [`Self::was_answered`] tells.
    #[must_use]
    #[track_caller]
    pub fn answered(&self) -> &Response {
        self.answered.as_ref().expect("the client got an answer")
    }

    /// Whether the client got a response.
    #[must_use]
    pub fn was_answered(&self) -> bool {
        self.answered.is_some()
    }

    /// Whether the response is not the endpoint's.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// The word for the access record that a reply gave.
    #[must_use]
    pub fn details(&self) -> &str {
        &self.details
    }

    /// What filters failed with.
    #[must_use]
    pub fn faults(&self) -> &[String] {
        &self.faults
    }

    /// The metadata that filters left, as JSON.
    #[must_use]
    pub fn metadata(&self, space: &str, key: &str) -> Option<&str> {
        let found = self.metadata.iter().find(|note| note.space == space && note.key == key);
        found.map(|note| note.value.as_str())
    }

    /// Whether a filter had the rule looked up again.
    #[must_use]
    pub fn is_route_cleared(&self) -> bool {
        self.is_route_cleared
    }

    /// Whether a filter set `Connection: close`: the client's connection ends behind the answer.
    #[must_use]
    pub fn ends_connection(&self) -> bool {
        self.ends_connection
    }

    /// The endpoint that a filter chose.
    #[must_use]
    pub fn endpoint(&self) -> Option<&str> {
        self.endpoint.as_deref()
    }

    /// The `grpc-status` that a reply gave.
    #[must_use]
    pub fn grpc_status(&self) -> Option<u32> {
        self.grpc_status
    }

    /// How often a library was entered, to be told of ends included.
    #[must_use]
    pub fn crossings(&self) -> usize {
        self.crossings
    }

    /// How many pauses nobody ended in time.
    #[must_use]
    pub fn timed_out(&self) -> usize {
        self.timed_out
    }
}
