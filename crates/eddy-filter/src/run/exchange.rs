//! State of an exchange's filters: both messages, and what is known of each step.

use super::call::PhaseCall;
use super::message::MessageRun;
use crate::call::FilterInvocation;
use crate::chain::HttpFilterChain;
use crate::filter::FailurePolicy;
use crate::handle::Direction;
use crate::phase::Phase;

/// Both messages of an exchange in its filter chain, and the state of each step.
#[derive(Debug, Default)]
pub struct FilterRun {
    /// Request.
    pub request: MessageRun,
    /// Response.
    pub response: MessageRun,
    /// Per-exchange state of each filter, by step.
    states: Vec<u64>,
    /// Bit set of failed steps that are skipped.
    skipped: u64,
    /// Bit set of steps that have changed something.
    changed: u64,
    /// Number of steps that the request head has reached.
    reached: u8,
}

/// Consequence of a filter's failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureOutcome {
    /// The filter is left out; the exchange continues.
    FilterSkipped,
    /// The exchange fails.
    Failed,
}

impl FilterRun {
    /// Returns the message of a direction.
    pub fn message(&self, direction: Direction) -> &MessageRun {
        match direction {
            Direction::Request => &self.request,
            Direction::Response => &self.response,
        }
    }

    /// Returns the message of a direction, to change its state.
    pub fn message_mut(&mut self, direction: Direction) -> &mut MessageRun {
        match direction {
            Direction::Request => &mut self.request,
            Direction::Response => &mut self.response,
        }
    }

    /// Fills `steps` and `places` with the filters to enter in a call and their steps: those that have not failed and,
    /// for a response, have seen the request.
    pub fn select(
        &mut self,
        chain: &HttpFilterChain,
        call: &PhaseCall,
        steps: &mut Vec<FilterInvocation>,
        places: &mut Vec<u8>,
    ) {
        steps.clear();
        places.clear();
        let count = chain.steps().len();
        if self.states.len() < count {
            self.states.resize(count, 0);
        }
        for entry in call.entries(chain) {
            let is_seen = !call.phase.is_reversed() || self.has_seen_request(entry.step);
            if self.skipped & bit(entry.step) != 0 || !is_seen {
                continue;
            }
            let state = self.states.get(usize::from(entry.step)).copied().unwrap_or(0);
            steps.push(FilterInvocation { state, ..entry.template });
            places.push(entry.step);
        }
    }

    /// Stores the per-exchange state that a filter has set.
    pub fn keep_state(&mut self, step: u8, state: u64) {
        if let Some(kept) = self.states.get_mut(usize::from(step)) {
            *kept = state;
        }
    }

    /// Records that a step was entered.
    pub fn entered(&mut self, phase: Phase, step: u8) {
        if phase == Phase::RequestHead {
            self.reached = step + 1;
        }
    }

    /// Records that a step has changed something.
    pub fn changed(&mut self, step: u8) {
        self.changed |= bit(step);
    }

    /// Records that a step has failed. It is not entered again in this exchange, not even for the reply that reports its
    /// failure.
    pub fn fail(&mut self, step: u8, policy: FailurePolicy) -> FailureOutcome {
        let is_unchanged = self.changed & bit(step) == 0;
        self.skipped |= bit(step);
        if policy == FailurePolicy::Open && is_unchanged {
            FailureOutcome::FilterSkipped
        } else {
            FailureOutcome::Failed
        }
    }

    /// Whether the request head has reached a step.
    pub fn has_seen_request(&self, step: u8) -> bool {
        self.request.has_head_passed() || step < self.reached
    }

    /// Returns the per-exchange state of each filter, by step.
    pub fn states_mut(&mut self) -> &mut [u64] {
        &mut self.states
    }

    /// Resets the state, keeping small buffers. The filters' own states must have been released before.
    pub fn clear(&mut self) {
        self.request.clear();
        self.response.clear();
        self.states.clear();
        self.skipped = 0;
        self.changed = 0;
        self.reached = 0;
    }
}

fn bit(step: u8) -> u64 {
    1_u64 << (step & 63)
}
