//! A request and its response: sent and read within limits, whatever the channel.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll};

use eddy_http::{BodyReader, ChunkFault, GrpcEnd, HeadFault, HeadLimits, HeadScanner, Method, ResponseHead};
use eddy_io::{BUFFER_BYTES_SMALL, Buffer, Fill};

/// Maximum number of interim responses before the final one.
pub const INTERIM_MAX: u8 = 16;

/// A request in the form in which it is sent.
#[derive(Clone, Copy, Debug)]
pub struct WholeRequest<'r> {
    /// Method of the request.
    pub method: Method,
    /// Head and body, without a transfer coding.
    pub bytes: &'r [u8],
    /// Length of the head.
    pub head_bytes: usize,
}

/// A complete response.
#[derive(Debug)]
pub struct WholeResponse {
    /// The final head.
    pub head: ResponseHead,
    /// Bytes of the head.
    pub head_bytes: Vec<u8>,
    /// Data of the body.
    pub body: Vec<u8>,
    /// gRPC status in its head or trailers.
    pub grpc_end: GrpcEnd,
}

/// A channel to an endpoint for one request and its response: a connection, or a stream of one.
pub trait RequestChannel {
    /// Writes some of what follows the first `sent` bytes of a request; returns the number of bytes.
    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        request: &WholeRequest<'_>,
        sent: usize,
    ) -> Poll<io::Result<usize>>;

    /// Reads more of the response, its heads as HTTP/1 text, into the free space of `input`, which must have some.
    fn poll_receive(&mut self, cx: &mut Context<'_>, input: &mut Buffer) -> Poll<io::Result<Fill>>;

    /// Whether a body follows the final head of a response in HTTP/2 frames, valid once that head was read; `None` for
    /// other responses.
    fn http2_body(&self) -> Option<bool>;

    /// Records the end of the response; returns whether the body may end there.
    fn end_body(&self, body: &mut BodyReader) -> bool;
}

/// Reason why a request has no complete response.
#[derive(Debug, thiserror::Error)]
pub enum ConversationFault {
    /// The endpoint does not accept the request.
    #[error("the request cannot be sent: {0}")]
    Unsent(#[source] io::Error),
    /// The channel ended in the middle of the response, or before any byte of it.
    #[error("connection closed before a response")]
    Closed(ResponseProgress),
    /// As [`Self::Closed`], with an error.
    #[error("connection closed before a response: {1}")]
    Broken(ResponseProgress, #[source] io::Error),
    /// More than [`INTERIM_MAX`] interim responses.
    #[error("too many interim responses")]
    InterimFlood,
    /// The head exceeds [`HeadLimits::head_bytes_max`].
    #[error("the response head is too long")]
    HeadTooLong,
    /// An invalid head.
    #[error("invalid response: {0}")]
    Head(HeadFault),
    /// Broken chunked framing.
    #[error("invalid response: {0}")]
    Chunk(ChunkFault),
    /// The body exceeds its limit.
    #[error("the response is too long")]
    BodyTooLong,
}

/// Part of a response that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseProgress {
    /// Nothing.
    None,
    /// Some bytes, perhaps of interim responses.
    Begun,
}

/// A request and its response, over a channel of their own.
#[derive(Debug)]
pub struct Conversation<'c, C> {
    channel: &'c mut C,
    /// Received bytes that are still to be read; whatever follows the response stays.
    input: &'c mut Buffer,
}

impl WholeRequest<'_> {
    /// Returns what follows the first `sent` bytes.
    pub fn rest(&self, sent: usize) -> &[u8] {
        self.bytes.get(sent..).expect("no more is sent than the request has")
    }

    /// Whether nothing follows the head.
    pub fn is_bodiless(&self) -> bool {
        self.head_bytes == self.bytes.len()
    }
}

impl<'c, C: RequestChannel> Conversation<'c, C> {
    /// Begins a conversation; `input` is empty.
    pub fn new(channel: &'c mut C, input: &'c mut Buffer) -> Self {
        Self { channel, input }
    }

    /// Sends the request and reads the head of the final response, and its bytes.
    ///
    /// # Errors
    /// A [`ConversationFault`].
    pub async fn head(
        &mut self,
        request: &WholeRequest<'_>,
    ) -> Result<(ResponseHead, Vec<u8>), ConversationFault> {
        let mut sent = 0;
        while sent < request.bytes.len() {
            let written = poll_fn(|cx| self.channel.poll_send(cx, request, sent)).await;
            sent += written.map_err(ConversationFault::Unsent)?;
        }
        let (mut head, mut scanner) = (ResponseHead::new(), HeadScanner::for_responses());
        let mut interims = 0;
        loop {
            let held = self.input.held();
            let parsed = head.parse_growing(&mut scanner, held, &HeadLimits::default(), request.method);
            let parsed = parsed.map_err(|fault| match fault == HeadFault::HeadTooLarge {
                true => ConversationFault::HeadTooLong,
                false => ConversationFault::Head(fault),
            });
            let Some(length) = parsed? else {
                let is_first = interims == 0 && self.input.is_empty();
                let progress = if is_first { ResponseProgress::None } else { ResponseProgress::Begun };
                if self.fill(progress).await? == Fill::End {
                    return Err(ConversationFault::Closed(progress));
                }
                continue;
            };
            let bytes = self.input.front(length).to_vec();
            self.input.consume(length);
            scanner.reset();
            if !head.is_interim() {
                self.channel.http2_body().into_iter().for_each(|has_body| head.note_http2(has_body));
                return Ok((head, bytes));
            }
            interims += 1;
            if interims > INTERIM_MAX {
                return Err(ConversationFault::InterimFlood);
            }
        }
    }

    /// Sends the request and reads the complete response, with a body of at most `body_bytes_max` bytes.
    ///
    /// # Errors
    /// A [`ConversationFault`].
    pub async fn response(
        &mut self,
        request: &WholeRequest<'_>,
        body_bytes_max: usize,
    ) -> Result<WholeResponse, ConversationFault> {
        let (head, head_bytes) = self.head(request).await?;
        let mut reader = BodyReader::default();
        reader.begin_response(head.body_read());
        let mut body = Vec::new();
        while !reader.is_done() {
            let piece = reader.next(self.input.held()).map_err(ConversationFault::Chunk)?;
            self.input.consume(piece.skip);
            body.extend_from_slice(self.input.front(piece.data));
            self.input.consume(piece.data);
            if body.len() > body_bytes_max {
                return Err(ConversationFault::BodyTooLong);
            }
            if piece.data == 0
                && !reader.is_done()
                && self.fill(ResponseProgress::Begun).await? == Fill::End
                && !self.channel.end_body(&mut reader)
            {
                return Err(ConversationFault::Closed(ResponseProgress::Begun));
            }
        }
        let in_head = GrpcEnd::of(head.fields(&head_bytes));
        let grpc_end = if in_head == GrpcEnd::NoStatus { GrpcEnd::of(reader.trailers()) } else { in_head };
        Ok(WholeResponse { head, head_bytes, body, grpc_end })
    }

    async fn fill(&mut self, progress: ResponseProgress) -> Result<Fill, ConversationFault> {
        let Self { channel, input } = self;
        if input.room().is_empty() {
            input.grow((2 * input.capacity()).max(BUFFER_BYTES_SMALL));
        }
        let filled = poll_fn(|cx| channel.poll_receive(cx, input)).await;
        filled.map_err(|error| ConversationFault::Broken(progress, error))
    }
}
