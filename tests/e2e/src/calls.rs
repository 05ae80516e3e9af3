//! gRPC calls as bytes: messages, frames, and HTTP/1.1 responses with `grpc-status` trailers.

/// Returns a gRPC frame with this message.
pub fn frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or_default().to_be_bytes();
    [&[0][..], &length, message].concat()
}

/// Returns the messages of a body.
pub fn frames(mut body: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    while let Some(([_, length @ ..], rest)) = body.split_first_chunk::<5>() {
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        let Some((message, rest)) = rest.split_at_checked(length) else { break };
        messages.push(message.to_vec());
        body = rest;
    }
    messages
}

/// Returns a length-delimited protobuf field: a string, bytes, or a message. The field number must be below 16, the
/// length below 16,384.
pub fn field(number: u8, bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    let tag = number << 3 | 2;
    let low = u8::try_from(bytes.len() & 0x7f).unwrap_or_default();
    let high = u8::try_from(bytes.len() >> 7).unwrap_or_default();
    let head = if high == 0 { vec![tag, low] } else { vec![tag, low | 0x80, high] };
    [&head, bytes].concat()
}

/// Returns a protobuf field with a number below 128.
pub fn number(number: u8, value: u8) -> Vec<u8> {
    vec![number << 3, value]
}

/// Returns an HTTP chunk of a body.
pub fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// Response head.
pub const HEAD: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: application/grpc\r\nX-Own: 1\r\nTransfer-Encoding: chunked\r\n\r\n";

/// Trailers of a successful call.
pub const WELL: &str = "grpc-status: 0\r\n";

/// Returns the response to a call: messages, then the trailers with the status.
pub fn answer(messages: &[&[u8]], trailers: &str) -> Vec<u8> {
    let body: Vec<u8> = messages.iter().flat_map(|message| chunk(&frame(message))).collect();
    [HEAD.as_bytes(), &body, format!("0\r\n{trailers}\r\n").as_bytes()].concat()
}

/// Returns a call with these bytes as its body.
pub fn call(method: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "POST {method} HTTP/1.1\r\nHost: a\r\nContent-Type: application/grpc\r\nTE: trailers\r\n{fields}Content-Length: {length}\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}
