//! Filters in an exchange: when they are entered, what becomes of what they say.
//!
//! Each direction is a [`Way`]: the head, then the body piece by piece, then the trailers, each taken through the
//! chain. A filter can hold the way up: by a pause, until it is done elsewhere, or to collect the whole body.

mod apply;
mod chain;
mod direction;
mod enter;
mod finish;
mod local;
mod request;
mod response;
mod state;
mod wait;

pub use chain::BadChain;
pub(crate) use chain::{FilterChain, FilterChains, build_chains};
pub(crate) use direction::{FilterProgress, write_whole};
pub(crate) use enter::{FailureKind, WorkerFilterState, flush_ended};
pub(crate) use finish::{finish, log};
pub(crate) use local::{answer, local, sees_answers};
pub(crate) use request::{begin, framing as request_framing, has, request, stage_request};
pub(crate) use response::{begin_response, framing as response_framing, has_response_body, stage_response};
pub(crate) use state::Filtering;
