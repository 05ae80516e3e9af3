//! Filters of an exchange: when they are called and how their results are applied.
//!
//! [`eddy_filter::FilterRun`] decides what comes next: head, body pieces and trailers pass through the chain in turn, and
//! a filter can hold up a direction, by a pause until it has finished elsewhere or to buffer the whole body.
//! [`direction::advance`] carries that out: it enters filters, reads and stages.

mod apply;
mod direction;
mod enter;
mod finish;
mod local;
mod request;
mod response;
mod state;
mod step;
mod wait;

pub(crate) use direction::{FilterProgress, stage_buffered_body, stage_filtered};
pub(crate) use enter::flush_ended;
pub(crate) use finish::{finish, log};
pub(crate) use local::{answer, is_streaming, local, sees_local_replies, stream};
pub(crate) use request::{framing as request_framing, has, request};
pub(crate) use response::{begin_response, framing as response_framing, has_response_body};
pub(crate) use state::Filtering;
pub(crate) use step::begin;
