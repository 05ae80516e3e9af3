//! Request to the standard gRPC health service.
//!
//! # Spec
//! [GRPC Health Checking Protocol](https://github.com/grpc/grpc/blob/master/doc/health-checking.md)

use std::num::NonZero;

use eddy_http::{FieldId, GrpcEnd, GrpcKind, GrpcStatus, Method};
use eddy_io::Buffer;

use crate::client::{Conversation, DedicatedConnection, WholeRequest, WholeResponse};

/// Maximum bytes of the messages of a response.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;

/// Checks the health of a service; `""` means the server as a whole.
///
/// # Errors
/// Why the service is unhealthy, in readable form.
pub(super) async fn check(
    connection: &mut DedicatedConnection<'_>,
    service: &str,
    host: &str,
) -> Result<(), String> {
    let head = format!(
        "POST /grpc.health.v1.Health/Check HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/grpc\r\nTE: trailers\r\nUser-Agent: eddy-health-check\r\n\r\n"
    );
    let bytes = [head.as_bytes(), &question(service)].concat();
    let request = WholeRequest { method: Method::Post, bytes: &bytes, head_bytes: head.len() };
    let mut input = Buffer::default();
    let response = Conversation::new(connection, &mut input).response(&request, MESSAGE_BYTES_MAX).await;
    judge(&response.map_err(|fault| fault.to_string())?)
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

/// Evaluates a response.
fn judge(response: &WholeResponse) -> Result<(), String> {
    let WholeResponse { head, head_bytes, body, grpc_end } = response;
    if head.status != 200 {
        return Err(format!("status {}", head.status));
    }
    let content_type = head.fields(head_bytes).first(FieldId::ContentType).unwrap_or_default();
    if GrpcKind::of(content_type) != Some(GrpcKind::Plain) {
        return Err("not a gRPC response".to_owned());
    }
    match grpc_end {
        GrpcEnd::Status(GrpcStatus::Ok) => {}
        GrpcEnd::Status(GrpcStatus::Unimplemented) => {
            return Err("the service grpc.health.v1.Health is not implemented".to_owned());
        }
        GrpcEnd::Status(GrpcStatus::NotFound) => return Err("unknown service".to_owned()),
        GrpcEnd::Status(status) => return Err(format!("the gRPC call ended with {}", status.name())),
        GrpcEnd::Other | GrpcEnd::NoStatus => return Err("the response has no gRPC status".to_owned()),
    }
    match body.as_slice() {
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
    use eddy_http::{HeadLimits, ResponseHead};

    const HEAD: &str = "HTTP/1.1 200 \r\ncontent-type: application/grpc+proto\r\n\r\n";
    const WELL: GrpcEnd = GrpcEnd::Status(GrpcStatus::Ok);

    fn judged(text: &str, body: &[u8], grpc_end: GrpcEnd) -> Result<(), String> {
        let mut head = ResponseHead::new();
        head.parse(text.as_bytes(), &HeadLimits::default(), Method::Post).expect("a valid head");
        judge(&WholeResponse { head, head_bytes: text.into(), body: body.into(), grpc_end })
    }

    #[test]
    fn a_health_check_request_names_the_service() {
        assert_eq!(question(""), [0, 0, 0, 0, 0]);
        assert_eq!(question("a.B"), *b"\0\0\0\0\x05\x0a\x03a.B");
        let long = "x".repeat(300);
        assert_eq!(question(&long).get(..8), Some(b"\0\0\0\x01\x2f\x0a\xac\x02".as_slice()));
    }

    #[test]
    fn only_serving_is_healthy() {
        let message = |value: u8| [0, 0, 0, 0, 2, 8, value];
        assert_eq!(judged(HEAD, &message(1), WELL), Ok(()));
        let check = |head: &str, body: &[u8], end: GrpcEnd, why: &str| {
            assert_eq!(judged(head, body, end), Err(why.to_owned()));
        };
        check(HEAD, &message(2), WELL, "the service is NOT_SERVING");
        check(HEAD, &message(3), WELL, "the service is SERVICE_UNKNOWN");
        check(HEAD, &[0; 5], WELL, "the service is UNKNOWN");
        check(HEAD, b"", WELL, "unexpected response message");
        let ended = GrpcEnd::of_code;
        check(HEAD, &message(1), GrpcEnd::NoStatus, "the response has no gRPC status");
        check(HEAD, &message(1), ended(14), "the gRPC call ended with unavailable");
        check(HEAD, b"", ended(12), "the service grpc.health.v1.Health is not implemented");
        check(HEAD, b"", ended(5), "unknown service");
        check("HTTP/1.1 503 \r\n\r\n", b"", GrpcEnd::NoStatus, "status 503");
        check("HTTP/1.1 200 \r\n\r\n", &message(1), WELL, "not a gRPC response");
    }
}
