//! One connection to the origin: reads requests one after another and writes their responses.

use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::answer::{OriginRequest, OriginResponseCache, RequestedResource};

/// A connection of one peer.
#[derive(Debug)]
pub(super) struct OriginConnection {
    socket: OwnedFd,
    /// The part of a head received so far; empty when heads arrive whole, as they nearly always do.
    head: Vec<u8>,
    body: Option<RequestBodyProgress>,
    answer: Option<PendingResponse>,
}

/// The event that the connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionInterest {
    /// Readable.
    Read,
    /// Writable.
    Write,
    /// None: the connection is at its end.
    Close,
}

#[derive(Clone, Copy, Debug)]
struct RequestBodyProgress {
    request: OriginRequest,
    /// Bytes to come; at least one for a chunked body.
    left: u64,
    /// Last bytes so far of a chunked body.
    tail: [u8; 5],
}

#[derive(Debug)]
struct PendingResponse {
    bytes: Rc<[u8]>,
    sent: usize,
    is_last: bool,
}

impl OriginConnection {
    pub(super) fn new(socket: OwnedFd) -> Self {
        Self { socket, head: Vec::new(), body: None, answer: None }
    }

    pub(super) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    /// Reads once and responds to a request that became complete.
    pub(super) fn handle_readable(
        &mut self,
        buffer: &mut [u8],
        answers: &mut OriginResponseCache,
    ) -> ConnectionInterest {
        let count = match recv(&self.socket, &mut *buffer, RecvFlags::DONTWAIT) {
            Ok((0, _)) => return ConnectionInterest::Close,
            Ok((count, _)) => count,
            Err(Errno::AGAIN | Errno::INTR) => return ConnectionInterest::Read,
            Err(_) => return ConnectionInterest::Close,
        };
        let mut bytes = buffer.get(..count).unwrap_or_default();
        while !bytes.is_empty() {
            // One request at a time: proxies do not pipeline, and a peer that does is disconnected.
            if self.answer.is_some() {
                return ConnectionInterest::Close;
            }
            let Some(used) = self.take(bytes, answers) else { return ConnectionInterest::Close };
            bytes = bytes.get(used..).unwrap_or_default();
            if self.handle_writable() == ConnectionInterest::Close {
                return ConnectionInterest::Close;
            }
        }
        if self.answer.is_some() { ConnectionInterest::Write } else { ConnectionInterest::Read }
    }

    /// Writes the rest of the response.
    pub(super) fn handle_writable(&mut self) -> ConnectionInterest {
        let Some(answer) = &mut self.answer else { return ConnectionInterest::Read };
        while let Some(rest) = answer.bytes.get(answer.sent..).filter(|rest| !rest.is_empty()) {
            match send(&self.socket, rest, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(count) => answer.sent += count,
                Err(Errno::AGAIN | Errno::INTR) => return ConnectionInterest::Write,
                Err(_) => return ConnectionInterest::Close,
            }
        }
        let is_last = answer.is_last;
        self.answer = None;
        if is_last { ConnectionInterest::Close } else { ConnectionInterest::Read }
    }

    /// Consumes bytes of a head or body and returns how many; `None` disconnects the peer.
    fn take(&mut self, bytes: &[u8], answers: &mut OriginResponseCache) -> Option<usize> {
        if let Some(body) = &mut self.body {
            let taken = if body.request.is_chunked {
                bytes.iter().for_each(|byte| {
                    body.tail.rotate_left(1);
                    body.tail[4] = *byte;
                });
                // A peer sends nothing after the last chunk, and no message of the benchmark contains these bytes.
                body.left = u64::from(body.tail != *LAST_CHUNK);
                bytes.len() as u64
            } else {
                let taken = body.left.min(bytes.len() as u64);
                body.left -= taken;
                taken
            };
            if body.left == 0 {
                let request = body.request;
                self.body = None;
                self.begin_answer(request, &[], answers);
            }
            return usize::try_from(taken).ok();
        }
        let held = self.head.len();
        let parsed = if held == 0 {
            OriginRequest::parse(bytes)
        } else {
            self.head.extend_from_slice(bytes);
            OriginRequest::parse(&self.head)
        };
        let Some(request) = parsed else {
            if held == 0 {
                self.head.extend_from_slice(bytes);
            }
            return (self.head.len() <= HEAD_BYTES_MAX).then_some(bytes.len());
        };
        let head = std::mem::take(&mut self.head);
        if request.body_bytes > 0 || request.is_chunked {
            let left = request.body_bytes.max(1);
            self.body = Some(RequestBodyProgress { request, left, tail: [0; 5] });
        } else {
            let head = if held == 0 { bytes } else { &head };
            self.begin_answer(request, head.get(..request.head_bytes).unwrap_or_default(), answers);
        }
        request.head_bytes.checked_sub(held)
    }

    fn begin_answer(&mut self, request: OriginRequest, head: &[u8], answers: &mut OriginResponseCache) {
        let is_last = request.is_last || request.ask == RequestedResource::Unknown;
        let bytes = answers.answer(request.ask, request.body_bytes, head);
        self.answer = Some(PendingResponse { bytes, sent: 0, is_last });
    }
}

const LAST_CHUNK: &[u8; 5] = b"0\r\n\r\n";
const HEAD_BYTES_MAX: usize = 16 * 1024;
