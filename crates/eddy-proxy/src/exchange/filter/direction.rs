//! Passage of one message through the filter chain: carries out what its run asks for.

use std::task::{Context, Poll};

use eddy_filter::{Direction, MessageRun, RunOutput};
use eddy_http::Fields;
use eddy_io::Buffer;

use crate::exchange::context::ExchangeCx;
use crate::exchange::filter::enter::{CallOutcome, enter};
use crate::exchange::filter::step::{chain_of, fail, step_of};
use crate::exchange::filter::wait::{self, PauseOutcome};
use crate::exchange::state::Exchange;
use crate::fault::Fault;
use crate::message::{LengthMismatch, Pump};
use crate::resolved::WorkerChain;
use crate::stats::FailureKind;

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

/// Moves a message through the chain as far as possible.
pub(crate) fn advance(
    ctx: &mut ExchangeCx<'_>,
    cx: &Context<'_>,
    direction: Direction,
) -> Result<FilterProgress, Fault> {
    loop {
        // A filter may have changed the rule, and thereby the chain.
        let chain = chain_of(ctx);
        let message = ctx.exchange.filtering.run.message_mut(direction);
        debug_assert_eq!(message.check_invariants(), Ok(()));
        match message.poll(&chain.chain) {
            RunOutput::Enter(call) => {
                let outcome = enter(ctx, &chain, call)?;
                let message = ctx.exchange.filtering.run.message_mut(direction);
                match outcome {
                    CallOutcome::Passed => message.passed(&chain.chain, &call),
                    CallOutcome::Paused(pause) => message.pause(pause),
                    CallOutcome::Stopped { step, result } => message.stopped(call.phase, step, result),
                }
                if is_replied(ctx) {
                    return Ok(FilterProgress::Replied);
                }
            }
            RunOutput::Waiting(pause) => {
                let result = match wait::poll(ctx, cx, pause, direction)? {
                    Poll::Pending => return Ok(FilterProgress::Waiting),
                    Poll::Ready(PauseOutcome::Sent) => continue,
                    Poll::Ready(PauseOutcome::Ended(result)) => result,
                };
                let message = ctx.exchange.filtering.run.message_mut(direction);
                message.stopped(pause.phase, pause.step, result);
                if is_replied(ctx) {
                    return Ok(FilterProgress::Replied);
                }
            }
            RunOutput::Head => return Ok(FilterProgress::Head),
            RunOutput::Message => return Ok(FilterProgress::Whole),
            output @ (RunOutput::Piece | RunOutput::LastPiece | RunOutput::Body | RunOutput::End) => {
                stage(ctx, direction, output)?;
                return Ok(FilterProgress::Output);
            }
            RunOutput::Read => {
                if let Some(progress) = read_piece(ctx, direction)? {
                    return Ok(progress);
                }
            }
            RunOutput::TooLarge(step) => return Err(refuse_size(ctx, &chain, direction, step)),
        }
    }
}

/// As [`advance`], until there is output to be written or the message cannot go on.
pub(crate) fn stage_filtered(
    ctx: &mut ExchangeCx<'_>,
    cx: &Context<'_>,
    direction: Direction,
) -> Result<FilterProgress, Fault> {
    loop {
        let progress = advance(ctx, cx, direction)?;
        let pump = DirectionIo::of(ctx, direction).pump;
        // When a filter has removed a piece entirely, the loop goes on to the next one.
        if progress != FilterProgress::Output || pump.has_output() || pump.is_end_staged() {
            return Ok(progress);
        }
    }
}

/// Source, filter run and sink of a message in one direction.
struct DirectionIo<'a> {
    message: &'a mut MessageRun,
    pump: &'a mut Pump,
    source: &'a mut Buffer,
}

impl<'a> DirectionIo<'a> {
    fn of(ctx: &'a mut ExchangeCx<'_>, direction: Direction) -> Self {
        let ExchangeCx { down, exchange, .. } = ctx;
        let Exchange { filtering, upload, answer, response_input, .. } = &mut **exchange;
        let message = filtering.run.message_mut(direction);
        match direction {
            Direction::Request => Self { message, pump: upload, source: &mut down.input },
            Direction::Response => Self { message, pump: answer, source: response_input },
        }
    }
}

/// Stages a part of the body that has passed the chain, or the end of the message.
fn stage(ctx: &mut ExchangeCx<'_>, direction: Direction, output: RunOutput) -> Result<(), Fault> {
    let DirectionIo { message, pump, .. } = DirectionIo::of(ctx, direction);
    if output != RunOutput::Piece && pump.is_end_staged() {
        return Ok(());
    }
    if output == RunOutput::End {
        pump.finish(Fields::default());
        return Ok(());
    }
    if let Err(misfit) = pump.check_length(message.data().len(), output != RunOutput::Piece) {
        return Err(refuse_length(ctx, direction, misfit));
    }
    pump.push_data(message.data());
    if output != RunOutput::Piece {
        pump.finish(message.trailers());
    }
    if output != RunOutput::Body {
        message.taken();
    }
    Ok(())
}

/// Stages the whole body, if a filter has buffered it, and its end behind the head. Returns whether it did.
pub(crate) fn stage_buffered_body(message: &MessageRun, pump: &mut Pump) -> bool {
    let Some(whole) = message.whole() else { return false };
    pump.push_data(whole);
    pump.finish(message.trailers());
    true
}

/// Ends a message whose length differs from the `content-length` of its head, which has already been sent. The fault is
/// attributed to the filter that changed the length last.
#[cold]
fn refuse_length(ctx: &mut ExchangeCx<'_>, direction: Direction, misfit: LengthMismatch) -> Fault {
    let resized_by = ctx.exchange.filtering.run.message(direction).resized_by();
    let Some(step) = resized_by else { return Fault::FilterFailed };
    let why = match misfit {
        LengthMismatch::TooLong => LENGTHENED,
        LengthMismatch::TooShort => SHORTENED,
    };
    // The message cannot go on, whatever the filter's failure policy.
    fail(ctx, &chain_of(ctx), step, FailureKind::Edit, why).unwrap_or(Fault::FilterFailed)
}

/// Reads a piece from the source buffer; returns what must happen first if it cannot.
fn read_piece(ctx: &mut ExchangeCx<'_>, direction: Direction) -> Result<Option<FilterProgress>, Fault> {
    let body_bytes_max = ctx.listener.config.limits.body_bytes_max;
    let DirectionIo { message, pump, source } = DirectionIo::of(ctx, direction);
    // A head and a small body are sent with one call.
    if !message.is_holding() && pump.is_full() {
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
    let data = source.front(piece.data);
    if pump.reader.is_done() {
        message.push_last(data, pump.reader.trailers());
    } else {
        message.push_piece(data);
    }
    source.consume(piece.data);
    pump.data_bytes += piece.data as u64;
    let is_too_large = body_bytes_max.is_some_and(|max| pump.data_bytes > max);
    if direction == Direction::Request && is_too_large {
        return Err(Fault::BodyTooLarge);
    }
    Ok(None)
}

/// Ends a message of whose body a step has buffered more than its limit.
#[cold]
fn refuse_size(ctx: &mut ExchangeCx<'_>, chain: &WorkerChain, direction: Direction, step: u8) -> Fault {
    let most = step_of(chain, step).filter.policy.body_bytes_max;
    let why = format!("the body is larger than its `body_bytes_max` ({most} bytes)");
    fail(ctx, chain, step, FailureKind::Body, &why);
    match direction {
        Direction::Request => Fault::BodyTooLarge,
        Direction::Response => Fault::FilterBody,
    }
}

fn is_replied(ctx: &ExchangeCx<'_>) -> bool {
    ctx.exchange.filtering.reply.has_reply()
}

const LENGTHENED: &str = "it made the body longer than the `content-length` of the head already sent; remove that header in the head hook, or hold the head until the body is complete";
const SHORTENED: &str = "it made the body shorter than the `content-length` of the head already sent; remove that header in the head hook, or hold the head until the body is complete";
