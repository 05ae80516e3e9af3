//! Filters of an exchange: when they are called and how their results are applied.
//!
//! Each direction has a [`state::DirectionState`]: head, body pieces and trailers pass through the chain in turn. A
//! filter can hold up a direction, by a pause until it has finished elsewhere or to buffer the whole body.

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
