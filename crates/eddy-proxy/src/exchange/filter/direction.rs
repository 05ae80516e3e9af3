//! Passage of one message through the filter chain: head, body by piece or as a whole, trailers.

use std::rc::Rc;
use std::task::Context;

use eddy_filter::{Direction, Phase};
use eddy_http::Fields;
use eddy_io::Buffer;

use crate::exchange::filter::enter::{FailureKind, FilterPhaseOutcome, Range, enter, fail};
use crate::exchange::filter::state::{DirectionState, Trailers};
use crate::exchange::filter::wait::{self, FilterPauseStatus};
use crate::exchange::pump::{Misfit, Pump};
use crate::exchange::run::ExchangeCx;
use crate::exchange::state::Exchange;
use crate::fault::Fault;

/// State of a message's passage through the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilterProgress {
    /// The head has passed and can be written; the body follows piece by piece.
    Head,
    /// The head and the whole body have passed and can be written.
    Whole,
    /// Output is ready to be written, or the end has been staged.
    Output,
    /// More of the message must be read.
    NeedInput,
    /// A filter has paused; the message waits for it to resume.
    Waiting,
    /// A filter has replied.
    Replied,
}

impl DirectionState {
    /// Prepares for a message; `has_body` tells whether anything follows the head.
    pub(crate) fn begin(&mut self, has_body: bool) {
        self.renew();
        self.is_ended = !has_body;
    }

    /// Prepares for a message whose whole body is available.
    pub(crate) fn begin_whole(&mut self, body: &[u8]) {
        self.renew();
        self.collected.extend_from_slice(body);
        self.is_ended = true;
        self.is_whole = !body.is_empty();
    }

    fn has_trailers(&self) -> bool {
        !self.trailers.fields.is_empty()
    }
}

/// Moves a message through the chain as far as possible.
///
/// # Errors
/// The fault that ends the exchange.
pub(crate) fn advance(
    ctx: &mut ExchangeCx<'_>,
    cx: &Context<'_>,
    direction: Direction,
) -> Result<FilterProgress, Fault> {
    let phases = Phases::of(direction);
    loop {
        if let Some(waiting) = ctx.exchange.filtering.direction(direction).wait {
            match wait::poll(ctx, cx, waiting, direction) {
                FilterPauseStatus::Lasts => return Ok(FilterProgress::Waiting),
                FilterPauseStatus::Over(waiting, outcome) => {
                    let step = waiting.step;
                    let way = ctx.exchange.filtering.direction(direction);
                    if waiting.is_for_head() {
                        way.head_passed = Some(step);
                        if matches!(outcome, FilterPhaseOutcome::Through) {
                            continue;
                        }
                        settle_head(way, outcome)?;
                    } else {
                        let passed = if waiting.phase == phases.trailers {
                            &mut way.trailers_passed
                        } else if way.is_whole {
                            &mut way.whole_passed
                        } else {
                            &mut way.piece_passed
                        };
                        *passed = Some(step);
                        settle_body(way, outcome)?;
                    }
                    if is_replied(ctx) {
                        return Ok(FilterProgress::Replied);
                    }
                    continue;
                }
            }
        }
        let way = ctx.exchange.filtering.direction(direction);
        let step = match (way.is_head_done, way.is_whole) {
            (false, true) if way.hold.is_some() => show_whole(ctx, direction, phases)?,
            (false, false) if way.hold.is_some() => take_piece(ctx, direction, phases)?,
            (false, _) => show_head(ctx, direction, phases)?,
            (true, true) => show_whole(ctx, direction, phases)?,
            (true, false) if !way.is_head_sealed => return Ok(FilterProgress::Head),
            (true, false) => take_piece(ctx, direction, phases)?,
        };
        match step {
            FilterFlow::GoOn if is_replied(ctx) => return Ok(FilterProgress::Replied),
            FilterFlow::GoOn => {}
            FilterFlow::Stop(progress) => return Ok(progress),
        }
    }
}

/// Filter phases of a direction.
#[derive(Clone, Copy)]
struct Phases {
    head: Phase,
    body: Phase,
    trailers: Phase,
}

impl Phases {
    fn of(direction: Direction) -> Self {
        match direction {
            Direction::Request => {
                Self { head: Phase::RequestHead, body: Phase::RequestBody, trailers: Phase::RequestTrailers }
            }
            Direction::Response => Self {
                head: Phase::ResponseHead,
                body: Phase::ResponseBody,
                trailers: Phase::ResponseTrailers,
            },
        }
    }
}

/// Source, filter state and sink of a message in one direction.
struct DirectionIo<'a> {
    way: &'a mut DirectionState,
    pump: &'a mut Pump,
    source: &'a mut Buffer,
}

impl<'a> DirectionIo<'a> {
    fn of(ctx: &'a mut ExchangeCx<'_>, direction: Direction) -> Self {
        let ExchangeCx { down, exchange, .. } = ctx;
        let Exchange { filtering, upload, answer, response_input, .. } = &mut **exchange;
        match direction {
            Direction::Request => Self { way: &mut filtering.request, pump: upload, source: &mut down.input },
            Direction::Response => {
                Self { way: &mut filtering.response, pump: answer, source: response_input }
            }
        }
    }
}

/// Whether the loop continues at once.
enum FilterFlow {
    GoOn,
    Stop(FilterProgress),
}

fn show_head(ctx: &mut ExchangeCx<'_>, direction: Direction, phases: Phases) -> Result<FilterFlow, Fault> {
    let way = ctx.exchange.filtering.direction(direction);
    let range = Range { after: way.head_passed, ..Range::ALL };
    let is_end = way.is_ended && !way.is_whole;
    let outcome = enter(ctx, phases.head, range, is_end, false);
    let way = ctx.exchange.filtering.direction(direction);
    way.is_head_done = matches!(outcome, FilterPhaseOutcome::Through);
    settle_head(way, outcome)?;
    Ok(FilterFlow::GoOn)
}

/// Shows the whole body to the steps that have not seen it: up to the step that holds the head, or all steps.
fn show_whole(ctx: &mut ExchangeCx<'_>, direction: Direction, phases: Phases) -> Result<FilterFlow, Fault> {
    let way = ctx.exchange.filtering.direction(direction);
    let range = Range { from: way.whole_from, after: way.whole_passed, through: way.hold, before: None };
    let is_end = !way.has_trailers();
    let outcome = enter(ctx, phases.body, range, is_end, true);
    let way = ctx.exchange.filtering.direction(direction);
    match outcome {
        FilterPhaseOutcome::Through if way.hold.is_some() => {
            way.whole_passed = way.hold.take();
            return Ok(FilterFlow::GoOn);
        }
        FilterPhaseOutcome::Through => way.whole_passed = Some(beyond(direction)),
        // There is nothing left to buffer: the filter has seen the whole body already.
        FilterPhaseOutcome::Buffer(step) | FilterPhaseOutcome::Hold(step) => {
            way.whole_passed = Some(step);
            return Ok(FilterFlow::GoOn);
        }
        FilterPhaseOutcome::Paused | FilterPhaseOutcome::Replied(_) | FilterPhaseOutcome::Failed(_) => {
            settle_body(way, outcome)?;
            return Ok(FilterFlow::GoOn);
        }
    }
    if !show_trailers(ctx, direction, phases)? {
        return Ok(FilterFlow::GoOn);
    }
    let DirectionIo { way, pump, .. } = DirectionIo::of(ctx, direction);
    if !way.is_head_sealed {
        return Ok(FilterFlow::Stop(FilterProgress::Whole));
    }
    if !pump.is_ending() {
        if let Err(misfit) = pump.check_length(way.collected.len(), true) {
            return Err(refuse_length(ctx, direction, misfit));
        }
        let DirectionIo { way, pump, .. } = DirectionIo::of(ctx, direction);
        write_whole(way, pump);
    }
    Ok(FilterFlow::Stop(FilterProgress::Output))
}

/// Stages the whole body and its end behind the head.
pub(crate) fn write_whole(way: &DirectionState, pump: &mut Pump) {
    pump.push_data(&way.collected);
    pump.finish(Fields::new(&way.trailers.bytes, &way.trailers.fields));
}

/// Takes one piece of the body through the chain, or adds it to the buffer of the step that collects.
fn take_piece(ctx: &mut ExchangeCx<'_>, direction: Direction, phases: Phases) -> Result<FilterFlow, Fault> {
    if !ctx.exchange.filtering.direction(direction).has_piece
        && let Some(progress) = read_piece(ctx, direction)?
    {
        return Ok(FilterFlow::Stop(progress));
    }
    let way = ctx.exchange.filtering.direction(direction);
    let range = Range {
        after: way.piece_passed,
        before: way.hold.filter(|_| !way.is_hold_shown),
        through: way.hold.filter(|_| way.is_hold_shown),
        ..Range::ALL
    };
    let is_end = way.is_last && !way.has_trailers();
    let outcome = enter(ctx, phases.body, range, is_end, false);
    let way = ctx.exchange.filtering.direction(direction);
    if let Some(step) = way.hold.filter(|_| way.is_hold_shown) {
        let is_held = matches!(outcome, FilterPhaseOutcome::Hold(holder) if holder == step);
        if is_held && !way.is_last {
            collect(ctx, direction, step)?;
        } else if is_held || matches!(outcome, FilterPhaseOutcome::Through) {
            release(way, step);
        } else {
            settle_body(way, outcome)?;
        }
        return Ok(FilterFlow::GoOn);
    }
    if !matches!(outcome, FilterPhaseOutcome::Through) {
        settle_body(way, outcome)?;
        return Ok(FilterFlow::GoOn);
    }
    way.piece_passed = Some(beyond(direction));
    if let Some(step) = way.hold {
        collect(ctx, direction, step)?;
        return Ok(FilterFlow::GoOn);
    }
    if way.is_last && !show_trailers(ctx, direction, phases)? {
        return Ok(FilterFlow::GoOn);
    }
    let DirectionIo { way, pump, .. } = DirectionIo::of(ctx, direction);
    if let Err(misfit) = pump.check_length(way.piece.len(), way.is_last) {
        return Err(refuse_length(ctx, direction, misfit));
    }
    let DirectionIo { way, pump, .. } = DirectionIo::of(ctx, direction);
    pump.push_data(&way.piece);
    way.has_piece = false;
    way.piece_passed = None;
    if way.is_last {
        pump.finish(Fields::new(&way.trailers.bytes, &way.trailers.fields));
    }
    Ok(FilterFlow::Stop(FilterProgress::Output))
}

/// Releases head and body behind the step that held them: the buffered bytes go in front of the current piece.
fn release(way: &mut DirectionState, step: u8) {
    way.hold = None;
    way.is_hold_shown = false;
    way.collected.append(&mut way.piece);
    if way.is_last {
        way.is_whole = true;
        way.has_piece = false;
        way.whole_passed = Some(step);
    } else {
        std::mem::swap(&mut way.collected, &mut way.piece);
        way.piece_passed = Some(step);
    }
}

/// Ends a message whose length differs from the `content-length` of its head, which has already been sent. The fault is
/// attributed to the filter that changed the length last.
#[cold]
fn refuse_length(ctx: &mut ExchangeCx<'_>, direction: Direction, misfit: Misfit) -> Fault {
    let plan = Rc::clone(&ctx.plan);
    let chain = plan.chain(ctx.index, ctx.exchange.filtering.chain);
    let resized_by = ctx.exchange.filtering.direction(direction).resized_by;
    let Some((chain, step)) = chain.zip(resized_by) else { return Fault::FilterFailed };
    let why = match misfit {
        Misfit::TooLong => LENGTHENED,
        Misfit::TooShort => SHORTENED,
    };
    fail(ctx, &plan, chain, step, FailureKind::Edit, why).unwrap_or(Fault::FilterFailed)
}

/// Reads a piece from the source buffer; returns what must happen first if there is none.
fn read_piece(ctx: &mut ExchangeCx<'_>, direction: Direction) -> Result<Option<FilterProgress>, Fault> {
    let body_bytes_max = ctx.listener().config.limits.body_bytes_max;
    let DirectionIo { way, pump, source } = DirectionIo::of(ctx, direction);
    if way.is_ended {
        // Everything has been read and staged before.
        if way.hold.is_none() && !pump.is_ending() {
            pump.finish(Fields::default());
        }
        return Ok(Some(FilterProgress::Output));
    }
    // A head and a small body are sent with one call.
    if way.hold.is_none() && pump.is_full() {
        return Ok(Some(FilterProgress::Output));
    }
    let piece = pump.reader.next(source.held()).map_err(|fault| match direction {
        Direction::Request => Fault::RequestChunk(fault),
        Direction::Response => Fault::ResponseChunk(fault),
    })?;
    source.consume(piece.skip);
    if piece.data == 0 && !pump.reader.is_done() {
        return Ok(Some(FilterProgress::NeedInput));
    }
    way.piece.clear();
    way.piece.extend_from_slice(source.held().get(..piece.data).unwrap_or_default());
    source.consume(piece.data);
    pump.data_bytes += piece.data as u64;
    way.has_piece = true;
    way.piece_passed = None;
    if pump.reader.is_done() {
        way.is_last = true;
        way.is_ended = true;
        let trailers = pump.reader.trailers();
        if !trailers.is_empty() {
            let bytes = trailers.bytes().to_vec();
            way.trailers = Trailers { bytes, fields: trailers.places().to_vec() };
        }
    }
    let is_too_large = body_bytes_max.is_some_and(|max| pump.data_bytes > max);
    if direction == Direction::Request && is_too_large {
        return Err(Fault::BodyTooLarge);
    }
    Ok(None)
}

/// Appends the piece to the buffer of a collecting step.
fn collect(ctx: &mut ExchangeCx<'_>, direction: Direction, step: u8) -> Result<(), Fault> {
    let plan = Rc::clone(&ctx.plan);
    let chain = plan.chain(ctx.index, ctx.exchange.filtering.chain);
    let way = ctx.exchange.filtering.direction(direction);
    let DirectionState { collected, piece, .. } = way;
    collected.extend_from_slice(piece);
    way.has_piece = false;
    way.piece_passed = None;
    way.is_whole = way.is_last;
    let Some(chain) = chain else { return Ok(()) };
    let policy = chain.chain.steps().get(usize::from(step)).map(|step| step.filter.policy);
    if policy.is_some_and(|policy| way.collected.len() as u64 > policy.body_bytes_max) {
        let most = policy.map_or(0, |policy| policy.body_bytes_max);
        let why = format!("the body is larger than its `body_bytes_max` ({most} bytes)");
        fail(ctx, &plan, chain, step, FailureKind::Body, &why);
        return Err(match direction {
            Direction::Request => Fault::BodyTooLarge,
            Direction::Response => Fault::FilterBody,
        });
    }
    Ok(())
}

/// Shows the trailers, if any; returns whether they have passed the chain.
fn show_trailers(ctx: &mut ExchangeCx<'_>, direction: Direction, phases: Phases) -> Result<bool, Fault> {
    let way = ctx.exchange.filtering.direction(direction);
    if !way.has_trailers() {
        return Ok(true);
    }
    let range = Range { after: way.trailers_passed, ..Range::ALL };
    let outcome = enter(ctx, phases.trailers, range, true, false);
    let way = ctx.exchange.filtering.direction(direction);
    match outcome {
        FilterPhaseOutcome::Through => {
            way.trailers_passed = Some(beyond(direction));
            Ok(true)
        }
        // There is nothing left to buffer.
        FilterPhaseOutcome::Buffer(step) | FilterPhaseOutcome::Hold(step) => {
            way.trailers_passed = Some(step);
            Ok(false)
        }
        FilterPhaseOutcome::Paused | FilterPhaseOutcome::Replied(_) | FilterPhaseOutcome::Failed(_) => {
            settle_body(way, outcome).map(|()| false)
        }
    }
}

/// Records the outcome that stopped the head.
fn settle_head(way: &mut DirectionState, outcome: FilterPhaseOutcome) -> Result<(), Fault> {
    match outcome {
        FilterPhaseOutcome::Buffer(step) => {
            way.head_passed = Some(step);
            // A message without a body has nothing to buffer.
            if !way.is_ended || way.is_whole {
                way.hold = Some(step);
                way.whole_from.get_or_insert(step);
            }
            Ok(())
        }
        FilterPhaseOutcome::Hold(step) => {
            way.head_passed = Some(step);
            // A complete body, or one that never comes, is not waited for.
            if !way.is_ended {
                way.hold = Some(step);
                way.is_hold_shown = true;
            }
            Ok(())
        }
        // When a reply can no longer be given, the message goes on behind the filter.
        FilterPhaseOutcome::Replied(step) => {
            way.head_passed = Some(step);
            Ok(())
        }
        FilterPhaseOutcome::Failed(fault) => Err(fault),
        FilterPhaseOutcome::Through | FilterPhaseOutcome::Paused => Ok(()),
    }
}

/// Records the outcome that stopped a piece, the whole body, or the trailers.
fn settle_body(way: &mut DirectionState, outcome: FilterPhaseOutcome) -> Result<(), Fault> {
    match outcome {
        FilterPhaseOutcome::Buffer(step) if !way.is_whole => {
            way.hold = Some(step);
            way.is_hold_shown = false;
            way.whole_from = Some(step);
            // The piece has passed the steps before and is the first of the buffered bytes.
            way.piece_passed = None;
            way.collected.append(&mut way.piece);
            way.has_piece = false;
            way.is_whole = way.is_last;
            Ok(())
        }
        // Nothing is left to hold: the message goes on.
        FilterPhaseOutcome::Replied(step) | FilterPhaseOutcome::Hold(step) => {
            let passed = if way.is_whole { &mut way.whole_passed } else { &mut way.piece_passed };
            *passed = Some(step);
            Ok(())
        }
        FilterPhaseOutcome::Failed(fault) => Err(fault),
        FilterPhaseOutcome::Through | FilterPhaseOutcome::Paused | FilterPhaseOutcome::Buffer(_) => Ok(()),
    }
}

/// Returns a step beyond all others, so that no step sees again what has passed the chain.
fn beyond(direction: Direction) -> u8 {
    match direction {
        Direction::Request => u8::MAX,
        // Responses pass from the last step to the first: step 0 is the final one, and nothing is called after it.
        Direction::Response => 0,
    }
}

fn is_replied(ctx: &ExchangeCx<'_>) -> bool {
    ctx.exchange.filtering.reply.is_given()
}

const LENGTHENED: &str = "it made the body longer than the `content-length` of the head already sent; remove that header in the head hook, or hold the head until the body is complete";
const SHORTENED: &str = "it made the body shorter than the `content-length` of the head already sent; remove that header in the head hook, or hold the head until the body is complete";
