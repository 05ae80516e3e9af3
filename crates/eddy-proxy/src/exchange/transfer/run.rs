//! Moves the request to the endpoint and the response to the client, both at once.
//!
//! Back-pressure needs no code of its own: each direction has one buffer, and reads only when it is empty.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use eddy_filter::Phase;
use eddy_http::{HeadFault, Version};
use eddy_io::{BUFFER_BYTES_SMALL, Fill, SpliceFault, is_alert};
use eddy_upstream::ClusterConfig;

use crate::exchange::answer::{self, Answer};
use crate::exchange::attempt::{claim_retry, fail};
use crate::exchange::bulk::{Bulk, Moved};
use crate::exchange::drive::Drive;
use crate::exchange::due::Due;
use crate::exchange::failover;
use crate::exchange::filter::{self, Progress};
use crate::exchange::grpc::{self, Judged};
use crate::exchange::mirror;
use crate::exchange::phase;
use crate::exchange::site;
use crate::exchange::watch::Watch;
use crate::fault::Fault;
use crate::link::Upstream;
use crate::session::RateGuard;
use crate::stats::count_status;
use crate::worker::millis;

/// Most bytes that are moved inside of the kernel at one turn, so that other exchanges get theirs.
const TURN_BYTES_MAX: usize = 1024 * 1024;
/// Most interim responses (1xx) that are passed on before the final one.
const INTERIM_MAX: u8 = 16;

/// Moves both messages; then gives the link back, tries again or answers the fault.
pub(crate) async fn run(drive: &mut Drive<'_>) -> phase::Phase {
    let Some(upstream) = drive.exchange.upstream.take() else { return fail(drive, Fault::LinkClosed) };
    let Some(stay) = &drive.exchange.stay else { return fail(drive, Fault::NoEndpoint) };
    let cluster = Arc::clone(&stay.cluster().config);
    let timeouts = drive.listener().config.timeouts;
    let now_ms = drive.worker.timers.now_ms();
    let mut transfer = Transfer {
        drive,
        upstream,
        cluster,
        stage: Stage::Head,
        waits: Waits::default(),
        begun: Instant::now(),
        upload: Bulk::default(),
        download: Bulk::default(),
        turn_left: 0,
        is_upload_broken: false,
        is_filtered: false,
        is_body_filtered: false,
        interims: 0,
        client_guard_in: RateGuard::new(timeouts.body_rate_min, timeouts.body_grace),
        client_guard_out: RateGuard::new(timeouts.body_rate_min, timeouts.body_grace),
        upstream_moved_ms: now_ms,
        client: Watch::default(),
    };
    let result = poll_fn(|cx| transfer.poll(cx)).await;
    transfer.end(result)
}

pub(super) struct Transfer<'a, 'd> {
    pub(super) drive: &'a mut Drive<'d>,
    pub(super) upstream: Upstream,
    pub(super) cluster: Arc<ClusterConfig>,
    pub(super) stage: Stage,
    waits: Waits,
    pub(super) begun: Instant,
    /// The bodies, while they go by without being looked at.
    upload: Bulk,
    download: Bulk,
    /// What may still be moved so at this turn, bytes.
    turn_left: usize,
    /// Whether the endpoint takes no more of the request; it may still have answered.
    pub(super) is_upload_broken: bool,
    /// Whether filters are shown the response.
    is_filtered: bool,
    /// Whether they are shown its body, too.
    is_body_filtered: bool,
    interims: u8,
    client_guard_in: RateGuard,
    client_guard_out: RateGuard,
    /// When the endpoint last took or sent something.
    pub(super) upstream_moved_ms: u64,
    client: Watch,
}

/// How far the response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Its head has not been passed on.
    Head,
    /// It is with the filters.
    Filter,
    /// Its body follows.
    Body,
}

/// What turning bytes into output brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// There is something to write, or the end was reached.
    Moved,
    /// More must be read.
    NeedsInput,
    /// A filter has to come back first.
    Waits,
}

/// How far an attempt has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// The response is complete.
    Over,
    /// Somebody has to do something first.
    Waits,
    /// Another attempt is at hand.
    Another,
}

/// Whom the exchange waits for.
#[derive(Clone, Copy, Debug, Default)]
struct Waits {
    client_to_send: bool,
    client_to_take: bool,
    upstream_to_take: bool,
    upstream_to_send: bool,
    /// When a filter that has paused is to be looked after.
    filter_ms: Option<u64>,
}

impl Transfer<'_, '_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        self.turn_left = TURN_BYTES_MAX;
        loop {
            match self.poll_attempt(cx) {
                Ok(Turn::Over) => return Poll::Ready(Ok(())),
                Ok(Turn::Waits) => return Poll::Pending,
                Ok(Turn::Another) => {}
                Err(fault) if self.gives_way(fault) => {}
                Err(fault) => return Poll::Ready(Err(fault)),
            }
        }
    }

    /// Takes the attempt at hand as far as it goes, and those beside it.
    fn poll_attempt(&mut self, cx: &mut Context<'_>) -> Result<Turn, Fault> {
        self.waits = Waits::default();
        self.poll_upload(cx)?;
        if self.poll_download(cx)? {
            return Ok(Turn::Over);
        }
        self.watch_client(cx)?;
        if self.poll_race(cx)? {
            return Ok(Turn::Another);
        }
        self.poll_deadline(cx).map(|()| Turn::Waits)
    }

    /// Moves the request as far as it goes.
    fn poll_upload(&mut self, cx: &mut Context<'_>) -> Result<(), Fault> {
        let is_filtered =
            filter::has(self.drive, Phase::RequestBody) || filter::has(self.drive, Phase::RequestTrailers);
        while !self.is_upload_broken && !self.drive.exchange.upload.is_finished() {
            if !is_filtered {
                match self.poll_bulk_upload(cx)? {
                    Step::Moved => continue,
                    Step::Waits => return Ok(()),
                    Step::NeedsInput => {}
                }
            }
            // Staged before it is written, so that a head and a small body leave in one call. A stream that can't be had is not
            // to cost the body, though.
            if self.is_to_open() {
                // Its head goes first.
            } else if is_filtered {
                if self.stage_filtered_upload(cx)? == Progress::Waiting {
                    let Self { drive, waits, .. } = &mut *self;
                    waits.filter_ms = drive.exchange.filtering.request.wakes_ms(waits.filter_ms);
                    // What is staged before it goes out meanwhile.
                    if !drive.exchange.upload.has_output() {
                        return Ok(());
                    }
                }
            } else {
                self.stage_upload()?;
            }
            let Drive { down, exchange, worker, .. } = &mut *self.drive;
            let upload = &mut exchange.upload;
            if upload.has_output() {
                match self.upstream.poll_request(cx, upload, &mut down.input) {
                    Poll::Ready(Ok(_)) => self.upstream_moved_ms = worker.timers.now_ms(),
                    // An endpoint may answer early and take no more; what it said decides.
                    Poll::Ready(Err(_)) => self.is_upload_broken = true,
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
            if exchange.head.expects_continue && !exchange.is_continued {
                exchange.is_continued = true;
                if down.input.is_empty() {
                    exchange.answer.push_continue();
                }
            }
            match down.poll_body(cx, &worker.buffers, &mut exchange.upload.reader) {
                Poll::Ready(Ok(count)) => {
                    self.client_guard_in.moved(count as u64, worker.timers.now_ms());
                }
                Poll::Ready(Err(_)) => return Err(Fault::ClientGone),
                Poll::Pending => {
                    down.release(&worker.buffers);
                    self.waits.client_to_send = true;
                    return Ok(());
                }
            }
        }
        self.drive.down.release(&self.drive.worker.buffers);
        if self.drive.exchange.mirroring.is_some() && !self.is_upload_broken {
            mirror::send(self.drive);
        }
        Ok(())
    }

    /// Moves what has come of a large body to the endpoint without looking at it; [`Step::NeedsInput`] where it has to be
    /// copied.
    fn poll_bulk_upload(&mut self, cx: &mut Context<'_>) -> Result<Step, Fault> {
        let Drive { down, exchange, worker, .. } = &mut *self.drive;
        let (Some(client), Some(endpoint)) = (down.plain_stream(), self.upstream.plain_stream()) else {
            return Ok(Step::NeedsInput);
        };
        if !down.input.is_empty() {
            return Ok(Step::NeedsInput);
        }
        if self.turn_left == 0 {
            cx.waker().wake_by_ref();
            return Ok(Step::Waits);
        }
        let before = exchange.upload.data_bytes;
        let moved = self.upload.poll(cx, &mut exchange.upload, client, endpoint, &worker.pipes);
        let now_ms = worker.timers.now_ms();
        if exchange.upload.data_bytes > before {
            self.client_guard_in.moved(exchange.upload.data_bytes - before, now_ms);
        }
        Ok(match moved {
            Ok(Moved::Nothing) => Step::NeedsInput,
            Ok(Moved::Bytes(count)) => {
                self.upstream_moved_ms = now_ms;
                worker.series.spliced.add(count as u64);
                self.turn_left = self.turn_left.saturating_sub(count);
                Step::Moved
            }
            Ok(Moved::AwaitsSource) => {
                self.waits.client_to_send = true;
                Step::Waits
            }
            Ok(Moved::AwaitsSink) => {
                self.waits.upstream_to_take = true;
                Step::Waits
            }
            // An endpoint may answer early and take no more; what it said decides.
            Err(SpliceFault::Sink(_)) => {
                self.is_upload_broken = true;
                Step::Moved
            }
            Ok(Moved::Cut) | Err(SpliceFault::Source(_)) => return Err(Fault::ClientGone),
        })
    }

    /// Whether a request with a body is to begin a stream.
    fn is_to_open(&self) -> bool {
        let upload = &self.drive.exchange.upload;
        upload.has_head() && !upload.reader.is_done() && self.upstream.version() == Version::Http2
    }

    /// Stages what has come of the request's body.
    fn stage_upload(&mut self) -> Result<(), Fault> {
        let body_bytes_max = self.drive.listener().config.limits.body_bytes_max;
        let Drive { down, exchange, .. } = &mut *self.drive;
        exchange.upload.stage(&mut down.input).map_err(Fault::RequestChunk)?;
        if body_bytes_max.is_some_and(|max| exchange.upload.data_bytes > max) {
            return Err(Fault::BodyTooLarge);
        }
        Ok(())
    }

    /// Takes what has come of the request's body through the filters.
    fn stage_filtered_upload(&mut self, cx: &Context<'_>) -> Result<Progress, Fault> {
        let progress = filter::stage_request(self.drive, cx)?;
        if progress == Progress::Replied {
            return Err(self.replied());
        }
        Ok(progress)
    }

    /// What it means that a filter answers now.
    fn replied(&mut self) -> Fault {
        // What has begun cannot be taken back.
        if self.drive.exchange.is_answered { Fault::FilterReset } else { Fault::FilterReply }
    }

    /// Moves the response as far as it goes; true when it is complete.
    fn poll_download(&mut self, cx: &mut Context<'_>) -> Result<bool, Fault> {
        loop {
            let Drive { down, exchange, worker, .. } = &mut *self.drive;
            if exchange.answer.has_output() {
                match down.poll_answer(cx, &mut exchange.answer, &mut exchange.response_input) {
                    Poll::Ready(Ok(count)) => {
                        exchange.is_answered |= self.stage == Stage::Body;
                        self.client_guard_out.moved(count as u64, worker.timers.now_ms());
                    }
                    Poll::Ready(Err(_)) => return Err(Fault::ClientGone),
                    Poll::Pending => {
                        self.waits.client_to_take = true;
                        return Ok(false);
                    }
                }
                continue;
            }
            if self.stage == Stage::Body && exchange.answer.is_finished() {
                return Ok(true);
            }
            match self.poll_bulk_download(cx)? {
                Step::Moved => continue,
                Step::Waits => return Ok(false),
                Step::NeedsInput => {}
            }
            match self.advance(cx)? {
                Step::Moved => continue,
                // What is staged before the one that is waited for goes out meanwhile.
                Step::Waits if self.drive.exchange.answer.has_output() => continue,
                Step::Waits => return Ok(false),
                Step::NeedsInput => {}
            }
            if !self.poll_response(cx)? {
                return Ok(false);
            }
        }
    }

    /// Moves what has come of a large body to the client without looking at it; [`Step::NeedsInput`] where it has to be
    /// copied.
    fn poll_bulk_download(&mut self, cx: &mut Context<'_>) -> Result<Step, Fault> {
        let Drive { down, exchange, worker, .. } = &mut *self.drive;
        let is_open =
            self.stage == Stage::Body && !self.is_body_filtered && exchange.response_input.is_empty();
        let (Some(client), Some(endpoint), true) =
            (down.plain_stream(), self.upstream.plain_stream(), is_open)
        else {
            return Ok(Step::NeedsInput);
        };
        if self.turn_left == 0 {
            cx.waker().wake_by_ref();
            return Ok(Step::Waits);
        }
        let before = exchange.answer.data_bytes;
        let moved = self.download.poll(cx, &mut exchange.answer, endpoint, client, &worker.pipes);
        let now_ms = worker.timers.now_ms();
        if exchange.answer.data_bytes > before {
            self.upstream_moved_ms = now_ms;
        }
        Ok(match moved {
            Ok(Moved::Nothing) => Step::NeedsInput,
            Ok(Moved::Bytes(count)) => {
                exchange.is_answered = true;
                self.client_guard_out.moved(count as u64, now_ms);
                worker.series.spliced.add(count as u64);
                self.turn_left = self.turn_left.saturating_sub(count);
                Step::Moved
            }
            Ok(Moved::AwaitsSource) => {
                exchange.release_input(&worker.buffers);
                self.waits.upstream_to_send = true;
                Step::Waits
            }
            Ok(Moved::AwaitsSink) => {
                self.waits.client_to_take = true;
                Step::Waits
            }
            Ok(Moved::Cut) | Err(SpliceFault::Source(_)) => return Err(self.broken_link()),
            Err(SpliceFault::Sink(_)) => return Err(Fault::ClientGone),
        })
    }

    /// Turns bytes that were read from the endpoint into output.
    fn advance(&mut self, cx: &Context<'_>) -> Result<Step, Fault> {
        match self.stage {
            Stage::Head => match answer::read(self.drive, self.upstream.framed_body())? {
                Answer::Incomplete => Ok(Step::NeedsInput),
                Answer::Interim => {
                    self.end_race();
                    self.interims += 1;
                    if self.interims > INTERIM_MAX {
                        return Err(Fault::InterimFlood);
                    }
                    Ok(Step::Moved)
                }
                Answer::Final => {
                    self.check_switch()?;
                    self.note_answer()?;
                    self.is_filtered = filter::begin_response(self.drive);
                    if self.is_filtered {
                        self.stage = Stage::Filter;
                        return Ok(Step::Moved);
                    }
                    self.begin_body()?;
                    self.stage_body(cx)
                }
            },
            Stage::Filter => match filter::stage_response(self.drive, cx)? {
                Progress::Head | Progress::Whole | Progress::Output => {
                    self.begin_body()?;
                    self.stage_body(cx)
                }
                Progress::NeedInput => Ok(Step::NeedsInput),
                Progress::Waiting => Ok(self.wait_for_filter()),
                Progress::Replied => Err(self.replied()),
            },
            Stage::Body => self.stage_body(cx),
        }
    }

    /// An endpoint that has not taken all of the request cannot have agreed to what it asks for.
    fn check_switch(&self) -> Result<(), Fault> {
        let exchange = &*self.drive.exchange;
        let is_taken = exchange.upload.is_finished() && !self.is_upload_broken;
        if exchange.upgrade.is_done() && !is_taken {
            return Err(Fault::ResponseHead(HeadFault::BadSwitch));
        }
        Ok(())
    }

    fn stage_body(&mut self, cx: &Context<'_>) -> Result<Step, Fault> {
        if self.is_body_filtered && !self.drive.exchange.answer.is_ending() {
            match filter::stage_response(self.drive, cx)? {
                Progress::Waiting => return Ok(self.wait_for_filter()),
                Progress::Replied => return Err(self.replied()),
                Progress::Head | Progress::Whole | Progress::Output | Progress::NeedInput => {}
            }
        } else if !self.is_body_filtered {
            let exchange = &mut *self.drive.exchange;
            exchange.answer.stage(&mut exchange.response_input).map_err(Fault::ResponseChunk)?;
        }
        let answer = &self.drive.exchange.answer;
        Ok(if answer.has_output() || answer.is_finished() { Step::Moved } else { Step::NeedsInput })
    }

    fn wait_for_filter(&mut self) -> Step {
        self.waits.filter_ms = self.drive.exchange.filtering.response.wakes_ms(self.waits.filter_ms);
        Step::Waits
    }

    /// Reads more from the endpoint; false when there is nothing yet.
    fn poll_response(&mut self, cx: &mut Context<'_>) -> Result<bool, Fault> {
        let Drive { exchange, worker, .. } = &mut *self.drive;
        let input = &mut exchange.response_input;
        match self.upstream.poll_fill(cx, input, &worker.buffers) {
            Poll::Ready(Ok(Fill::Bytes(_))) => {
                self.upstream_moved_ms = worker.timers.now_ms();
                Ok(true)
            }
            Poll::Ready(Ok(Fill::End)) => self.end_of_response().map(|()| true),
            Poll::Ready(Err(error)) => {
                let fault = self.broken_link();
                Err(if fault == Fault::LinkClosed && is_alert(&error) { Fault::TlsAlert } else { fault })
            }
            Poll::Pending => {
                if input.is_empty() {
                    exchange.release_input(&worker.buffers);
                }
                self.waits.upstream_to_send = true;
                Ok(false)
            }
        }
    }

    fn end_of_response(&mut self) -> Result<(), Fault> {
        let body = &mut self.drive.exchange.answer.reader;
        let may_end = self.stage != Stage::Head && self.upstream.end_body(body);
        if may_end { Ok(()) } else { Err(self.broken_link()) }
    }

    /// What it means that the link ended here.
    fn broken_link(&self) -> Fault {
        let has_begun = self.stage != Stage::Head || !self.drive.exchange.response_input.is_empty();
        if has_begun || self.interims > 0 { Fault::ResponseCut } else { self.upstream.broken() }
    }

    /// The head of the final response has come: tells the counters, and whether the rule would rather try again.
    fn note_answer(&mut self) -> Result<(), Fault> {
        let drive = &mut *self.drive;
        let status = drive.exchange.response.status;
        let Judged { is_failure, reason } = grpc::judge(drive.exchange);
        let now_ms = drive.worker.timers.now_ms();
        if let Some(stay) = &drive.exchange.stay {
            let series = &stay.cluster().series;
            let waited = self.begun.elapsed().as_micros();
            series.first_byte.observe(u64::try_from(waited).unwrap_or(u64::MAX));
            count_status(&series.responses, status);
            if is_failure {
                stay.failed(now_ms);
            } else {
                stay.succeeded(now_ms);
            }
        }
        if self.passes_over(reason) {
            return Err(reason);
        }
        let drive = &mut *self.drive;
        if claim_retry(drive, reason) {
            return Err(reason);
        }
        if failover::claim(drive, reason) {
            return Err(Fault::PassedOver);
        }
        self.end_race();
        let drive = &mut *self.drive;
        grpc::let_request_go(drive.exchange);
        if site::intercepts(drive, status) {
            return Err(Fault::Intercepted(status));
        }
        Ok(())
    }

    /// Writes the head for the client; the body follows.
    fn begin_body(&mut self) -> Result<(), Fault> {
        let is_uploaded = self.drive.exchange.upload.is_finished() && !self.is_upload_broken;
        answer::write(self.drive, is_uploaded, self.is_filtered)?;
        self.is_body_filtered = self.is_filtered && filter::has_response_body(self.drive);
        self.stage = Stage::Body;
        Ok(())
    }

    /// Looks whether the client is still there once it has nothing more to send.
    fn watch_client(&mut self, cx: &mut Context<'_>) -> Result<(), Fault> {
        let Drive { down, exchange, worker, .. } = &mut *self.drive;
        let is_waiting = exchange.upload.is_finished();
        if is_waiting && self.client.poll(cx, down, &worker.buffers, worker.timers.now_ms())? {
            exchange.head.keep_alive = false;
        }
        Ok(())
    }

    /// Sets the timer to the first of the deadlines that run, or tells that it has passed.
    fn poll_deadline(&mut self, cx: &Context<'_>) -> Result<(), Fault> {
        let now_ms = self.drive.worker.timers.now_ms();
        let mut due = Due { at_ms: self.drive.exchange.due_ms, fault: Fault::ExchangeTimeout };
        due.sooner(self.drive.exchange.attempt_due_ms, Fault::AttemptTimeout);
        let is_call = self.drive.exchange.grpc.is_call();
        if self.waits.client_to_send && !is_call {
            due.sooner(self.client_guard_in.deadline(now_ms), Fault::BodyTimeout);
        }
        if self.waits.client_to_take {
            due.sooner(self.client_guard_out.deadline(now_ms), Fault::ClientSlow);
        }
        let idle_ms = self.upstream_moved_ms.saturating_add(millis(self.cluster.read_idle_timeout));
        if self.waits.upstream_to_take {
            due.sooner(idle_ms, Fault::UpstreamIdle);
        } else if self.waits.client_to_send && is_call {
            // A call's client may be silent for as long as its endpoint.
            due.sooner(idle_ms, Fault::BodyTimeout);
        }
        if self.waits.upstream_to_send && !self.waits.client_to_send && !self.waits.upstream_to_take {
            match self.stage {
                Stage::Body | Stage::Filter => due.sooner(idle_ms, Fault::UpstreamIdle),
                Stage::Head => {
                    let first_ms =
                        self.upstream_moved_ms.saturating_add(millis(self.cluster.first_byte_timeout));
                    due.sooner(first_ms, Fault::FirstByteTimeout);
                }
            }
        }
        due.sooner(self.client.due_ms(), Fault::ClientGone);
        if due.at_ms <= now_ms {
            return Err(due.fault);
        }
        let hedge = self.drive.exchange.hedge.as_ref();
        let race_ms = hedge.map(|hedge| hedge.wakes_ms(millis(self.cluster.first_byte_timeout)));
        let wakes_ms = [self.waits.filter_ms, race_ms].into_iter().flatten().min();
        let timer = &self.drive.down.timer;
        timer.register(cx);
        timer.arm_at(wakes_ms.map_or(due.at_ms, |wakes_ms| wakes_ms.min(due.at_ms)));
        Ok(())
    }
}
