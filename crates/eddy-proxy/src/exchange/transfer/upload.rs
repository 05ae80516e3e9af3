//! Transfer of the request to the endpoint: through filters, copied, or spliced.

use std::task::{Context, Poll};

use eddy_filter::{Direction, Phase};
use eddy_http::Version;
use eddy_io::{BUFFER_BYTES_SMALL, SpliceFault};

use crate::exchange::attempt::AttemptEnd;
use crate::exchange::context::ExchangeCx;
use crate::exchange::filter::{self, FilterProgress};
use crate::exchange::mirror;
use crate::exchange::transfer::run::{ResponseStage, Transfer, TransferStep};
use crate::fault::Fault;
use crate::message::Moved;

impl Transfer<'_, '_> {
    /// Moves the request as far as possible.
    pub(super) fn poll_upload(&mut self, cx: &mut Context<'_>) -> Result<(), AttemptEnd> {
        let is_filtered =
            filter::has(self.ctx, Phase::RequestBody) || filter::has(self.ctx, Phase::RequestTrailers);
        while !self.attempt.is_upload_broken && !self.ctx.exchange.upload.is_finished() {
            if !is_filtered {
                match self.poll_bulk_upload(cx)? {
                    TransferStep::Moved => continue,
                    TransferStep::Waits => return Ok(()),
                    TransferStep::NeedsInput => {}
                }
            }
            // Staged before it is written, so that a head and a small body are sent with one call. The body is not
            // consumed before the stream is open, though, so that it is not lost when the stream cannot be opened.
            if self.opens_stream() {
                // Send the head first.
            } else if is_filtered {
                if self.stage_filtered_upload(cx)? == FilterProgress::Waiting {
                    let Self { ctx, waits, .. } = &mut *self;
                    waits.filter_at = ctx.exchange.filtering.wakes_at(Direction::Request, waits.filter_at);
                    // Output staged before the pause is sent meanwhile.
                    if !ctx.exchange.upload.has_output() {
                        return Ok(());
                    }
                }
            } else {
                self.stage_upload()?;
            }
            let ExchangeCx { down, exchange, worker, .. } = &mut *self.ctx;
            let upload = &mut exchange.upload;
            if upload.has_output() {
                match self.attempt.upstream.poll_request(cx, upload, &mut down.input) {
                    Poll::Ready(Ok(_)) => self.attempt.last_progress_at = worker.timers.now(),
                    // An endpoint may respond early and accept no more; its response decides.
                    Poll::Ready(Err(_)) => self.attempt.is_upload_broken = true,
                    Poll::Pending => {
                        self.waits.upstream_to_take = true;
                        return Ok(());
                    }
                }
                continue;
            }
            if upload.is_finished() {
                break;
            }
            if upload.reader.is_bulk(BUFFER_BYTES_SMALL) {
                down.enlarge(&worker.buffers);
            }
            let is_awaited = self.awaits_continue();
            let ExchangeCx { down, exchange, worker, .. } = &mut *self.ctx;
            match down.poll_body(cx, &worker.buffers, &mut exchange.upload.reader) {
                Poll::Ready(Ok(count)) => {
                    // A client that already sends its body need not be asked for it.
                    exchange.is_continued = true;
                    self.client_guard_in.moved(count as u64, worker.timers.now());
                }
                Poll::Ready(Err(_)) => return Err(Fault::ClientGone.into()),
                Poll::Pending => {
                    down.release(&worker.buffers);
                    match is_awaited {
                        true => self.waits.endpoint_to_continue = true,
                        false => self.waits.client_to_send = true,
                    }
                    return Ok(());
                }
            }
        }
        self.ctx.down.release(&self.ctx.worker.buffers);
        if self.ctx.exchange.mirroring.is_pending() && !self.attempt.is_upload_broken {
            mirror::send(self.ctx);
        }
        Ok(())
    }

    /// Whether the client waits for `100 Continue` and the endpoint is to send it. This holds until the endpoint has
    /// responded or its time is over; after that, eddy asks the client itself.
    ///
    /// # Spec
    /// RFC 9110 §10.1.1
    fn awaits_continue(&mut self) -> bool {
        let ExchangeCx { down, exchange, worker, .. } = &mut *self.ctx;
        if !exchange.head.expects_continue || exchange.is_continued {
            return false;
        }
        let has_time = worker.timers.now() < self.consent_deadline;
        // After the final response no `100` follows.
        if self.stage != ResponseStage::Head || (exchange.forwards_expectation && has_time) {
            return true;
        }
        exchange.is_continued = true;
        if down.input.is_empty() {
            exchange.answer.push_continue();
        }
        false
    }

    /// Splices the available part of a large body to the endpoint; returns [`TransferStep::NeedsInput`] when it has to
    /// be copied.
    fn poll_bulk_upload(&mut self, cx: &mut Context<'_>) -> Result<TransferStep, Fault> {
        let ExchangeCx { down, exchange, worker, .. } = &mut *self.ctx;
        let (Some(client), Some(endpoint)) = (down.plain_stream(), self.attempt.upstream.plain_stream())
        else {
            return Ok(TransferStep::NeedsInput);
        };
        let is_to_be_asked = exchange.head.expects_continue && !exchange.is_continued;
        if !down.input.is_empty() || is_to_be_asked {
            return Ok(TransferStep::NeedsInput);
        }
        if self.turn_left == 0 {
            cx.waker().wake_by_ref();
            return Ok(TransferStep::Waits);
        }
        let before = exchange.upload.data_bytes;
        let moved = self.upload.poll(cx, &mut exchange.upload, client, endpoint, &worker.pipes);
        let now = worker.timers.now();
        if exchange.upload.data_bytes > before {
            self.client_guard_in.moved(exchange.upload.data_bytes - before, now);
        }
        Ok(match moved {
            Ok(Moved::Nothing) => TransferStep::NeedsInput,
            Ok(Moved::Bytes(count)) => {
                self.attempt.last_progress_at = now;
                worker.series.spliced.add(count as u64);
                self.turn_left = self.turn_left.saturating_sub(count);
                TransferStep::Moved
            }
            Ok(Moved::AwaitsSource) => {
                self.waits.client_to_send = true;
                TransferStep::Waits
            }
            Ok(Moved::AwaitsSink) => {
                self.waits.upstream_to_take = true;
                TransferStep::Waits
            }
            // An endpoint may respond early and accept no more; its response decides.
            Err(SpliceFault::Sink(_)) => {
                self.attempt.is_upload_broken = true;
                TransferStep::Moved
            }
            Ok(Moved::SourceEnded) | Err(SpliceFault::Source(_)) => return Err(Fault::ClientGone),
        })
    }

    /// Whether the next step opens an HTTP/2 stream for a request with a body.
    fn opens_stream(&self) -> bool {
        let upload = &self.ctx.exchange.upload;
        upload.has_head() && !upload.reader.is_done() && self.attempt.upstream.version() == Version::Http2
    }

    /// Stages the available part of the request body.
    fn stage_upload(&mut self) -> Result<(), Fault> {
        let body_bytes_max = self.ctx.listener.config.limits.body_bytes_max;
        let ExchangeCx { down, exchange, .. } = &mut *self.ctx;
        exchange.upload.stage(&mut down.input).map_err(Fault::RequestChunk)?;
        if body_bytes_max.is_some_and(|max| exchange.upload.data_bytes > max) {
            return Err(Fault::BodyTooLarge);
        }
        Ok(())
    }

    /// Passes the available part of the request body through the filters.
    fn stage_filtered_upload(&mut self, cx: &Context<'_>) -> Result<FilterProgress, AttemptEnd> {
        let progress = filter::stage_filtered(self.ctx, cx, Direction::Request)?;
        if progress == FilterProgress::Replied {
            return Err(self.replied());
        }
        Ok(progress)
    }
}
