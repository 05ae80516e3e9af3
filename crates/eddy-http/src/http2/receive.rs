//! Processing of frames from the peer.

use std::ops::ControlFlow;

use eddy_ids::WorkerTime;

use super::code::{ErrorCode, Http2Fault, Refused};
use super::connection::{
    Block, EndedStream, GoawayProgress, Http2, Http2ReadStage, Purpose, SHUTDOWN_PING_PAYLOAD,
};
use super::frame::{
    self, FLAG_ACK, FLAG_END_HEADERS, FLAG_END_STREAM, FLAG_PADDED, FLAG_PRIORITY, FRAME_BYTES_MAX,
    FRAME_HEAD_BYTES, FrameHead, STREAM_MAX, number, signed, write_frame,
};
use super::growth::ROUND;
use super::preface::PREFACE;
use super::role::Http2Role;
use super::settings::write_ack;
use super::stream::{DataRejection, Http2StreamState, Loss, ResetInitiator};
use crate::head::HeadFault;

/// Capacity above which the memory of a field block is freed.
const KEPT_BYTES_MAX: usize = 8 * 1024;
/// Maximum excess of heads over their received bytes, for all streams together, in multiples of the largest head.
const EXCESS_HEADS_MAX: usize = 4;

impl Http2 {
    /// Processes received bytes up to the last complete frame; returns their number. The rest must be passed again with
    /// more bytes: a frame with its header is at most 16 KiB and nine bytes.
    ///
    /// # Errors
    /// The reason why the connection has ended. The output contains the notice for the peer.
    ///
    /// # Cost
    /// Copies bodies and heads once.
    pub fn receive(&mut self, bytes: &[u8], now: WorkerTime) -> Result<usize, Http2Fault> {
        self.meter.refill(now);
        self.now = now;
        let mut taken = 0;
        loop {
            let rest = bytes.split_at(taken).1;
            match self.receive_one(rest).map_err(|fault| self.fail(fault))? {
                0 => return Ok(taken),
                count => taken += count,
            }
        }
    }

    /// Processes the preface or one frame; returns its length, or 0 while it is incomplete.
    fn receive_one(&mut self, bytes: &[u8]) -> Result<usize, Http2Fault> {
        match self.stage {
            Http2ReadStage::Over => return Ok(0),
            Http2ReadStage::Preface => {
                let count = bytes.len().min(PREFACE.len());
                if bytes.get(..count) != PREFACE.get(..count) {
                    return Err(Http2Fault::Protocol(ErrorCode::Protocol));
                }
                if count < PREFACE.len() {
                    return Ok(0);
                }
                self.stage = Http2ReadStage::Settings;
                return Ok(count);
            }
            Http2ReadStage::Settings | Http2ReadStage::Frames => {}
        }
        let Some(head) = FrameHead::parse(bytes) else { return Ok(0) };
        if head.length > FRAME_BYTES_MAX {
            return Err(Http2Fault::Protocol(ErrorCode::FrameSize));
        }
        let end = FRAME_HEAD_BYTES + head.length;
        let Some(payload) = bytes.get(FRAME_HEAD_BYTES..end) else { return Ok(0) };
        if !self.is_due(&head, payload) {
            self.meter.frame(&head, payload.first().copied()).map_err(Http2Fault::Abuse)?;
        }
        match self.frame(&head, payload) {
            Ok(()) => {}
            Err(Refused::Connection(code)) => return Err(Http2Fault::Protocol(code)),
            Err(Refused::BudgetExhausted(abuse)) => return Err(Http2Fault::Abuse(abuse)),
            Err(Refused::Stream(id, code)) => {
                self.reset(id, code);
                self.meter.reset().map_err(Http2Fault::Abuse)?;
            }
        }
        Ok(end)
    }

    /// Whether at most one such frame arrives per request of this side, so that it is not charged to the peer.
    fn is_due(&self, head: &FrameHead, payload: &[u8]) -> bool {
        let is_live = || self.streams.get(&head.stream).is_some_and(|stream| stream.reset.is_none());
        // Processing it ends the round, so that another one is charged.
        let ends_round = || head.has(FLAG_ACK) && payload == ROUND && self.growth.is_measuring();
        match head.kind {
            frame::RST_STREAM => self.role != Http2Role::Server && is_live(),
            frame::PING => ends_round(),
            _ => false,
        }
    }

    fn frame(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), Refused> {
        let continues = |block: &Block| head.kind == frame::CONTINUATION && head.stream == block.stream;
        if self.block.as_ref().is_some_and(|block| !continues(block)) {
            return Err(Refused::PROTOCOL);
        }
        if self.stage == Http2ReadStage::Settings {
            if head.kind != frame::SETTINGS || head.has(FLAG_ACK) {
                return Err(Refused::PROTOCOL);
            }
            self.stage = Http2ReadStage::Frames;
        }
        let is_of_connection = matches!(head.kind, frame::SETTINGS | frame::PING | frame::GOAWAY);
        let is_of_stream = matches!(
            head.kind,
            frame::DATA | frame::HEADERS | frame::PRIORITY | frame::RST_STREAM | frame::CONTINUATION
        );
        if (is_of_connection && head.stream != 0) || (is_of_stream && head.stream == 0) {
            return Err(Refused::PROTOCOL);
        }
        match head.kind {
            frame::DATA => self.data(head, payload),
            frame::HEADERS => self.headers(head, payload),
            frame::PRIORITY => self.priority(head, payload),
            frame::RST_STREAM => self.rst_stream(head, payload),
            frame::SETTINGS => self.settings(head, payload),
            // A client never pushes, and a server was forbidden to by SETTINGS.
            frame::PUSH_PROMISE => Err(Refused::PROTOCOL),
            frame::PING => self.ping(head, payload),
            frame::GOAWAY => self.goaway(payload),
            frame::WINDOW_UPDATE => self.window_update(head, payload),
            frame::CONTINUATION => self.continuation(head, payload),
            // Unknown frame types are ignored (RFC 9113 §5.5).
            _ => Ok(()),
        }
    }

    fn data(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), Refused> {
        let id = head.stream;
        let data = unpad(head, payload)?;
        self.recv_window -= signed(payload.len());
        if self.recv_window < 0 {
            return Err(Refused::Connection(ErrorCode::FlowControl));
        }
        let Some(stream) = self.streams.get_mut(&id) else {
            self.release(payload.len());
            return self.after_end(id);
        };
        // A response begins with its head.
        let received = match self.role {
            Http2Role::Client { .. } if stream.reset.is_none() && !stream.is_answered => {
                Err(DataRejection::Refused(ErrorCode::Protocol))
            }
            Http2Role::Client { .. } | Http2Role::Server => {
                stream.receive(data, payload.len(), head.has(FLAG_END_STREAM))
            }
        };
        match received {
            Ok(()) => {
                self.begin_round(id);
                let padding = payload.len() - data.len();
                self.release_stream(id, padding);
                self.release(padding);
                self.wake(id);
                Ok(())
            }
            Err(unwanted) => {
                self.release(payload.len());
                match unwanted {
                    DataRejection::Late => Ok(()),
                    DataRejection::Refused(code) => Err(Refused::Stream(id, code)),
                    DataRejection::Closed => Err(Refused::Connection(ErrorCode::StreamClosed)),
                }
            }
        }
    }

    /// Evaluates a frame on a stream that has ended or was never opened.
    fn after_end(&self, id: u32) -> Result<(), Refused> {
        if id > self.last {
            return Err(Refused::PROTOCOL);
        }
        match self.ended.iter().find(|ended| ended.stream == id) {
            // The frame crossed the reset by this side.
            Some(ended) if ended.is_cut => Ok(()),
            Some(_) => Err(Refused::Connection(ErrorCode::StreamClosed)),
            // Ended too long ago to decide: other streams of the connection should not suffer.
            None if self.role != Http2Role::Server && !id.is_multiple_of(2) => Ok(()),
            // Ended too long ago to decide, or a skipped stream ID.
            None => Err(Refused::Connection(ErrorCode::StreamClosed)),
        }
    }

    fn headers(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), Refused> {
        let id = head.stream;
        let mut fragment = unpad(head, payload)?;
        let mut purpose = self.purpose(id)?;
        if head.has(FLAG_PRIORITY) {
            let (dependency, rest) = fragment.split_at_checked(5).ok_or(Refused::FRAME_SIZE)?;
            fragment = rest;
            if dependency.get(..4).and_then(number) == Some(id) {
                purpose = Purpose::Reset(ErrorCode::Protocol);
            }
        }
        self.last = self.last.max(id);
        self.block = Some(Block { stream: id, ends_stream: head.has(FLAG_END_STREAM), purpose });
        self.block_bytes.clear();
        self.gather(head, fragment)
    }

    /// Returns the meaning of a field block on this stream.
    fn purpose(&self, id: u32) -> Result<Purpose, Refused> {
        if id.is_multiple_of(2) {
            return Err(Refused::PROTOCOL);
        }
        if id > self.last && self.role != Http2Role::Server {
            // There is no such request.
            return Err(Refused::PROTOCOL);
        }
        if id > self.last {
            return Ok(match self.leaving {
                // The client will send the request again elsewhere.
                GoawayProgress::Last(_) => Purpose::Nothing,
                GoawayProgress::No | GoawayProgress::FirstGoawaySent => Purpose::Request,
            });
        }
        if let Some(stream) = self.streams.get(&id) {
            return match stream.reset {
                Some(ResetInitiator::Peer) => Err(Refused::Connection(ErrorCode::StreamClosed)),
                Some(ResetInitiator::Own) => Ok(Purpose::Nothing),
                None if self.role != Http2Role::Server && !stream.is_answered => Ok(Purpose::Answer),
                None => Ok(Purpose::Trailers),
            };
        }
        match self.ended.iter().find(|ended| ended.stream == id) {
            Some(ended) if ended.is_cut => Ok(Purpose::Nothing),
            Some(_) => Err(Refused::Connection(ErrorCode::StreamClosed)),
            // Ended too long ago to decide.
            None if self.role != Http2Role::Server => Ok(Purpose::Nothing),
            // Streams must be opened in increasing order.
            None => Err(Refused::PROTOCOL),
        }
    }

    fn continuation(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), Refused> {
        if self.block.is_none() {
            return Err(Refused::PROTOCOL);
        }
        self.gather(head, payload)
    }

    fn gather(&mut self, head: &FrameHead, fragment: &[u8]) -> Result<(), Refused> {
        // Compressed fields are hardly longer than decoded ones; a block of this size exceeds the limits of any head.
        if self.block_bytes.len() + fragment.len()
            > 2 * self.limits.head.head_bytes_max.max(16 * 1024) as usize
        {
            return Err(Refused::Connection(ErrorCode::EnhanceYourCalm));
        }
        self.block_bytes.extend_from_slice(fragment);
        if head.has(FLAG_END_HEADERS) { self.end_block() } else { Ok(()) }
    }

    fn end_block(&mut self) -> Result<(), Refused> {
        let Some(Block { stream: id, ends_stream, purpose }) = self.block.take() else { return Ok(()) };
        let excess = self.decode_block()?;
        let done = match purpose {
            Purpose::Nothing => Ok(()),
            Purpose::Reset(code) => Err(Refused::Stream(id, code)),
            Purpose::Request => self.accept(id, ends_stream, excess),
            Purpose::Answer => self.hold(id, excess).and_then(|()| self.answer(id, ends_stream)),
            Purpose::Trailers => self.hold(id, excess).and_then(|()| self.trail(id, ends_stream)),
        };
        self.fields.clear();
        done
    }

    /// Decodes the complete block and charges for it; returns the excess over its received bytes.
    ///
    /// # Errors
    /// Ends the connection: the block is invalid, or the budget does not cover its decoded size, in which case decoding
    /// stops early.
    fn decode_block(&mut self) -> Result<usize, Refused> {
        let Self { fields, limits, decoder, block_bytes, meter, .. } = self;
        let received = block_bytes.len();
        let bytes_max = meter.head_bytes_max(received);
        let decoded = decoder.decode(block_bytes, |name, value| {
            fields.add(name, value, &limits.head);
            if fields.bytes() > bytes_max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        block_bytes.clear();
        block_bytes.shrink_to(KEPT_BYTES_MAX);
        // Before the check for an invalid block: a block whose decoding stopped early looks like one.
        let excess = meter.head(received, fields.bytes())?;
        decoded.map_err(|_| Refused::COMPRESSION)?;
        Ok(excess)
    }

    /// Whether so much more excess of heads over their received bytes may be held.
    fn may_hold(&self, excess: usize) -> bool {
        let held = || self.streams.values().map(|stream| stream.excess).sum::<usize>();
        excess == 0
            || held().saturating_add(excess) <= EXCESS_HEADS_MAX * self.limits.head.head_bytes_max as usize
    }

    /// Adds the excess of a head or of trailers to a stream.
    fn hold(&mut self, id: u32, excess: usize) -> Result<(), Refused> {
        let may_hold = self.may_hold(excess);
        if let Some(stream) = self.streams.get_mut(&id) {
            if !may_hold {
                stream.loss.get_or_insert(Loss::Head(HeadFault::HeadTooLarge));
                return Err(Refused::Stream(id, ErrorCode::EnhanceYourCalm));
            }
            stream.excess += excess;
        }
        Ok(())
    }

    /// Whether another stream may be opened. A stream that both sides have ended is closed for the peer, which may open
    /// the next one before its exchange is over here; there are at most as many of these as open ones. A stream that
    /// the peer has reset counts until its exchange is over.
    ///
    /// # Spec
    /// RFC 9113 §5.1.2.
    fn has_room_for_stream(&self) -> bool {
        let (held, most) = (self.streams.len(), self.limits.streams_max as usize);
        let is_closed = |stream: &Http2StreamState| {
            stream.is_recv_ended && stream.is_send_ended && stream.reset.is_none()
        };
        held < most
            || held < 2 * most && self.streams.values().filter(|stream| !is_closed(stream)).count() < most
    }

    fn accept(&mut self, id: u32, is_ended: bool, excess: usize) -> Result<(), Refused> {
        if !self.has_room_for_stream() || !self.may_hold(excess) {
            return Err(Refused::Stream(id, ErrorCode::RefusedStream));
        }
        let arrived =
            self.fields.write_request(is_ended).map_err(|_| Refused::Stream(id, ErrorCode::Protocol))?;
        if matches!(arrived.head.fault, Some(HeadFault::HeadTooLarge | HeadFault::TooManyFields)) {
            self.meter.head_refused()?;
        }
        let mut stream = Http2StreamState::new(self.limits.stream_window, self.peer.stream_window);
        stream.excess = excess;
        stream.is_recv_ended = !arrived.head.has_body;
        stream.is_tunnel = arrived.head.is_tunnel;
        stream.head = arrived.head;
        stream.owed = arrived.length;
        self.streams.insert(id, stream);
        self.note_opened(id);
        Ok(())
    }

    fn trail(&mut self, id: u32, is_ended: bool) -> Result<(), Refused> {
        let Some(stream) = self.streams.get_mut(&id) else { return Ok(()) };
        if stream.is_recv_ended {
            return Err(Refused::Stream(id, ErrorCode::StreamClosed));
        }
        let is_right = is_ended
            && !stream.is_tunnel
            && self.fields.write_trailers(&mut stream.trailers).is_ok()
            && stream.end();
        if !is_right {
            return Err(Refused::Stream(id, ErrorCode::Protocol));
        }
        self.wake(id);
        Ok(())
    }

    /// Priorities are ignored, but they must be valid (RFC 9113 §5.3.2).
    fn priority(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), Refused> {
        let code = match payload.first_chunk::<4>() {
            Some(dependency) if payload.len() == 5 => {
                if number(dependency) != Some(head.stream) {
                    return Ok(());
                }
                ErrorCode::Protocol
            }
            Some(_) | None => ErrorCode::FrameSize,
        };
        // A stream that was never opened cannot be reset.
        Err(if head.stream > self.last {
            Refused::Connection(code)
        } else {
            Refused::Stream(head.stream, code)
        })
    }

    fn rst_stream(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), Refused> {
        if payload.len() != 4 {
            return Err(Refused::FRAME_SIZE);
        }
        if head.stream > self.last || head.stream.is_multiple_of(2) {
            return Err(Refused::PROTOCOL);
        }
        match self.role {
            Http2Role::Server => self.drop_stream(head.stream, ResetInitiator::Peer),
            Http2Role::Client { .. } => self.take_reset(head.stream, number(payload)),
        }
        if let Some(ended) = self.ended.iter_mut().find(|ended| ended.stream == head.stream) {
            // No frame can cross the reset any more.
            ended.is_cut = false;
        }
        Ok(())
    }

    fn settings(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), Refused> {
        if head.has(FLAG_ACK) {
            return if payload.is_empty() { Ok(()) } else { Err(Refused::FRAME_SIZE) };
        }
        let before = self.peer.stream_window;
        self.peer.take(payload, self.role)?;
        let more = i64::from(self.peer.stream_window) - i64::from(before);
        if more != 0 {
            for stream in self.streams.values_mut() {
                stream.send_window += more;
                if stream.send_window > i64::from(STREAM_MAX) {
                    return Err(Refused::Connection(ErrorCode::FlowControl));
                }
            }
            let ids: Vec<u32> = self.streams.keys().copied().collect();
            ids.into_iter().for_each(|id| self.wake(id));
        }
        write_ack(&mut self.out);
        Ok(())
    }

    fn ping(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), Refused> {
        if payload.len() != 8 {
            return Err(Refused::FRAME_SIZE);
        }
        if !head.has(FLAG_ACK) {
            write_frame(&mut self.out, frame::PING, FLAG_ACK, 0, payload);
        } else if payload == SHUTDOWN_PING_PAYLOAD && self.leaving == GoawayProgress::FirstGoawaySent {
            self.send_final_goaway();
        } else if payload == ROUND {
            self.end_round();
        }
        Ok(())
    }

    /// Begins a round of measuring if one is due and this stream has received enough for it.
    fn begin_round(&mut self, id: u32) {
        let Self { growth, streams, limits, out, now, .. } = self;
        if growth.may_begin(limits, *now)
            && streams.get(&id).is_some_and(|stream| stream.may_begin_round(limits))
        {
            growth.begin(streams, *now, out);
        }
    }

    /// Ends the round; the window of the connection grows with those of its streams.
    fn end_round(&mut self) {
        let Self { growth, streams, limits, out, now, recv_window, .. } = self;
        let more = growth.end(streams, limits, *now, out);
        if more > 0 {
            *recv_window += i64::from(more);
            write_frame(out, frame::WINDOW_UPDATE, 0, 0, &more.to_be_bytes());
        }
    }

    fn window_update(&mut self, head: &FrameHead, payload: &[u8]) -> Result<(), Refused> {
        let more = i64::from(number(payload).ok_or(Refused::FRAME_SIZE)?);
        let id = head.stream;
        if id == 0 {
            if more == 0 {
                return Err(Refused::PROTOCOL);
            }
            self.send_window += more;
            if self.send_window > i64::from(STREAM_MAX) {
                return Err(Refused::Connection(ErrorCode::FlowControl));
            }
            self.wake_stalled();
            return Ok(());
        }
        if id > self.last || id.is_multiple_of(2) {
            return Err(Refused::PROTOCOL);
        }
        let Some(stream) = self.streams.get_mut(&id).filter(|stream| stream.reset.is_none()) else {
            return Ok(());
        };
        if more == 0 {
            return Err(Refused::Stream(id, ErrorCode::Protocol));
        }
        stream.send_window += more;
        if stream.send_window > i64::from(STREAM_MAX) {
            return Err(Refused::Stream(id, ErrorCode::FlowControl));
        }
        self.wake(id);
        Ok(())
    }

    /// Resets a stream because of an invalid frame.
    fn reset(&mut self, id: u32, code: ErrorCode) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.loss.get_or_insert(Loss::Broken);
        }
        self.drop_stream(id, ResetInitiator::Own);
        self.write_reset(id, code);
        self.note_ended(EndedStream { stream: id, is_cut: true });
    }

    /// Ends a stream for its exchange; it counts as open until the exchange calls `finish`.
    pub(super) fn drop_stream(&mut self, id: u32, by: ResetInitiator) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let unread = stream.unread_data();
        stream.end_both(by);
        self.release(unread);
        self.wake(id);
    }
}

/// Removes the padding (RFC 9113 §6.1).
fn unpad<'p>(head: &FrameHead, payload: &'p [u8]) -> Result<&'p [u8], Refused> {
    if !head.has(FLAG_PADDED) {
        return Ok(payload);
    }
    let (padding, rest) = payload.split_first().ok_or(Refused::FRAME_SIZE)?;
    let length = rest.len().checked_sub(usize::from(*padding)).ok_or(Refused::PROTOCOL)?;
    Ok(rest.split_at(length).0)
}
