//! Transfer of the response to the client: the head is judged, then the body follows.

use std::task::{Context, Poll};

use eddy_filter::Direction;
use eddy_http::HeadFault;
use eddy_io::{Fill, SpliceFault, peer_alert};
use eddy_upstream::client::{INTERIM_MAX, RequestChannel};

use crate::exchange::answer::{self, ResponseHeadProgress};
use crate::exchange::attempt::{AttemptEnd, claim_another};
use crate::exchange::context::ExchangeCx;
use crate::exchange::filter::{self, FilterProgress};
use crate::exchange::grpc::{self, Judged};
use crate::exchange::site;
use crate::exchange::state::HeadSource;
use crate::exchange::transfer::run::{ResponseStage, Transfer, TransferStep};
use crate::fault::Fault;
use crate::message::Moved;
use crate::stats::count_status;

impl Transfer<'_, '_> {
    /// Moves the response as far as possible; returns whether it is complete.
    pub(super) fn poll_download(&mut self, cx: &mut Context<'_>) -> Result<bool, AttemptEnd> {
        loop {
            let ExchangeCx { down, exchange, worker, .. } = &mut *self.ctx;
            if exchange.answer.has_output() {
                match down.poll_write_response(cx, &mut exchange.answer, &mut exchange.response_input) {
                    Poll::Ready(Ok(count)) => {
                        exchange.is_answered |= self.stage.is_body();
                        self.client_guard_out.moved(count as u64, worker.timers.now());
                    }
                    Poll::Ready(Err(_)) => return Err(Fault::ClientGone.into()),
                    Poll::Pending => {
                        self.waits.client_to_take = true;
                        return Ok(false);
                    }
                }
                continue;
            }
            if self.stage.is_body() && exchange.answer.is_finished() {
                return Ok(true);
            }
            match self.poll_bulk_download(cx)? {
                TransferStep::Moved => continue,
                TransferStep::Waits => return Ok(false),
                TransferStep::NeedsInput => {}
            }
            match self.advance(cx)? {
                TransferStep::Moved => continue,
                // Output staged before the pause is sent meanwhile.
                TransferStep::Waits if self.ctx.exchange.answer.has_output() => continue,
                TransferStep::Waits => return Ok(false),
                TransferStep::NeedsInput => {}
            }
            if !self.poll_response(cx)? {
                return Ok(false);
            }
        }
    }

    /// Splices the available part of a large body to the client; returns [`TransferStep::NeedsInput`] when it has to be
    /// copied.
    fn poll_bulk_download(&mut self, cx: &mut Context<'_>) -> Result<TransferStep, Fault> {
        let ExchangeCx { down, exchange, worker, .. } = &mut *self.ctx;
        let is_open = self.stage == ResponseStage::Body && exchange.response_input.is_empty();
        let (Some(client), Some(endpoint), true) =
            (down.plain_stream(), self.attempt.upstream.plain_stream(), is_open)
        else {
            return Ok(TransferStep::NeedsInput);
        };
        if self.turn_left == 0 {
            cx.waker().wake_by_ref();
            return Ok(TransferStep::Waits);
        }
        let before = exchange.answer.data_bytes;
        let moved = self.download.poll(cx, &mut exchange.answer, endpoint, client, &worker.pipes);
        let now = worker.timers.now();
        if exchange.answer.data_bytes > before {
            self.attempt.last_progress_at = now;
        }
        Ok(match moved {
            Ok(Moved::Nothing) => TransferStep::NeedsInput,
            Ok(Moved::Bytes(count)) => {
                exchange.is_answered = true;
                self.client_guard_out.moved(count as u64, now);
                worker.series.spliced.add(count as u64);
                self.turn_left = self.turn_left.saturating_sub(count);
                TransferStep::Moved
            }
            Ok(Moved::AwaitsSource) => {
                worker.buffers.release(&mut exchange.response_input);
                self.waits.upstream_to_send = true;
                TransferStep::Waits
            }
            Ok(Moved::AwaitsSink) => {
                self.waits.client_to_take = true;
                TransferStep::Waits
            }
            Ok(Moved::SourceEnded) | Err(SpliceFault::Source(_)) => return Err(self.broken_link()),
            Err(SpliceFault::Sink(_)) => return Err(Fault::ClientGone),
        })
    }

    /// Turns bytes that were read from the endpoint into output.
    fn advance(&mut self, cx: &Context<'_>) -> Result<TransferStep, AttemptEnd> {
        match self.stage {
            ResponseStage::Head => match answer::read(self.ctx, &mut self.attempt)? {
                ResponseHeadProgress::Incomplete => Ok(TransferStep::NeedsInput),
                ResponseHeadProgress::Interim => {
                    self.end_hedging();
                    self.interims += 1;
                    if self.interims > INTERIM_MAX {
                        return Err(Fault::InterimFlood.into());
                    }
                    Ok(TransferStep::Moved)
                }
                ResponseHeadProgress::Final => {
                    self.check_switch()?;
                    self.note_answer()?;
                    if filter::begin_response(self.ctx) {
                        self.stage = ResponseStage::Filter;
                        return Ok(TransferStep::Moved);
                    }
                    self.begin_body(HeadSource::Endpoint)?;
                    self.stage_body(cx)
                }
            },
            ResponseStage::Filter => match filter::stage_filtered(self.ctx, cx, Direction::Response)? {
                FilterProgress::Head | FilterProgress::Whole | FilterProgress::Output => {
                    self.begin_body(HeadSource::Filters)?;
                    self.stage_body(cx)
                }
                FilterProgress::NeedInput => Ok(TransferStep::NeedsInput),
                FilterProgress::Waiting => Ok(self.wait_for_filter()),
                FilterProgress::Replied => Err(self.replied()),
            },
            ResponseStage::Body | ResponseStage::FilteredBody => self.stage_body(cx),
        }
    }

    /// Rejects a switch of protocols by an endpoint that has not received the whole request.
    fn check_switch(&self) -> Result<(), Fault> {
        let exchange = &*self.ctx.exchange;
        let is_taken = exchange.upload.is_finished() && !self.attempt.is_upload_broken;
        if exchange.upgrade.is_done() && !is_taken {
            return Err(Fault::ResponseHead(HeadFault::BadSwitch));
        }
        Ok(())
    }

    fn stage_body(&mut self, cx: &Context<'_>) -> Result<TransferStep, AttemptEnd> {
        if self.stage == ResponseStage::FilteredBody && !self.ctx.exchange.answer.is_end_staged() {
            match filter::stage_filtered(self.ctx, cx, Direction::Response)? {
                FilterProgress::Waiting => return Ok(self.wait_for_filter()),
                FilterProgress::Replied => return Err(self.replied()),
                FilterProgress::Head
                | FilterProgress::Whole
                | FilterProgress::Output
                | FilterProgress::NeedInput => {}
            }
        } else if self.stage == ResponseStage::Body {
            let exchange = &mut *self.ctx.exchange;
            exchange.answer.stage(&mut exchange.response_input).map_err(Fault::ResponseChunk)?;
        }
        // A tunnel counts until its end.
        if self.ctx.exchange.answer.reader.is_done() && !self.ctx.exchange.upgrade.is_done() {
            // A client that has the whole response may send its next request to another worker at once, so the permits
            // are free before that.
            self.ctx.exchange.retry_permit = None;
            self.attempt.guard.free_limit();
        }
        let answer = &self.ctx.exchange.answer;
        Ok(if answer.has_output() || answer.is_finished() {
            TransferStep::Moved
        } else {
            TransferStep::NeedsInput
        })
    }

    fn wait_for_filter(&mut self) -> TransferStep {
        self.waits.filter_at =
            self.ctx.exchange.filtering.wakes_at(Direction::Response, self.waits.filter_at);
        TransferStep::Waits
    }

    /// Reads more from the endpoint; returns `false` when there is nothing yet.
    fn poll_response(&mut self, cx: &mut Context<'_>) -> Result<bool, Fault> {
        let ExchangeCx { exchange, worker, .. } = &mut *self.ctx;
        let input = &mut exchange.response_input;
        match self.attempt.upstream.poll_fill(cx, input, &worker.buffers) {
            Poll::Ready(Ok(Fill::Bytes(_))) => {
                self.attempt.last_progress_at = worker.timers.now();
                Ok(true)
            }
            Poll::Ready(Ok(Fill::End)) => self.end_of_response().map(|()| true),
            Poll::Ready(Err(error)) => {
                let fault = self.broken_link();
                let alert = peer_alert(&error).filter(|_| fault == Fault::LinkClosed);
                let now = self.ctx.worker.timers.now();
                Err(alert.map_or(fault, |alert| self.attempt.guard.fault_of_alert(alert, now)))
            }
            Poll::Pending => {
                worker.buffers.release_empty(input);
                self.waits.upstream_to_send = true;
                Ok(false)
            }
        }
    }

    fn end_of_response(&mut self) -> Result<(), Fault> {
        let body = &mut self.ctx.exchange.answer.reader;
        let may_end = self.stage != ResponseStage::Head && self.attempt.upstream.end_body(body);
        if may_end { Ok(()) } else { Err(self.broken_link()) }
    }

    /// Returns the fault of a link that ended here.
    fn broken_link(&self) -> Fault {
        let has_begun = self.stage != ResponseStage::Head || !self.ctx.exchange.response_input.is_empty();
        if has_begun || self.interims > 0 { Fault::ResponseCut } else { self.attempt.upstream.broken() }
    }

    /// Processes the head of the final response: updates the counters and decides whether the rule retries or fails
    /// over.
    fn note_answer(&mut self) -> Result<(), AttemptEnd> {
        let ctx = &mut *self.ctx;
        let status = ctx.exchange.response.status;
        let Judged { is_failure, failure } = grpc::judge(ctx);
        let now = ctx.worker.timers.now();
        let guard = &self.attempt.guard;
        let series = &guard.cluster.series;
        let waited = self.attempt.begun.elapsed().as_micros();
        series.first_byte.observe(u64::try_from(waited).unwrap_or(u64::MAX));
        count_status(&series.responses, status);
        if is_failure {
            guard.failed(now);
        } else {
            guard.succeeded(now);
        }
        if self.defers(failure) {
            return Err(AttemptEnd::Deferred);
        }
        if claim_another(self.ctx, failure) {
            return Err(AttemptEnd::Repeated);
        }
        self.end_hedging();
        grpc::drop_kept_request(self.ctx.exchange);
        if site::intercepts(self.ctx, status) {
            return Err(AttemptEnd::ErrorPage(status));
        }
        Ok(())
    }

    /// Writes the head for the client; the body follows.
    fn begin_body(&mut self, source: HeadSource) -> Result<(), Fault> {
        let is_uploaded = self.ctx.exchange.upload.is_finished() && !self.attempt.is_upload_broken;
        answer::write(self.ctx, source, is_uploaded)?;
        let is_body_filtered = source == HeadSource::Filters && filter::has_response_body(self.ctx);
        self.stage = if is_body_filtered { ResponseStage::FilteredBody } else { ResponseStage::Body };
        Ok(())
    }
}
