//! Request to the standard gRPC health service.
//!
//! # Spec
//! [GRPC Health Checking Protocol](https://github.com/grpc/grpc/blob/master/doc/health-checking.md)

use std::future::poll_fn;
use std::num::NonZero;

use eddy_http::{
    ChunkDecoder, ChunkLimits, FieldId, GrpcEnd, GrpcKind, GrpcStatus, HeadLimits, Method, ResponseHead,
};
use eddy_io::{Buffer, Fill};

use super::conversation::Conversation;

/// Maximum bytes of a response, heads included.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// Checks the health of a service; `""` means the server as a whole.
///
/// # Errors
/// Why the service is unhealthy, in readable form.
pub(super) async fn check(
    conversation: &mut Conversation<'_>,
    service: &str,
    host: &str,
) -> Result<(), String> {
    if !conversation.is_framed() {
        return Err("the endpoint does not support HTTP/2".to_owned());
    }
    let head = format!(
        "POST /grpc.health.v1.Health/Check HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/grpc\r\nTE: trailers\r\nUser-Agent: eddy-health-check\r\n\r\n"
    );
    let message = question(service);
    let asked = poll_fn(|cx| conversation.poll_ask(cx, head.as_bytes(), &message)).await;
    asked.map_err(|error| format!("the request cannot be sent: {error}"))?;
    let mut answer = Buffer::with_capacity(4096);
    loop {
        if answer.room().is_empty() {
            let capacity = answer.capacity() * 2;
            if capacity > ANSWER_BYTES_MAX {
                return Err("the response is too long".to_owned());
            }
            answer.grow(capacity);
        }
        match poll_fn(|cx| conversation.poll_fill(cx, &mut answer)).await {
            Ok(Fill::Bytes(_)) => {}
            Ok(Fill::End) => return judge(answer.held(), conversation.trailers()),
            Err(error) => return Err(format!("connection closed before a response: {error}")),
        }
    }
}

/// Returns the length-prefixed request message that names a service.
fn question(service: &str) -> Vec<u8> {
    let mut message = Vec::new();
    if !service.is_empty() {
        message.push(0x0a);
        let mut length = service.len();
        while let Some(more) = NonZero::new(length >> 7) {
            message.push(0x80 | u8::try_from(length & 0x7f).expect("seven bits"));
            length = more.get();
        }
        message.push(u8::try_from(length).expect("the rest has seven bits"));
        message.extend_from_slice(service.as_bytes());
    }
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX).to_be_bytes();
    [&[0][..], &length, &message].concat()
}

/// Evaluates a response: heads and messages in `answer`, `trailers` in the form of the end of a chunked body.
fn judge(answer: &[u8], trailers: &[u8]) -> Result<(), String> {
    let mut head = ResponseHead::new();
    let mut rest = answer;
    let (fields, body) = loop {
        let length = head.parse_start(rest, &HeadLimits::default(), Method::Post);
        let length = length.ok().flatten().ok_or("invalid response")?;
        let (text, behind) = rest.split_at_checked(length).ok_or("invalid response")?;
        rest = behind;
        if !head.is_interim() {
            break (head.fields(text), behind);
        }
    };
    if head.status != 200 {
        return Err(format!("status {}", head.status));
    }
    let content_type = fields.first(FieldId::ContentType).unwrap_or_default();
    if GrpcKind::of(content_type) != Some(GrpcKind::Plain) {
        return Err("not a gRPC response".to_owned());
    }
    let mut end = GrpcEnd::of(fields);
    let mut decoder = ChunkDecoder::new(ChunkLimits::default());
    if end == GrpcEnd::Untold && !trailers.is_empty() && decoder.decode(trailers).is_ok() {
        end = GrpcEnd::of(decoder.trailers());
    }
    match end {
        GrpcEnd::Status(GrpcStatus::Ok) => {}
        GrpcEnd::Status(GrpcStatus::Unimplemented) => {
            return Err("the service grpc.health.v1.Health is not implemented".to_owned());
        }
        GrpcEnd::Status(GrpcStatus::NotFound) => return Err("unknown service".to_owned()),
        GrpcEnd::Status(status) => return Err(format!("the gRPC call ended with {}", status.name())),
        GrpcEnd::Other | GrpcEnd::Untold => return Err("the response has no gRPC status".to_owned()),
    }
    match body {
        [0, 0, 0, 0, _, 0x08, 1, ..] => Ok(()),
        [0, 0, 0, 0, _, 0x08, 2, ..] => Err("the service is NOT_SERVING".to_owned()),
        [0, 0, 0, 0, _, 0x08, 3, ..] => Err("the service is SERVICE_UNKNOWN".to_owned()),
        [0, 0, 0, 0, 0] => Err("the service is UNKNOWN".to_owned()),
        _ => Err("unexpected response message".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "HTTP/1.1 200 \r\ncontent-type: application/grpc+proto\r\n\r\n";
    const WELL: &str = "0\r\ngrpc-status: 0\r\n\r\n";

    fn judged(head: &str, body: &[u8], trailers: &str) -> Result<(), String> {
        judge(&[head.as_bytes(), body].concat(), trailers.as_bytes())
    }

    #[test]
    fn a_question_names_the_service() {
        assert_eq!(question(""), [0, 0, 0, 0, 0]);
        assert_eq!(question("a.B"), *b"\0\0\0\0\x05\x0a\x03a.B");
        let long = "x".repeat(300);
        assert_eq!(question(&long).get(..8), Some(b"\0\0\0\x01\x2f\x0a\xac\x02".as_slice()));
    }

    #[test]
    fn only_serving_is_well() {
        let message = |value: u8| [0, 0, 0, 0, 2, 8, value];
        assert_eq!(judged(HEAD, &message(1), WELL), Ok(()));
        let interim = format!("HTTP/1.1 103 \r\n\r\n{HEAD}");
        assert_eq!(judged(&interim, &message(1), WELL), Ok(()));
        let check = |head: &str, body: &[u8], trailers: &str, why: &str| {
            assert_eq!(judged(head, body, trailers), Err(why.to_owned()));
        };
        check(HEAD, &message(2), WELL, "the service is NOT_SERVING");
        check(HEAD, &message(3), WELL, "the service is SERVICE_UNKNOWN");
        check(HEAD, &[0; 5], WELL, "the service is UNKNOWN");
        check(HEAD, b"", WELL, "unexpected response message");
        check(HEAD, &message(1), "", "the response has no gRPC status");
        check(HEAD, &message(1), "0\r\ngrpc-status: 14\r\n\r\n", "the gRPC call ended with unavailable");
        let ended = |code: u32| {
            format!("HTTP/1.1 200 \r\ncontent-type: application/grpc\r\ngrpc-status: {code}\r\n\r\n")
        };
        check(&ended(12), b"", "", "the service grpc.health.v1.Health is not implemented");
        check(&ended(5), b"", "", "unknown service");
        check("HTTP/1.1 503 \r\n\r\n", b"", "", "status 503");
        check("HTTP/1.1 200 \r\n\r\n", &message(1), WELL, "not a gRPC response");
        check("HTTP/1.1", b"", "", "invalid response");
    }
}
