//! HTTP/2 connection state: streams, flow-control windows and output.

use std::collections::{BTreeMap, VecDeque};

use eddy_ids::WorkerTime;

use super::code::{ErrorCode, Http2Fault};
use super::fields::FieldList;
use super::frame::{self, STREAM_MAX, signed, write_frame};
use super::growth::WindowGrowth;
use super::hpack::Decoder;
use super::limits::Http2Limits;
use super::meter::AbuseMeter;
use super::preface::PREFACE;
use super::role::Http2Role;
use super::settings::{PeerSettings, WINDOW, write_local_settings};
use super::stream::{BodyReadResult, Gone, H2Head, Http2StreamState, Loss, ResetInitiator, Unread};

/// Output size from which on streams wait with their data and no more input should be read.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;
/// Ended streams that are remembered, to distinguish frames that crossed the end from protocol errors.
const ENDED_MAX: usize = 256;
/// Capacity above which memory is freed once it is not needed.
const KEPT_BYTES_MAX: usize = 4 * 1024;
/// Payload of the PING frame whose acknowledgement tells that the client has received GOAWAY.
pub(super) const SHUTDOWN_PING_PAYLOAD: [u8; 8] = *b"eddy.bye";

/// An HTTP/2 connection, on the server side ([`Self::new`]) or the client side ([`Self::client`]).
///
/// Does no I/O and knows no tasks. The driver of the connection feeds received bytes ([`Self::receive`]; on the server
/// side not while [`Self::is_full`]), writes [`Self::output`] and wakes the streams from [`Self::next_woken`]. A server
/// starts an exchange for each stream from [`Self::next_opened`], which calls [`Self::take_head`]; a client's exchange
/// calls [`Self::open`]. Both read and write their stream and [`Self::finish`] it.
///
/// A client must continue to read even while it cannot write; otherwise two peers that both wait for the other to read
/// would deadlock. The abuse budget limits the additional output.
///
/// Memory is limited by [`Http2Limits`]: bodies by the windows, heads by the number of streams, and the output, beyond
/// 64 KiB, by the replies to one read.
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
    /// Field block that has begun and is incomplete.
    pub(super) block: Option<Block>,
    pub(super) block_bytes: Vec<u8>,
    pub(super) streams: BTreeMap<u32, Http2StreamState>,
    /// Highest stream ID opened by the client.
    pub(super) last: u32,
    /// Last stream ID that the server processes, once GOAWAY was received from it.
    pub(super) goaway: Option<u32>,
    pub(super) ended: VecDeque<EndedStream>,
    pub(super) send_window: i64,
    pub(super) recv_window: i64,
    /// Bytes read from all streams, but not yet acknowledged by WINDOW_UPDATE; negative while credit is taken back.
    pub(super) unreleased: i64,
    pub(super) growth: WindowGrowth,
    /// Time of the last received bytes, in milliseconds of the caller's clock.
    pub(super) now: WorkerTime,
    pub(super) out: Vec<u8>,
    /// Bytes of the output that were written.
    out_written: usize,
    /// Whether a field block was sent.
    pub(super) has_sent_block: bool,
    /// Reusable memory for outgoing field blocks and names.
    pub(super) sent_block: Vec<u8>,
    pub(super) sent_name: Vec<u8>,
    pub(super) meter: AbuseMeter,
    pub(super) leaving: GoawayProgress,
    opened: VecDeque<u32>,
    pub(super) woken: VecDeque<u32>,
    /// Streams that wait for the connection window or for space in the output.
    pub(super) stalled: Vec<u32>,
}

/// Expected input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Http2ReadStage {
    Preface,
    /// The peer's SETTINGS frame, which is its first frame.
    Settings,
    Frames,
    /// None: the connection has ended.
    Over,
}

/// An incomplete field block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) stream: u32,
    pub(super) ends_stream: bool,
    pub(super) purpose: Purpose,
}

/// Meaning of a field block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Request,
    Answer,
    Trailers,
    /// Decoded to keep the compression state, then dropped.
    Nothing,
    /// Decoded to keep the compression state, then the stream is reset.
    Reset(ErrorCode),
}

/// An ended stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndedStream {
    pub(super) stream: u32,
    /// Whether this side ended it while the peer might still be sending.
    pub(super) is_cut: bool,
}

/// Progress of the shutdown announcement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoawayProgress {
    No,
    /// GOAWAY with the maximum stream ID was sent; requests that the client sent before receiving it are served.
    FirstGoawaySent,
    /// GOAWAY with the actual last stream ID was sent.
    Last(u32),
}

impl Http2 {
    /// Creates the server side of a new connection; the output contains the SETTINGS frame.
    pub fn new(limits: Http2Limits, now: WorkerTime) -> Self {
        Self::with(Http2Role::Server, Http2ReadStage::Preface, Vec::new(), limits, now)
    }

    /// Creates the client side of a new connection for requests with this scheme; the output contains the preface and
    /// the SETTINGS frame. `streams_max` of the limits is the maximum of concurrent requests, if the server allows as
    /// many.
    pub fn client(scheme: &'static str, limits: Http2Limits, now: WorkerTime) -> Self {
        Self::with(Http2Role::Client { scheme }, Http2ReadStage::Settings, PREFACE.to_vec(), limits, now)
    }

    fn with(
        role: Http2Role,
        stage: Http2ReadStage,
        mut out: Vec<u8>,
        limits: Http2Limits,
        now: WorkerTime,
    ) -> Self {
        write_local_settings(&mut out, &limits, role);
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
            growth: WindowGrowth::default(),
            now,
            out,
            out_written: 0,
            has_sent_block: false,
            sent_block: Vec::new(),
            sent_name: Vec::new(),
            meter: AbuseMeter::new(limits.budget, now),
            leaving: GoawayProgress::No,
            opened: VecDeque::new(),
            woken: VecDeque::new(),
            stalled: Vec::new(),
        }
    }

    /// Returns the bytes to be written.
    pub fn output(&self) -> &[u8] {
        self.out.get(self.out_written..).expect("no more is written than there is")
    }

    /// Marks the first `count` bytes of the output as written.
    pub fn written(&mut self, count: usize) {
        self.out_written += count;
        self.meter.written(count);
        if self.out_written >= self.out.len() {
            self.out.clear();
            self.out.shrink_to(KEPT_BYTES_MAX);
            self.out_written = 0;
        } else if self.out_written >= OUTPUT_BYTES_MAX {
            // A client that never reads all output must not make it grow.
            self.out.drain(..self.out_written);
            self.out_written = 0;
        }
        if !self.is_full() {
            self.wake_stalled();
        }
    }

    /// Whether so much output is pending that no more input should be read.
    pub fn is_full(&self) -> bool {
        self.output().len() >= OUTPUT_BYTES_MAX
    }

    /// Returns the next stream on which a request head has arrived.
    pub fn next_opened(&mut self) -> Option<u32> {
        self.opened.pop_front()
    }

    /// Returns the next stream with a change: it has become readable or writable, or was reset.
    pub fn next_woken(&mut self) -> Option<u32> {
        self.woken.pop_front()
    }

    /// Whether there is an active exchange.
    pub fn has_streams(&self) -> bool {
        !self.streams.is_empty()
    }

    /// Whether a field block is incomplete: its request is late.
    pub fn is_in_block(&self) -> bool {
        self.block.is_some()
    }

    /// Whether a shutdown was announced to the client, but not yet its actual last stream ID.
    pub fn is_shutting_down(&self) -> bool {
        self.leaving == GoawayProgress::FirstGoawaySent
    }

    /// Whether the connection is finished except for writing the output.
    pub fn is_over(&self) -> bool {
        let is_last = matches!(self.leaving, GoawayProgress::Last(_)) || self.goaway.is_some();
        self.stage == Http2ReadStage::Over || (is_last && self.streams.is_empty())
    }

    /// Starts a graceful shutdown with GOAWAY. A client gets the last stream ID once it has acknowledged the
    /// announcement; a server gets GOAWAY once all requests to it are complete.
    ///
    /// # Spec
    /// RFC 9113 §6.8
    pub fn leave(&mut self) {
        if self.role != Http2Role::Server {
            return self.shut_down_client();
        }
        if self.stage != Http2ReadStage::Over && self.leaving == GoawayProgress::No {
            self.leaving = GoawayProgress::FirstGoawaySent;
            self.write_goaway(STREAM_MAX, ErrorCode::NoError);
            write_frame(&mut self.out, frame::PING, 0, 0, &SHUTDOWN_PING_PAYLOAD);
        }
    }

    /// Sends GOAWAY with the last stream ID to the client.
    pub fn send_final_goaway(&mut self) {
        if self.stage != Http2ReadStage::Over && !matches!(self.leaving, GoawayProgress::Last(_)) {
            self.leaving = GoawayProgress::Last(self.last);
            self.write_goaway(self.last, ErrorCode::NoError);
        }
    }

    /// Ends the connection and all its streams.
    pub fn end(&mut self, code: ErrorCode) {
        if self.stage != Http2ReadStage::Over {
            self.stage = Http2ReadStage::Over;
            self.write_goaway(if self.role == Http2Role::Server { self.last } else { 0 }, code);
        }
        self.fail_all_streams(Loss::Broken);
    }

    /// Marks the transport as closed: no more input will arrive and output is pointless.
    pub fn cut(&mut self) {
        self.stage = Http2ReadStage::Over;
        self.fail_all_streams(Loss::ConnectionEnded);
    }

    fn fail_all_streams(&mut self, loss: Loss) {
        for (id, stream) in &mut self.streams {
            match self.role {
                Http2Role::Server => stream.end_both(ResetInitiator::Peer),
                Http2Role::Client { .. } => stream.lose(loss),
            }
            self.woken.push_back(*id);
        }
    }

    /// Takes the head of an opened stream.
    pub fn take_head(&mut self, id: u32) -> Option<H2Head> {
        self.streams.get_mut(&id).map(|stream| std::mem::take(&mut stream.head))
    }

    /// Reads received body data; of a response, its heads in text form come first.
    ///
    /// # Errors
    /// When the client has reset its request, or the request was lost.
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

    /// Whether a read makes progress: there is data, the end of the body, or a reset.
    pub fn is_readable(&self, id: u32) -> bool {
        self.streams.get(&id).is_none_or(|stream| {
            stream.reset.is_some() || stream.is_recv_ended || !stream.unread().is_empty()
        })
    }

    /// Returns the size of the received and unread body data.
    pub fn unread(&self, id: u32) -> Unread {
        self.streams.get(&id).map_or(Unread { bytes: 0, is_last: true }, |stream| Unread {
            bytes: stream.unread_data(),
            is_last: stream.is_recv_ended,
        })
    }

    /// Returns the trailers of a complete body, in the form of the end of a chunked body; empty for none.
    pub fn trailers(&self, id: u32) -> &[u8] {
        self.streams.get(&id).map_or(&[], |stream| &stream.trailers)
    }

    /// Whether the client has reset its request.
    pub fn is_gone(&self, id: u32) -> bool {
        self.streams.get(&id).is_none_or(|stream| stream.reset.is_some())
    }

    /// Closes a stream. An incomplete response is reset with `code`. So is an incomplete request; a server uses
    /// [`ErrorCode::NoError`] where the response is complete (RFC 9113 §8.1).
    pub fn finish(&mut self, id: u32, code: ErrorCode) {
        let Some(stream) = self.streams.remove(&id) else { return };
        self.stalled.retain(|stalled| *stalled != id);
        // The peer has this credit; it is withheld from what is released next.
        self.unreleased -= i64::from(self.growth.shrink(stream.window, &self.limits));
        self.release(stream.unread_data());
        match stream.reset {
            Some(ResetInitiator::Peer) => self.note_ended(EndedStream { stream: id, is_cut: false }),
            // Recorded when it was reset.
            Some(ResetInitiator::Own) => {}
            None if self.role == Http2Role::Server => self.finish_response(id, &stream, code),
            None => self.finish_request(id, &stream, code),
        }
    }

    fn finish_response(&mut self, id: u32, stream: &Http2StreamState, code: ErrorCode) {
        if stream.is_send_ended {
            self.meter.answered();
        }
        let is_cut = !stream.is_send_ended || !stream.is_recv_ended;
        if is_cut {
            let code = if stream.is_send_ended { ErrorCode::NoError } else { code };
            self.write_reset(id, code);
        }
        self.note_ended(EndedStream { stream: id, is_cut });
    }

    pub(super) fn write_reset(&mut self, id: u32, code: ErrorCode) {
        write_frame(&mut self.out, frame::RST_STREAM, 0, id, &(code as u32).to_be_bytes());
    }

    pub(super) fn write_goaway(&mut self, last: u32, code: ErrorCode) {
        let [a, b, c, d] = last.to_be_bytes();
        let [e, f, g, h] = (code as u32).to_be_bytes();
        write_frame(&mut self.out, frame::GOAWAY, 0, 0, &[a, b, c, d, e, f, g, h]);
    }

    pub(super) fn note_ended(&mut self, ended: EndedStream) {
        if self.ended.len() == ENDED_MAX {
            self.ended.pop_front();
        }
        self.ended.push_back(ended);
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

    /// Returns `count` bytes to the connection window, in WINDOW_UPDATE frames of at least half a window.
    pub(super) fn release(&mut self, count: usize) {
        self.unreleased += signed(count);
        let is_due = self.unreleased >= i64::from(self.limits.connection_window / 2);
        if self.stage != Http2ReadStage::Over && is_due {
            let more = u32::try_from(std::mem::take(&mut self.unreleased)).unwrap_or(STREAM_MAX);
            self.recv_window += i64::from(more);
            write_frame(&mut self.out, frame::WINDOW_UPDATE, 0, 0, &more.to_be_bytes());
        }
    }

    /// Returns `count` bytes to the window of a stream, in WINDOW_UPDATE frames of at least half a window.
    pub(super) fn release_stream(&mut self, id: u32, count: usize) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        stream.unreleased += u32::try_from(count).unwrap_or(u32::MAX);
        let is_open = !stream.is_recv_ended && stream.reset.is_none();
        if is_open && stream.unreleased >= self.limits.stream_window / 2 {
            stream.grow(0, id, &mut self.out);
        }
    }

    /// Ends the connection because of `fault`, and returns it.
    pub(super) fn fail(&mut self, fault: Http2Fault) -> Http2Fault {
        self.end(fault.code());
        fault
    }
}
