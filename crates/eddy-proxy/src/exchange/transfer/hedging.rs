//! Hedged attempts in progress: which one responds first, and which one continues when another fails.

use std::mem::swap;
use std::task::{Context, Poll};

use crate::exchange::attempt::{
    AttemptEnd, AttemptFailure, AttemptTrigger, PooledAttempt, is_retried, next_cluster, note_failure,
    write_head,
};
use crate::exchange::hedge::{self, HedgedAttempt};
use crate::exchange::transfer::run::{ResponseStage, Transfer};
use crate::fault::Fault;

impl Transfer<'_, '_> {
    /// Polls the hedged attempts until one of them has a response; returns true when another attempt has become
    /// current.
    ///
    /// # Errors
    /// The reason why the request cannot be sent on any attempt.
    pub(super) fn poll_hedging(&mut self, cx: &mut Context<'_>) -> Result<bool, Fault> {
        let exchange = &*self.ctx.exchange;
        let is_heard = self.stage != ResponseStage::Head || !exchange.response_input.is_empty();
        if exchange.hedge.is_none() || is_heard {
            return Ok(false);
        }
        if exchange.upload.is_end_staged() {
            hedge::begin_due(self.ctx);
        }
        while let Poll::Ready((chosen, link)) = hedge::poll_connecting(self.ctx, cx) {
            let now = self.ctx.worker.timers.now();
            match link {
                Err(fault) => note_failure(&chosen.guard, fault, now),
                Ok(upstream) => {
                    let attempt = PooledAttempt::new(chosen.linked(upstream, now));
                    let mut linked = HedgedAttempt::new(attempt);
                    self.swap_attempts(&mut linked);
                    self.ctx.exchange.hedge_mut().other_attempts.push(linked);
                    write_head(self.ctx, &self.attempt.upstream)?;
                    return Ok(true);
                }
            }
        }
        Ok(self.poll_other_attempts(cx))
    }

    /// Polls the attempts that wait for a response; returns true when one of them has responded and become current.
    fn poll_other_attempts(&mut self, cx: &mut Context<'_>) -> bool {
        let first_byte = self.patience.first_byte;
        let worker = self.ctx.worker;
        let now = worker.timers.now();
        let mut index = 0;
        while let Some(hedge) = &mut self.ctx.exchange.hedge
            && let Some(rival) = hedge.other_attempts.get_mut(index)
        {
            match rival.poll_first_byte(cx, &worker.buffers, now, first_byte) {
                Poll::Ready(Ok(())) => {
                    let mut rival = hedge.other_attempts.swap_remove(index);
                    self.swap_attempts(&mut rival);
                    // At the place that it had, so that the order of the others stays.
                    let other_attempts = &mut self.ctx.exchange.hedge_mut().other_attempts;
                    other_attempts.push(rival);
                    let last = other_attempts.len() - 1;
                    other_attempts.swap(index, last);
                    return true;
                }
                Poll::Ready(Err(fault)) => {
                    let rival = hedge.other_attempts.swap_remove(index);
                    rival.attempt.give_up(fault);
                    note_failure(&rival.attempt.guard, fault, now);
                }
                Poll::Pending => {
                    worker.buffers.release_empty(&mut rival.input);
                    index += 1;
                }
            }
        }
        false
    }

    /// Makes another attempt the current one, with its messages; `other` is then the attempt that was current.
    fn swap_attempts(&mut self, other: &mut HedgedAttempt) {
        let exchange = &mut *self.ctx.exchange;
        let HedgedAttempt { attempt, upload, input } = other;
        swap(attempt, &mut self.attempt);
        swap(upload, &mut exchange.upload);
        swap(input, &mut exchange.response_input);
        exchange.note_endpoint(&self.attempt);
    }

    /// Whether another attempt takes over from the current one, which has ended like this.
    pub(super) fn fall_back(&mut self, end: AttemptEnd) -> bool {
        let fault = match end {
            AttemptEnd::Failed(fault) if fault.ends_attempt_only() => Some(fault),
            AttemptEnd::Deferred => None,
            AttemptEnd::Failed(_)
            | AttemptEnd::Repeated
            | AttemptEnd::ErrorPage(_)
            | AttemptEnd::FilterReply => return false,
        };
        let rival = self.ctx.exchange.hedge.as_mut().and_then(|hedge| hedge.other_attempts.pop());
        let Some(mut rival) = rival else { return false };
        self.swap_attempts(&mut rival);
        let HedgedAttempt { attempt: ended, input, .. } = rival;
        if let Some(fault) = fault {
            ended.give_up(fault);
            note_failure(&ended.guard, fault, self.ctx.worker.timers.now());
        }
        self.ctx.worker.buffers.put(input);
        true
    }

    /// Whether a response that would be retried is discarded, as another attempt may bring a better one.
    pub(super) fn defers(&self, failure: AttemptFailure) -> bool {
        let has_other_attempts =
            self.ctx.exchange.hedge.as_ref().is_some_and(|hedge| hedge.has_other_attempts());
        has_other_attempts && (is_retried(self.ctx, failure) || next_cluster(self.ctx, failure).is_some())
    }

    /// Ends the hedging: the current attempt has been answered and the others are dropped. Their endpoints are not
    /// blamed.
    pub(super) fn end_hedging(&mut self) {
        if self.ctx.exchange.hedge.take().is_some() && self.attempt.trigger == AttemptTrigger::Delay {
            self.attempt.guard.cluster.series.hedges_won.increment();
        }
    }
}
