//! Client side of an HTTP/2 connection: requests that are sent, and their responses.

use super::code::{ErrorCode, Refused};
use super::connection::{EndedStream, GoawayProgress, Http2, Http2ReadStage};
use super::fields::HeadRejection;
use super::frame::{FLAG_END_STREAM, STREAM_MAX};
use super::hpack::{PseudoHeaders, encode_pseudo_headers};
use super::role::Http2Role;
use super::send::{Lines, encode_lines, split_line};
use super::stream::{Gone, Http2StreamState, Loss};
use crate::websocket::websocket_accept;

/// A request whose head was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedStream {
    /// Stream ID.
    pub stream: u32,
    /// Length of the head in text form.
    pub length: usize,
}

impl Http2 {
    /// Whether requests may be sent: neither side has sent GOAWAY and the connection is open.
    pub fn may_open(&self) -> bool {
        self.stage != Http2ReadStage::Over
            && self.leaving == GoawayProgress::No
            && self.goaway.is_none()
            && self.last < STREAM_MAX - 2
    }

    /// Returns the maximum concurrent requests.
    pub fn streams_max(&self) -> u32 {
        self.limits.streams_max.min(self.peer.streams_max)
    }

    /// Whether the server's SETTINGS frame, its first frame, has been received.
    pub fn is_settled(&self) -> bool {
        self.stage == Http2ReadStage::Frames
    }

    /// Whether the server accepts requests for WebSockets; known once its SETTINGS frame has been received.
    ///
    /// # Spec
    /// RFC 8441 §3
    pub fn supports_tunnels(&self) -> bool {
        self.peer.supports_tunnels
    }

    /// Opens a stream and sends the request head at the beginning of `text`, in the form in which eddy writes heads
    /// towards an endpoint. `ends` means that nothing follows the head.
    ///
    /// An upgrade to WebSocket is sent as an extended `CONNECT`, and a success response is presented as `101` of
    /// HTTP/1.1. Data follows in both directions, whatever the value of `ends`.
    ///
    /// # Errors
    /// When no request may be sent, the maximum of concurrent requests is reached, or the request asks for an upgrade
    /// that the server does not accept. Nothing has been sent to the server.
    ///
    /// # Cost
    /// Two passes over the head, a third for an upgrade; no allocation except for the stream, once as much was sent
    /// before.
    ///
    /// # Spec
    /// RFC 8441 §4, §5
    pub fn open(&mut self, text: &[u8], ends: bool) -> Result<OpenedStream, Gone> {
        let Http2Role::Client { scheme } = self.role else { return Err(Gone) };
        if !self.may_open() || self.streams.len() >= self.streams_max() as usize {
            return Err(Gone);
        }
        let mut lines = Lines(text);
        let Some((method, path)) = lines.next().and_then(method_and_target) else { return Err(Gone) };
        let upgrade = value_of(Lines(lines.0), b"upgrade");
        let accept = match upgrade {
            None => None,
            Some(protocol) if protocol.eq_ignore_ascii_case(b"websocket") && self.peer.supports_tunnels => {
                Some(websocket_accept(value_of(Lines(lines.0), KEY).unwrap_or_default()))
            }
            Some(_) => return Err(Gone),
        };
        let ends = ends && accept.is_none();
        let asked = PseudoHeaders {
            method: if accept.is_some() { b"CONNECT" } else { method },
            scheme,
            authority: value_of(Lines(lines.0), b"host").unwrap_or_default(),
            path,
            protocol: if accept.is_some() { b"websocket" } else { b"" },
        };
        let mut block = std::mem::take(&mut self.sent_block);
        encode_pseudo_headers(&mut block, &asked, !self.has_sent_block);
        let without = if accept.is_some() { KEY } else { b"" };
        encode_lines(&mut block, &mut self.sent_name, &mut lines, without);
        let id = if self.last == 0 { 1 } else { self.last + 2 };
        self.last = id;
        let mut stream = Http2StreamState::new(self.limits.stream_window, self.peer.stream_window);
        stream.is_for_head = method == b"HEAD";
        stream.is_tunnel = accept.is_some();
        stream.accept = accept;
        stream.is_send_ended = ends;
        self.streams.insert(id, stream);
        self.write_block(id, block, if ends { FLAG_END_STREAM } else { 0 });
        Ok(OpenedStream { stream: id, length: text.len() - lines.0.len() })
    }

    /// Returns the reason why a request was lost.
    pub fn loss(&self, id: u32) -> Loss {
        self.streams.get(&id).and_then(|stream| stream.loss).unwrap_or(Loss::ConnectionEnded)
    }

    /// Whether anything follows the final response head; valid once that head has been read.
    pub fn has_body(&self, id: u32) -> bool {
        self.streams.get(&id).is_none_or(|stream| stream.has_body)
    }

    /// Processes a response head, interim or final.
    pub(super) fn answer(&mut self, id: u32, is_ended: bool) -> Result<(), Refused> {
        let Some(stream) = self.streams.get_mut(&id) else { return Ok(()) };
        let before = stream.body.len();
        let answered =
            self.fields.write_answer(&mut stream.body, is_ended, stream.is_for_head, stream.accept);
        let answered = answered.map_err(|unanswered| {
            if let HeadRejection::Head(fault) = unanswered {
                stream.loss = Some(Loss::Head(fault));
            }
            Refused::Stream(id, ErrorCode::Protocol)
        })?;
        stream.head_bytes += stream.body.len() - before;
        // Unread interim responses must not accumulate.
        if stream.head_bytes > 2 * self.limits.head.head_bytes_max as usize {
            return Err(Refused::Stream(id, ErrorCode::EnhanceYourCalm));
        }
        if answered.status >= 200 {
            stream.is_answered = true;
            stream.owed = answered.length;
            stream.has_body = !is_ended;
            stream.is_recv_ended = is_ended;
        }
        self.wake(id);
        Ok(())
    }

    /// Processes a reset by the server. After a complete response it only means that the server ignores the rest of the
    /// request.
    ///
    /// # Spec
    /// RFC 9113 §8.1, §8.7
    pub(super) fn take_reset(&mut self, id: u32, code: Option<u32>) {
        let Some(stream) = self.streams.get_mut(&id) else { return };
        let is_refused = code == Some(ErrorCode::RefusedStream as u32) && !stream.is_answered;
        stream.lose(if is_refused { Loss::Refused } else { Loss::Reset });
        self.wake(id);
    }

    /// Processes GOAWAY from the peer. Requests that the server has not processed can be sent again elsewhere.
    ///
    /// # Spec
    /// RFC 9113 §6.8
    pub(super) fn goaway(&mut self, payload: &[u8]) -> Result<(), Refused> {
        let Some([l0, l1, l2, l3, ..]) = payload.first_chunk::<8>() else { return Err(Refused::FRAME_SIZE) };
        let Http2Role::Client { .. } = self.role else {
            // The server opens no streams, so the last stream ID does not matter.
            return Ok(());
        };
        let last = u32::from_be_bytes([*l0, *l1, *l2, *l3]) & STREAM_MAX;
        // The last stream ID never increases and belongs to a stream of the client.
        if self.goaway.is_some_and(|before| last > before) || (last > 0 && last.is_multiple_of(2)) {
            return Err(Refused::PROTOCOL);
        }
        self.goaway = Some(last);
        let beyond = (std::ops::Bound::Excluded(last), std::ops::Bound::Unbounded);
        for (id, stream) in self.streams.range_mut(beyond) {
            stream.lose(Loss::GoawayBeforeProcessing);
            self.woken.push_back(*id);
        }
        Ok(())
    }

    /// Stops sending requests; sends GOAWAY once all responses are complete.
    pub(super) fn shut_down_client(&mut self) {
        if self.stage != Http2ReadStage::Over && self.leaving == GoawayProgress::No {
            self.leaving = GoawayProgress::Last(0);
            self.send_client_goaway();
        }
    }

    /// Closes a stream on the client side; resets it if its response is no longer wanted or its request is incomplete.
    pub(super) fn finish_request(&mut self, id: u32, stream: &Http2StreamState, code: ErrorCode) {
        if stream.is_recv_ended {
            self.meter.answered();
        }
        // Where only the end of a response is missing, there is nothing to cancel.
        let is_whole = stream.is_recv_ended || (stream.is_answered && stream.owed == Some(0));
        let is_cut = !stream.is_recv_ended || !stream.is_send_ended;
        if self.stage != Http2ReadStage::Over && !(is_whole && stream.is_send_ended) {
            self.write_reset(id, code);
        }
        self.note_ended(EndedStream { stream: id, is_cut });
        self.send_client_goaway();
    }

    fn send_client_goaway(&mut self) {
        if self.stage != Http2ReadStage::Over
            && self.leaving == GoawayProgress::Last(0)
            && self.streams.is_empty()
        {
            self.write_goaway(0, ErrorCode::NoError);
        }
    }
}

/// Returns method and target of a request line such as `GET / HTTP/1.1`.
fn method_and_target(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.strip_suffix(b" HTTP/1.1")?;
    let space = memchr::memchr(b' ', line)?;
    let (method, rest) = line.split_at_checked(space)?;
    Some((method, rest.get(1..)?))
}

/// Returns the value of the first field with this name.
fn value_of<'t>(lines: Lines<'t>, wanted: &[u8]) -> Option<&'t [u8]> {
    let mut fields = lines.take_while(|line| !line.is_empty()).filter_map(split_line);
    fields.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value)
}

/// Not used in HTTP/2, because streams cannot be confused with other connections.
const KEY: &[u8] = b"sec-websocket-key";
