//! Responses to gRPC calls of modules: their messages and their status.

use std::collections::VecDeque;

use eddy_filter::{KeptFields, StreamPart};
use eddy_http::{Fields, GrpcEnd, GrpcStatus};

/// Response to a gRPC call, as far as it has arrived.
#[derive(Debug)]
pub(crate) struct GrpcResponse {
    pub(super) form: GrpcForm,
    reader: MessageReader,
    /// Status that the response head implies: that of a response without messages, or of one that is not gRPC.
    status: Option<GrpcOutcome>,
    /// Response message of a call with one message, which the module gets at the end.
    message: Option<Vec<u8>>,
}

/// Form of a gRPC call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GrpcForm {
    /// One message each way: the module gets the response message, or the status.
    Unary,
    /// Any number of messages each way: the module gets metadata, messages and the status as they arrive.
    Stream,
}

/// End of a gRPC call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GrpcOutcome {
    pub(crate) code: u32,
    pub(crate) message: Vec<u8>,
}

/// Part of a gRPC call's response that is being delivered to the module.
#[derive(Debug, Default)]
pub(crate) struct GrpcDelivery {
    /// Initial or trailing metadata.
    pub(crate) metadata: KeptFields,
    /// Message.
    pub(crate) message: Vec<u8>,
    /// Status, when the call has ended.
    pub(crate) outcome: Option<GrpcOutcome>,
}

/// Callbacks that a part of a response causes, in this order.
#[derive(Debug, Default)]
pub(crate) struct GrpcNews {
    pub(crate) initial_metadata: Option<KeptFields>,
    pub(crate) messages: VecDeque<Vec<u8>>,
    pub(crate) trailing_metadata: Option<KeptFields>,
    pub(crate) outcome: Option<GrpcOutcome>,
    /// Whether the call has ended.
    pub(crate) is_last: bool,
}

impl GrpcResponse {
    pub(super) fn new(form: GrpcForm) -> Self {
        Self { form, reader: MessageReader::default(), status: None, message: None }
    }

    /// Processes a part of the response.
    pub(super) fn take(&mut self, part: StreamPart<'_>) -> GrpcNews {
        let is_stream = self.form == GrpcForm::Stream;
        match part {
            StreamPart::Head { status, fields } => {
                let metadata = Some(self.take_head(status, fields)).filter(|_| is_stream);
                GrpcNews { initial_metadata: metadata, ..GrpcNews::default() }
            }
            StreamPart::Data(data) => match self.take_data(data) {
                Ok(messages) if is_stream => GrpcNews { messages, ..GrpcNews::default() },
                Ok(messages) => match self.keep(messages) {
                    Ok(()) => GrpcNews::default(),
                    Err(outcome) => GrpcNews::of_end(outcome),
                },
                Err(outcome) => GrpcNews::of_end(outcome),
            },
            StreamPart::End { trailers } => {
                let (metadata, outcome) = self.end(trailers);
                if is_stream {
                    return GrpcNews { trailing_metadata: Some(metadata), ..GrpcNews::of_end(outcome) };
                }
                match self.message.take() {
                    Some(message) if outcome.code == 0 => {
                        GrpcNews { messages: [message].into(), is_last: true, ..GrpcNews::default() }
                    }
                    None if outcome.code == 0 => GrpcNews::of_end(GrpcOutcome::new(
                        GrpcStatus::Internal,
                        "the response has no message",
                    )),
                    _ => GrpcNews::of_end(outcome),
                }
            }
            StreamPart::Failed { reason } => GrpcNews::of_end(GrpcOutcome::of_failure(reason)),
        }
    }

    /// Keeps the message of the response to a call with one message.
    fn keep(&mut self, messages: VecDeque<Vec<u8>>) -> Result<(), GrpcOutcome> {
        for message in messages {
            if self.message.replace(message).is_some() {
                return Err(GrpcOutcome::new(GrpcStatus::Internal, "the response has more than one message"));
            }
        }
        Ok(())
    }

    /// Processes the response head; returns the metadata for the module.
    fn take_head(&mut self, status: u16, fields: Fields<'_>) -> KeptFields {
        self.status = match GrpcEnd::of(fields) {
            GrpcEnd::NoStatus if status == 200 => None,
            GrpcEnd::NoStatus => {
                let message = format!("HTTP status {status}").into_bytes();
                Some(GrpcOutcome { code: GrpcStatus::of_http(status).code(), message })
            }
            GrpcEnd::Status(_) | GrpcEnd::Other => Some(outcome_of(fields)),
        };
        KeptFields::of(fields)
    }

    /// Processes data of the response; returns the messages that are complete.
    ///
    /// # Errors
    /// The status that ends the call.
    fn take_data(&mut self, data: &[u8]) -> Result<VecDeque<Vec<u8>>, GrpcOutcome> {
        // The body of a response that is not gRPC has no messages.
        if self.status.is_some() {
            return Ok(VecDeque::new());
        }
        self.reader.read(data)
    }

    /// Returns the status at the end of the response, and the trailing metadata.
    fn end(&mut self, trailers: Fields<'_>) -> (KeptFields, GrpcOutcome) {
        let outcome = match (self.status.take(), GrpcEnd::of(trailers)) {
            (Some(outcome), _) => outcome,
            (None, GrpcEnd::NoStatus) => {
                GrpcOutcome::new(GrpcStatus::Unknown, "the response has no grpc-status")
            }
            (None, GrpcEnd::Status(_) | GrpcEnd::Other) => outcome_of(trailers),
        };
        let outcome = if outcome.code == 0 && self.reader.is_partial() {
            GrpcOutcome::new(GrpcStatus::Internal, "the response ends within a message")
        } else {
            outcome
        };
        (KeptFields::of(trailers), outcome)
    }
}

impl GrpcNews {
    fn of_end(outcome: GrpcOutcome) -> Self {
        Self { outcome: Some(outcome), is_last: true, ..Self::default() }
    }
}

impl GrpcOutcome {
    fn new(status: GrpcStatus, message: &str) -> Self {
        Self { code: status.code(), message: message.as_bytes().to_vec() }
    }

    /// Returns the outcome of a call that brought no complete response, by the reason.
    fn of_failure(reason: &str) -> Self {
        let status = if reason == "timeout" { GrpcStatus::DeadlineExceeded } else { GrpcStatus::Unavailable };
        Self::new(status, reason)
    }
}

/// Reader of length-prefixed messages.
///
/// # Source
/// The gRPC protocol over HTTP/2: a byte for compression, four bytes of length, the message.
#[derive(Debug, Default)]
struct MessageReader {
    /// Bytes of a message that is not complete.
    held: Vec<u8>,
}

impl MessageReader {
    fn read(&mut self, data: &[u8]) -> Result<VecDeque<Vec<u8>>, GrpcOutcome> {
        self.held.extend_from_slice(data);
        let (mut messages, mut at) = (VecDeque::new(), 0);
        while let Some((prefix, rest)) =
            self.held.get(at..).and_then(<[u8]>::split_first_chunk::<PREFIX_BYTES>)
        {
            let [flag, l0, l1, l2, l3] = *prefix;
            if flag != 0 {
                return Err(GrpcOutcome::new(
                    GrpcStatus::Internal,
                    "a message of the response is compressed",
                ));
            }
            let length = usize::try_from(u32::from_be_bytes([l0, l1, l2, l3])).unwrap_or(usize::MAX);
            if length > MESSAGE_BYTES_MAX {
                let why = "a message of the response is larger than 4 MiB";
                return Err(GrpcOutcome::new(GrpcStatus::ResourceExhausted, why));
            }
            let Some(message) = rest.get(..length) else { break };
            messages.push_back(message.to_vec());
            at += PREFIX_BYTES + length;
        }
        self.held.drain(..at);
        Ok(messages)
    }

    fn is_partial(&self) -> bool {
        !self.held.is_empty()
    }
}

/// Returns the status in these fields, with its message decoded.
fn outcome_of(fields: Fields<'_>) -> GrpcOutcome {
    let code =
        fields.first_named(b"grpc-status").and_then(|code| std::str::from_utf8(code).ok()?.parse().ok());
    let message = fields.first_named(b"grpc-message").unwrap_or_default();
    GrpcOutcome {
        code: code.unwrap_or_else(|| GrpcStatus::Unknown.code()),
        message: percent_decoded(message),
    }
}

/// Decodes `%` and two hexadecimal digits; other text stays as it is.
fn percent_decoded(text: &[u8]) -> Vec<u8> {
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let (mut decoded, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(byte) = text.get(at) {
        let pair = digit(at + 1).zip(digit(at + 2)).filter(|_| *byte == b'%');
        match pair.and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    decoded
}

pub(super) const PREFIX_BYTES: usize = 5;
/// Maximum size of a message, in either direction.
pub(super) const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn prefixed(message: &[u8]) -> Vec<u8> {
        [&[0, 0, 0, 0, u8::try_from(message.len()).unwrap()], message].concat()
    }

    #[test]
    fn messages_are_read_across_pieces() {
        let mut reader = MessageReader::default();
        let bytes = [prefixed(b"one"), prefixed(b""), prefixed(b"three")].concat();
        let mut found = Vec::new();
        for byte in &bytes {
            found.extend(reader.read(&[*byte]).unwrap());
        }
        assert_eq!(found, [&b"one"[..], b"", b"three"]);
        assert!(!reader.is_partial());
        assert_eq!(reader.read(&bytes).unwrap(), found);
        assert!(reader.read(b"\0\0\0\0\x02a").unwrap().is_empty() && reader.is_partial());
    }

    #[test]
    fn invalid_messages_end_the_call() {
        let read = |bytes: &[u8]| MessageReader::default().read(bytes).unwrap_err().code;
        assert_eq!(read(b"\x01\0\0\0\0"), GrpcStatus::Internal.code());
        assert_eq!(read(b"\0\0\x40\0\x01"), GrpcStatus::ResourceExhausted.code());
    }

    #[test]
    fn a_status_message_is_decoded() {
        assert_eq!(percent_decoded(b"a%20b%c3%A9%"), "a b\u{e9}%".as_bytes());
        assert_eq!(percent_decoded(b"%zz%4"), b"%zz%4");
    }
}
