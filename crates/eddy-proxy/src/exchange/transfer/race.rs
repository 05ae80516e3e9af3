//! Hedged attempts in progress: which one responds first, and which one continues when another fails.

use std::mem::swap;
use std::task::{Context, Poll};

use crate::exchange::attempt::{is_reason, note_failure, note_failure_at, write_head};
use crate::exchange::failover;
use crate::exchange::hedge::{self, AttemptLinkOutcome, AttemptTrigger};
use crate::exchange::transfer::run::{ResponseStage, Transfer};
use crate::fault::Fault;
use crate::link::UpstreamChannel;
use crate::worker::millis;

impl Transfer<'_, '_> {
    /// Polls the hedged attempts until one of them has a response; returns true when another attempt has become
    /// current.
    ///
    /// # Errors
    /// The reason why the request cannot be sent on any attempt.
    pub(super) fn poll_race(&mut self, cx: &mut Context<'_>) -> Result<bool, Fault> {
        let exchange = &*self.ctx.exchange;
        let is_heard = self.stage != ResponseStage::Head || !exchange.response_input.is_empty();
        if exchange.hedge.is_none() || is_heard {
            return Ok(false);
        }
        if exchange.upload.is_ending() {
            hedge::begin_due(self.ctx);
        }
        while let Poll::Ready(came) = hedge::poll_coming(self.ctx, cx) {
            match came {
                AttemptLinkOutcome::Failed(guard, fault) => {
                    note_failure_at(&guard, fault, self.ctx.worker.timers.now_ms());
                }
                AttemptLinkOutcome::Linked(rival) => {
                    if let Some(hedge) = &mut self.ctx.exchange.hedge {
                        hedge.rivals.push(*rival);
                        let last = hedge.rivals.len() - 1;
                        self.activate(last);
                        write_head(self.ctx)?;
                        return Ok(true);
                    }
                }
            }
        }
        Ok(self.poll_rivals(cx))
    }

    /// Polls the attempts that wait for a response; returns true when one of them has responded and become current.
    fn poll_rivals(&mut self, cx: &mut Context<'_>) -> bool {
        let first_byte_timeout_ms = millis(self.cluster.first_byte_timeout);
        let worker = self.ctx.worker;
        let now_ms = worker.timers.now_ms();
        let mut index = 0;
        while let Some(hedge) = &mut self.ctx.exchange.hedge
            && let Some(rival) = hedge.rivals.get_mut(index)
        {
            match rival.poll_first_byte(cx, &worker.buffers, now_ms, first_byte_timeout_ms) {
                Poll::Ready(Ok(())) => {
                    self.activate(index);
                    return true;
                }
                Poll::Ready(Err(fault)) => {
                    let rival = hedge.rivals.swap_remove(index);
                    give_up(&rival.upstream, fault, rival.moved_ms);
                    note_failure_at(&rival.guard, fault, now_ms);
                }
                Poll::Pending => {
                    if rival.input.is_empty() && rival.input.capacity() > 0 {
                        worker.buffers.put(std::mem::take(&mut rival.input));
                    }
                    index += 1;
                }
            }
        }
        false
    }

    /// Makes one of the waiting attempts the current one, and the current one a waiting one.
    fn activate(&mut self, index: usize) {
        let exchange = &mut *self.ctx.exchange;
        let Some(hedge) = &mut exchange.hedge else { return };
        let (Some(rival), Some(guard)) = (hedge.rivals.get_mut(index), &mut exchange.guard) else { return };
        swap(&mut rival.upstream, &mut self.upstream);
        swap(&mut rival.moved_ms, &mut self.upstream_moved_ms);
        swap(&mut rival.begun, &mut self.begun);
        swap(&mut rival.is_upload_broken, &mut self.is_upload_broken);
        swap(&mut rival.guard, guard);
        swap(&mut rival.upload, &mut exchange.upload);
        swap(&mut rival.input, &mut exchange.response_input);
        swap(&mut rival.scanner, &mut exchange.response_scanner);
        swap(&mut rival.due_ms, &mut exchange.attempt_due_ms);
        swap(&mut rival.source, &mut hedge.source);
        exchange.endpoint = Some(guard.address.clone());
        exchange.endpoint_version = Some(self.upstream.version());
    }

    /// Whether another attempt takes over from the current one, which has failed.
    pub(super) fn fall_back(&mut self, fault: Fault) -> bool {
        let Some(hedge) = &self.ctx.exchange.hedge else { return false };
        let Some(last) = hedge.rivals.len().checked_sub(1) else { return false };
        if !fault.is_of_attempt() {
            return false;
        }
        give_up(&self.upstream, fault, self.upstream_moved_ms);
        note_failure(self.ctx, fault);
        self.activate(last);
        if let Some(failed) = self.ctx.exchange.hedge.as_mut().and_then(|hedge| hedge.rivals.pop())
            && failed.input.capacity() > 0
        {
            self.ctx.worker.buffers.put(failed.input);
        }
        true
    }

    /// Whether a response that would be retried is discarded, as another attempt may bring a better one.
    pub(super) fn defers(&self, reason: Fault) -> bool {
        let has_others = self.ctx.exchange.hedge.as_ref().is_some_and(|hedge| hedge.has_others());
        has_others && (is_reason(self.ctx, reason) || failover::next(self.ctx, reason).is_some())
    }

    /// Ends the hedging: the current attempt has been answered and the others are dropped. Their endpoints are not
    /// blamed.
    pub(super) fn end_race(&mut self) {
        let exchange = &mut *self.ctx.exchange;
        if let (Some(hedge), Some(guard)) = (exchange.hedge.take(), &exchange.guard)
            && hedge.source == AttemptTrigger::Delay
        {
            guard.cluster().series.hedges_won.increment();
        }
    }
}

/// Records the end of an attempt that got no response.
pub(super) fn give_up(upstream: &UpstreamChannel, fault: Fault, moved_ms: u64) {
    if matches!(fault, Fault::FirstByteTimeout | Fault::UpstreamIdle) {
        upstream.distrust(moved_ms);
    }
}
