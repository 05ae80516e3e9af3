//! Filters of an exchange: when they are called and how their results are applied.
//!
//! [`eddy_filter::FilterRun`] decides what comes next: head, body pieces and trailers pass through the chain in turn, and
//! a filter can hold up a direction, by a pause until it has finished elsewhere or to buffer the whole body.
//! [`direction::advance`] carries that out: it enters filters, reads and stages.

mod apply;
mod begin;
mod direction;
mod enter;
mod failure;
mod finish;
mod local;
mod request;
mod response;
mod state;
mod step;
mod wait;

pub(crate) use begin::begin;
pub(crate) use direction::{FilterProgress, stage_whole};
pub(crate) use enter::flush_ended;
pub(crate) use finish::{finish, log};
pub(crate) use local::{answer, local, sees_answers};
pub(crate) use request::{framing as request_framing, has, request, stage_request};
pub(crate) use response::{begin_response, framing as response_framing, has_response_body, stage_response};
pub(crate) use state::Filtering;
