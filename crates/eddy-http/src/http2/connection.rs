//! A connection: its streams, its windows, and what is to be written.

use std::collections::{BTreeMap, VecDeque};

use super::code::{ErrorCode, Http2Fault};
use super::fields::FieldList;
use super::frame::{self, STREAM_MAX, write_frame};
use super::hpack::Decoder;
use super::limits::Http2Limits;
use super::meter::AbuseMeter;
use super::preface::PREFACE;
use super::settings::{PeerSettings, WINDOW, write_own};
use super::stream::{BodyReadResult, Gone, H2Head, Http2StreamState, Loss, ResetInitiator, Unread};

/// Once so much waits to be written, streams wait with their data, and nothing more is to be read.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;
/// Streams that have ended and are still known, to tell frames that crossed their end from nonsense.
const ENDED_MAX: usize = 256;
/// Capacity above which memory is freed once it is not needed.
const KEPT_BYTES_MAX: usize = 4 * 1024;
/// What the ping says whose return tells that the client has heard of the end.
pub(super) const LEAVING: [u8; 8] = *b"eddy.bye";

/// A connection of HTTP/2, from the server's side ([`Self::new`]) or the client's ([`Self::client`]).
///
/// It does no I/O and knows no task. Whoever drives it reads for it ([`Self::receive`]), at the server's side unless it
/// [`Self::is_full`], writes [`Self::output`] and wakes those streams that are [`Self::next_woken`]. A server begins an exchange
/// for each [`Self::next_opened`] stream, which [`Self::take_head`]s; a client's exchange [`Self::open`]s one. Both read and write
/// their stream and [`Self::finish`] it.
///
/// A client must read on even while it can't write: else two who wait for each other to read would do so for ever. What that
/// adds to the output, the budget bounds.
///
/// What it holds is bounded by its [`Http2Limits`]: bodies by the windows, heads by the number of streams, what is to be
/// written by the answers to one piece that was read beyond 64 KiB.
///
/// # Spec
/// [RFC 9113](https://www.rfc-editor.org/rfc/rfc9113)
#[derive(Debug)]
pub struct Http2 {
    pub(super) limits: Http2Limits,
    pub(super) role: Http2Role,
    pub(super) stage: Http2ReadStage,
    pub(super) peer: PeerSettings,
    pub(super) decoder: Decoder,
    pub(super) fields: FieldList,
    /// The block of fields that has begun and not ended.
    pub(super) block: Option<Block>,
    pub(super) block_bytes: Vec<u8>,
    pub(super) streams: BTreeMap<u32, Http2StreamState>,
    /// The last stream that the client has opened.
    pub(super) last: u32,
    /// The last stream that the server looks at, once it has taken its leave from us.
    pub(super) goaway: Option<u32>,
    pub(super) ended: VecDeque<EndedStream>,
    pub(super) send_window: i64,
    pub(super) recv_window: i64,
    /// What was read of all streams, and is to be told to the client.
    unreleased: u32,
    pub(super) out: Vec<u8>,
    /// How much of it was written.
    out_start: usize,
    /// Whether a block of fields was sent.
    pub(super) has_sent_block: bool,
    /// Memory for blocks of fields and their names on their way out.
    pub(super) sent_block: Vec<u8>,
    pub(super) sent_name: Vec<u8>,
    pub(super) meter: AbuseMeter,
    pub(super) leaving: Leaving,
    opened: VecDeque<u32>,
    pub(super) woken: VecDeque<u32>,
    /// Streams that wait for the window of the connection, or for room.
    pub(super) stalled: Vec<u32>,
}

/// Which side of the connection is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Http2Role {
    Server,
    /// The scheme of what it asks for: `http` or `https`.
    Client {
        scheme: &'static str,
    },
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Http2ReadStage {
    Preface,
    /// The peer's settings, which come first.
    Settings,
    Frames,
    /// Nothing: the connection has ended.
    Over,
}

/// A block of fields that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) stream: u32,
    pub(super) ends_stream: bool,
    pub(super) purpose: Purpose,
}

/// What a block of fields is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Request,
    Answer,
    Trailers,
    /// It is read, since what follows cannot be read without, and forgotten.
    Nothing,
    /// The same, and the stream is reset.
    Reset(ErrorCode),
}

/// A stream that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndedStream {
    pub(super) stream: u32,
    /// Whether we ended it while the peer might still be sending.
    pub(super) is_cut: bool,
}

/// How far the end of the connection was announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaving {
    No,
    /// The client was told that there is an end; requests that it has sent before it heard are served.
    Told,
    /// It was told which request was the last.
    Last(u32),
}

impl Http2 {
    /// The server's side of a connection that was just opened; what we tell of ourselves is to be written.
    pub fn new(limits: Http2Limits, now_ms: u64) -> Self {
        Self::with(Http2Role::Server, Http2ReadStage::Preface, Vec::new(), limits, now_ms)
    }

    /// The client's side of a connection that was just opened, to ask for what has this scheme; the preface and what we tell of
    /// ourselves are to be written. Of the limits, `streams_max` is how many requests are sent at once, if the server takes as
    /// many.
    pub fn client(scheme: &'static str, limits: Http2Limits, now_ms: u64) -> Self {
        Self::with(Http2Role::Client { scheme }, Http2ReadStage::Settings, PREFACE.to_vec(), limits, now_ms)
    }

    fn with(
        role: Http2Role,
        stage: Http2ReadStage,
        mut out: Vec<u8>,
        limits: Http2Limits,
        now_ms: u64,
    ) -> Self {
        write_own(&mut out, &limits, role);
        Self {
            limits,
            role,
            stage,
            peer: PeerSettings::default(),
            decoder: Decoder::new(),
            fields: FieldList::default(),
            block: None,
            block_bytes: Vec::new(),
            streams: BTreeMap::new(),
            last: 0,
            goaway: None,
            ended: VecDeque::new(),
            send_window: WINDOW.into(),
            recv_window: limits.connection_window.max(WINDOW).into(),
            unreleased: 0,
            out,
            out_start: 0,
            has_sent_block: false,
            sent_block: Vec::new(),
            sent_name: Vec::new(),
            meter: AbuseMeter::new(limits.budget, now_ms),
            leaving: Leaving::No,
            opened: VecDeque::new(),
            woken: VecDeque::new(),
            stalled: Vec::new(),
        }
    }

    /// What is to be written.
    pub fn output(&self) -> &[u8] {
        self.out.get(self.out_start..).unwrap_or_default()
    }

    /// Takes note that the first `count` bytes of the output were written.
    pub fn written(&mut self, count: usize) {
        self.out_start += count;
        self.meter.written(count);
        if self.out_start >= self.out.len() {
            self.out.clear();
            self.out.shrink_to(KEPT_BYTES_MAX);
            self.out_start = 0;
        } else if self.out_start >= OUTPUT_BYTES_MAX {
            // A client that never takes all must not make it grow.
            self.out.drain(..self.out_start);
            self.out_start = 0;
        }
        if !self.is_full() {
            self.wake_stalled();
        }
    }

    /// Whether so much is to be written that nothing more is to be read.
    pub fn is_full(&self) -> bool {
        self.output().len() >= OUTPUT_BYTES_MAX
    }

    /// A stream that a request has come on.
    pub fn next_opened(&mut self) -> Option<u32> {
        self.opened.pop_front()
    }

    /// A stream of which something has changed: it can be read, or written, or was reset.
    pub fn next_woken(&mut self) -> Option<u32> {
        self.woken.pop_front()
    }

    /// Whether an exchange is going on.
    pub fn has_streams(&self) -> bool {
        !self.streams.is_empty()
    }

    /// Whether a block of fields has begun and not ended: its request is late.
    pub fn is_in_block(&self) -> bool {
        self.block.is_some()
    }

    /// Whether the client was told that there is an end, and not yet which request was the last.
    pub fn is_leaving(&self) -> bool {
        self.leaving == Leaving::Told
    }

    /// Whether nothing more comes and nothing more is to be done but to write what there is.
    pub fn is_over(&self) -> bool {
        let is_last = matches!(self.leaving, Leaving::Last(_)) || self.goaway.is_some();
        self.stage == Http2ReadStage::Over || (is_last && self.streams.is_empty())
    }

    /// Begins the end: the peer is told. A client is, once it has heard, told which request was the last; a server, once all of
    /// ours are answered.
    ///
    /// # Spec
    /// RFC 9113 §6.8
    pub fn leave(&mut self) {
        if self.role != Http2Role::Server {
            return self.leave_as_client();
        }
        if self.stage != Http2ReadStage::Over && self.leaving == Leaving::No {
            self.leaving = Leaving::Told;
            self.write_goaway(STREAM_MAX, ErrorCode::NoError);
            write_frame(&mut self.out, frame::PING, 0, 0, &LEAVING);
        }
    }

    /// Tells the client that the last request was the last.
    pub fn leave_now(&mut self) {
        if self.stage != Http2ReadStage::Over && !matches!(self.leaving, Leaving::Last(_)) {
            self.leaving = Leaving::Last(self.last);
            self.write_goaway(self.last, ErrorCode::NoError);
        }
    }

    /// Ends the connection with everything on it.
    pub fn end(&mut self, code: ErrorCode) {
        if self.stage != Http2ReadStage::Over {
            self.stage = Http2ReadStage::Over;
            self.write_goaway(if self.role == Http2Role::Server { self.last } else { 0 }, code);
        }
        self.lose_all(Loss::Broken);
    }

    /// Takes note that the stream of bytes has ended: nobody waits for an answer, and none comes.
    pub fn cut(&mut self) {
        self.stage = Http2ReadStage::Over;
        self.lose_all(Loss::Cut);
    }

    fn lose_all(&mut self, loss: Loss) {
        for (id, stream) in &mut self.streams {
            match self.role {
                Http2Role::Server => stream.end_both(ResetInitiator::Peer),
                Http2Role::Client { .. } => stream.lose(loss),
            }
            self.woken.push_back(*id);
        }
    }

    /// The head of a request that has come.
    pub fn take_head(&mut self, id: u32) -> Option<H2Head> {
        self.streams.get_mut(&id).map(|stream| std::mem::take(&mut stream.head))
    }

    /// Reads what has come of a body; of an answer, its heads before it, as text.
    ///
    /// # Errors
    /// When the client has taken its request back, or ours was lost.
    pub fn read(&mut self, id: u32, room: &mut [u8]) -> Result<BodyReadResult, Gone> {
        let stream = self.streams.get_mut(&id).ok_or(Gone)?;
        let unread = stream.unread();
        if stream.reset.is_some() && unread.is_empty() {
            return Err(Gone);
        }
        let count = unread.len().min(room.len());
        if count == 0 {
            let is_end = stream.is_recv_ended && unread.is_empty();
            return Ok(if is_end { BodyReadResult::End } else { BodyReadResult::Nothing });
        }
        if let (Some(room), Some(unread)) = (room.get_mut(..count), unread.get(..count)) {
            room.copy_from_slice(unread);
        }
        let of_data = stream.consume(count);
        self.release_stream(id, of_data);
        self.release(of_data);
        Ok(BodyReadResult::Bytes(count))
    }

    /// Whether a body can be read: there is some of it, or its end, or the peer is gone.
    pub fn is_readable(&self, id: u32) -> bool {
        self.streams.get(&id).is_none_or(|stream| {
            stream.reset.is_some() || stream.is_recv_ended || !stream.unread().is_empty()
        })
    }

    /// How much of a body has come and was not read.
    pub fn unread(&self, id: u32) -> Unread {
        self.streams.get(&id).map_or(Unread { bytes: 0, is_last: true }, |stream| Unread {
            bytes: stream.unread_data(),
            is_last: stream.is_recv_ended,
        })
    }

    /// The trailers of a body that has ended, as the end of a chunked one; empty for none.
    pub fn trailers(&self, id: u32) -> &[u8] {
        self.streams.get(&id).map_or(&[], |stream| &stream.trailers)
    }

    /// Whether the client has taken its request back.
    pub fn is_gone(&self, id: u32) -> bool {
        self.streams.get(&id).is_none_or(|stream| stream.reset.is_some())
    }

    /// Lets a stream go. One whose answer is not whole is reset with `code`. So is one that is still being sent: by a server with
    /// [`ErrorCode::NoError`] where the answer is whole (RFC 9113 §8.1).
    pub fn finish(&mut self, id: u32, code: ErrorCode) {
        let Some(stream) = self.streams.remove(&id) else { return };
        self.stalled.retain(|stalled| *stalled != id);
        self.release(stream.unread_data());
        match stream.reset {
            Some(ResetInitiator::Peer) => self.note_ended(id, false),
            // It was noted when it was reset.
            Some(ResetInitiator::Own) => {}
            None if self.role == Http2Role::Server => self.finish_answer(id, &stream, code),
            None => self.finish_request(id, &stream, code),
        }
    }

    fn finish_answer(&mut self, id: u32, stream: &Http2StreamState, code: ErrorCode) {
        if stream.is_send_ended {
            self.meter.answered();
        }
        let is_cut = !stream.is_send_ended || !stream.is_recv_ended;
        if is_cut {
            let code = if stream.is_send_ended { ErrorCode::NoError } else { code };
            self.write_reset(id, code);
        }
        self.note_ended(id, is_cut);
    }

    pub(super) fn write_reset(&mut self, id: u32, code: ErrorCode) {
        write_frame(&mut self.out, frame::RST_STREAM, 0, id, &(code as u32).to_be_bytes());
    }

    pub(super) fn write_goaway(&mut self, last: u32, code: ErrorCode) {
        let [a, b, c, d] = last.to_be_bytes();
        let [e, f, g, h] = (code as u32).to_be_bytes();
        write_frame(&mut self.out, frame::GOAWAY, 0, 0, &[a, b, c, d, e, f, g, h]);
    }

    pub(super) fn note_ended(&mut self, stream: u32, is_cut: bool) {
        if self.ended.len() == ENDED_MAX {
            self.ended.pop_front();
        }
        self.ended.push_back(EndedStream { stream, is_cut });
    }

    pub(super) fn note_opened(&mut self, id: u32) {
        self.opened.push_back(id);
    }

    pub(super) fn wake(&mut self, id: u32) {
        if self.woken.back() != Some(&id) {
            self.woken.push_back(id);
        }
    }

    pub(super) fn wake_stalled(&mut self) {
        self.woken.extend(self.stalled.drain(..));
    }

    /// Lets the peer send as much more on the connection, once it is worth a frame.
    pub(super) fn release(&mut self, count: usize) {
        self.unreleased += u32::try_from(count).unwrap_or(u32::MAX);
        if self.stage != Http2ReadStage::Over && self.unreleased >= self.limits.connection_window / 2 {
            let more = std::mem::take(&mut self.unreleased);
            self.recv_window += i64::from(more);
            write_frame(&mut self.out, frame::WINDOW_UPDATE, 0, 0, &more.to_be_bytes());
        }
    }

    /// The same for a stream.
    pub(super) fn release_stream(&mut self, id: u32, count: usize) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.unreleased += u32::try_from(count).unwrap_or(u32::MAX);
        let is_open = !stream.is_recv_ended && stream.reset.is_none();
        if is_open && stream.unreleased >= self.limits.stream_window / 2 {
            let more = std::mem::take(&mut stream.unreleased);
            stream.recv_window += i64::from(more);
            write_frame(&mut self.out, frame::WINDOW_UPDATE, 0, id, &more.to_be_bytes());
        }
    }

    /// Ends the connection for a reason; the reason again.
    pub(super) fn fail(&mut self, fault: Http2Fault) -> Http2Fault {
        self.end(fault.code());
        fault
    }
}
