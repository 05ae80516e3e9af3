//! Streamed requests of filters: request and response go on at the same time, piece by piece, over HTTP/2.

use std::future::poll_fn;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use eddy_filter::{StreamEvent, StreamPart};
use eddy_http::{BodyReader, HeadFault, HeadLimits, HeadScanner, RequestBody, ResponseHead};
use eddy_ids::Millis;
use eddy_io::{BUFFER_BYTES_SMALL, Buffer, Fill};
use eddy_model::LimitKind;
use eddy_upstream::TriedEndpoints;
use eddy_upstream::client::INTERIM_MAX;
use tokio::time::sleep;

use crate::h2::AfterData;
use crate::host::{OutboundOrder, UploadQueue};
use crate::outbound::fetch::{Reason, write_head};
use crate::outbound::serve::abandoned;
use crate::upstream::{EndpointGuard, LinkRequirement, LinkStream, UpstreamChannel};
use crate::worker::Worker;

/// Executes a streamed order: reports the parts of its response, and its end, unless the filter has cancelled it.
pub(crate) async fn serve_stream(worker: Rc<Worker>, order: OutboundOrder, upload: Arc<UploadQueue>) {
    let given_up = Arc::clone(&order.given_up);
    let limit = (order.timeout > Millis::ZERO).then(|| order.timeout.as_duration());
    let ended = {
        let mut running = pin!(run(&worker, &order, &upload));
        let mut leaving = pin!(given_up.notified());
        #[expect(clippy::disallowed_methods, reason = "the time limit that the filter has set for the call")]
        let mut elapsing = pin!(sleep(limit.unwrap_or(Duration::MAX)));
        loop {
            tokio::select! {
                ended = &mut running => break ended,
                () = &mut leaving => return,
                () = &mut elapsing, if limit.is_some() => break Err("timeout"),
                () = worker.ticked.notified() => {
                    // Without its library, no filter can receive the response or cancel the request.
                    if worker.crossing.host.library(order.filter).is_none() {
                        break Err("library_gone");
                    }
                    if let Some(why) = abandoned(&worker, &order) {
                        break Err(why);
                    }
                }
            }
        }
    };
    if !worker.crossing.host.orders.end(order.filter, order.token) {
        return;
    }
    match ended {
        Ok(reader) => tell(&worker, &order, StreamPart::End { trailers: reader.trailers() }),
        Err(reason) => tell(&worker, &order, StreamPart::Failed { reason }),
    }
}

/// Sends the request and reports the parts of the response; returns its reader, which has the trailers.
async fn run(worker: &Rc<Worker>, order: &OutboundOrder, upload: &UploadQueue) -> Result<BodyReader, Reason> {
    let cluster = worker.plan().cluster(&order.cluster).cloned().ok_or("unknown_cluster")?;
    let head = write_head(worker, order, RequestBody::Chunked)?;
    let admitted = cluster.take(LimitKind::Requests).map_err(|fault| fault.reason())?;
    let now = worker.timers.now();
    let lease =
        cluster.state().borrow_mut().select(now, &mut worker.rng.borrow_mut(), &mut TriedEndpoints::new());
    let guard =
        lease.and_then(|lease| EndpointGuard::begin(&cluster, lease, admitted)).ok_or("no_endpoint")?;
    let failed = |reason| {
        guard.failed(worker.timers.now());
        reason
    };
    let stream = open(worker, &guard, &head).await?;
    let mut exchange = StreamedExchange {
        stream,
        upload,
        pending: Vec::new(),
        sent: 0,
        is_upload_complete: false,
        is_upload_ended: false,
        input: worker.buffers.take_large(),
        scanner: HeadScanner::for_responses(),
        head: ResponseHead::new(),
        reader: None,
        interims: 0,
    };
    loop {
        match poll_fn(|cx| exchange.poll(cx, order)).await.map_err(failed)? {
            ResponsePart::Head(length) => {
                let bytes = exchange.input.front(length).to_vec();
                exchange.input.consume(length);
                let status = exchange.head.status;
                if matches!(status, 502..=504) {
                    guard.failed(worker.timers.now());
                } else {
                    guard.succeeded(worker.timers.now());
                }
                tell(worker, order, StreamPart::Head { status, fields: exchange.head.fields(&bytes) });
            }
            ResponsePart::Data(length) => {
                tell(worker, order, StreamPart::Data(exchange.input.front(length)));
                exchange.input.consume(length);
            }
            ResponsePart::End => {
                worker.buffers.put(exchange.input);
                return Ok(exchange.reader.unwrap_or_default());
            }
        }
    }
}

/// Opens an HTTP/2 stream with the head of the request.
async fn open(worker: &Rc<Worker>, guard: &EndpointGuard, head: &[u8]) -> Result<LinkStream, Reason> {
    let mut wanted = LinkRequirement::Quiet;
    for _ in 0..OPEN_TRIES {
        let channel = worker.obtain(guard, wanted).await.map_err(|fault| {
            if fault.blames_endpoint() {
                guard.failed(worker.timers.now());
            }
            fault.reason()
        })?;
        let UpstreamChannel::Stream(stream) = channel else { return Err("not_http2") };
        let ends_request = false;
        if stream.framed().send_head(head, ends_request).is_ok() {
            return Ok(stream);
        }
        // The link has ended meanwhile; nothing of the request was sent.
        wanted = LinkRequirement::New;
    }
    guard.failed(worker.timers.now());
    Err("link_closed")
}

/// Reports a part of a response to the filter.
fn tell(worker: &Worker, order: &OutboundOrder, part: StreamPart<'_>) {
    let Some(library) = worker.crossing.host.library(order.filter) else { return };
    let event = StreamEvent { filter: order.filter, token: order.token, worker: worker.number(), part };
    library.stream_event(&event);
}

/// A request whose body is sent while its response is read.
struct StreamedExchange<'u> {
    stream: LinkStream,
    upload: &'u UploadQueue,
    /// Data to send, of which the first `sent` bytes are sent.
    pending: Vec<u8>,
    sent: usize,
    /// Whether `pending` ends the body.
    is_upload_complete: bool,
    /// Whether nothing is sent any more.
    is_upload_ended: bool,
    input: Buffer,
    scanner: HeadScanner,
    head: ResponseHead,
    /// Reader of the body, once the final head was read.
    reader: Option<BodyReader>,
    interims: u8,
}

/// Part of a response at the front of the input.
enum ResponsePart {
    /// The final head, of this length.
    Head(usize),
    /// Data of this length.
    Data(usize),
    /// The response is complete.
    End,
}

impl StreamedExchange<'_> {
    /// Sends what it can, and returns the next part of the response.
    fn poll(&mut self, cx: &mut Context<'_>, order: &OutboundOrder) -> Poll<Result<ResponsePart, Reason>> {
        self.poll_upload(cx);
        loop {
            if let Some(part) = self.next_part(order)? {
                return Poll::Ready(Ok(part));
            }
            if self.input.room().is_empty() {
                self.input.grow((2 * self.input.capacity()).max(BUFFER_BYTES_SMALL));
            }
            match ready!(self.stream.framed().poll_read(cx, &mut self.input)) {
                Ok(Fill::Bytes(_)) => {}
                Ok(Fill::End) => {
                    let reader = self.reader.as_mut().ok_or("link_closed")?;
                    let trailers = self.stream.framed().trailers();
                    let is_complete = reader.end_http2(&trailers);
                    return Poll::Ready(if is_complete {
                        Ok(ResponsePart::End)
                    } else {
                        Err("response_cut")
                    });
                }
                Err(_) if self.reader.is_some() => return Poll::Ready(Err("response_cut")),
                Err(_) => return Poll::Ready(Err("link_closed")),
            }
        }
    }

    fn poll_upload(&mut self, cx: &Context<'_>) {
        while !self.is_upload_ended {
            if self.sent == self.pending.len() && !self.is_upload_complete {
                self.pending.clear();
                self.sent = 0;
                let Poll::Ready(is_complete) = self.upload.poll_take(cx, &mut self.pending) else { return };
                self.is_upload_complete = is_complete;
            }
            let rest = self.pending.get(self.sent..).unwrap_or_default();
            if rest.is_empty() {
                // The response counts, even if the endpoint accepts no more.
                let _ = self.stream.framed().send_end(&[]);
                self.is_upload_ended = true;
                return;
            }
            let after = if self.is_upload_complete { AfterData::End } else { AfterData::More };
            match self.stream.framed().poll_send(cx, rest, &[], after) {
                Poll::Pending => return,
                Poll::Ready(Err(_)) => self.is_upload_ended = true,
                Poll::Ready(Ok(count)) => {
                    self.sent += count;
                    self.is_upload_ended = self.is_upload_complete && self.sent == self.pending.len();
                }
            }
        }
    }

    /// Returns the next part that has arrived.
    fn next_part(&mut self, order: &OutboundOrder) -> Result<Option<ResponsePart>, Reason> {
        if let Some(reader) = &mut self.reader {
            let piece = reader.next(self.input.held()).map_err(|_| "response_chunk")?;
            self.input.consume(piece.skip);
            if piece.data > 0 {
                return Ok(Some(ResponsePart::Data(piece.data)));
            }
            return Ok(reader.is_done().then_some(ResponsePart::End));
        }
        loop {
            let held = self.input.held();
            let limits = HeadLimits::default();
            let parsed = self.head.parse_growing(&mut self.scanner, held, &limits, order.method);
            let Some(length) = parsed.map_err(|_: HeadFault| "response_head")? else { return Ok(None) };
            self.scanner.reset();
            if !self.head.is_interim() {
                self.head.note_http2(self.stream.has_body());
                let mut reader = BodyReader::default();
                reader.begin_response(self.head.body_read());
                self.reader = Some(reader);
                return Ok(Some(ResponsePart::Head(length)));
            }
            self.input.consume(length);
            self.interims += 1;
            if self.interims > INTERIM_MAX {
                return Err("interim_flood");
            }
        }
    }
}

/// Number of links on which the stream is tried to be opened.
const OPEN_TRIES: u8 = 3;
