//! Attempts to have a request answered: an endpoint, a link to it, the request head, and what follows a failure.

mod begin;
mod choose;
mod connect;
mod endpoint;
mod failover;
mod outcome;
mod request;
mod retry;
mod state;

pub(super) use begin::write_head;
pub(super) use choose::choose;
pub(super) use connect::{link, race};
pub(super) use endpoint::{attempt_deadline, lease};
pub(super) use failover::next as next_cluster;
pub(super) use outcome::{AttemptEnd, AttemptFailure};
pub(super) use request::write_request;
pub(super) use retry::{
    again, claim_another, fail_over_or_reply, is_failure_status, is_retried, note_failure, retry_or_fail,
    take_retry,
};
pub(super) use state::{Attempt, AttemptTrigger, ChosenEndpoint, PooledAttempt};
