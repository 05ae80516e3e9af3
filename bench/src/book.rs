//! The calls of `transcode` and `grpc-unary`: a book as JSON, and as the message that a service of gRPC answers with.
//!
//! The service is that of `examples/transcoding`: `POST /v1/shelves/1/books` is its method `CreateBook`.

/// The path of the request with JSON.
pub(crate) const PATH: &str = "/v1/shelves/1/books";
/// The path of the call that it becomes.
pub(crate) const METHOD: &str = "/library.v1.Library/CreateBook";
/// The path of calls of `grpc-unary`, whose answer is the message that was sent.
pub(crate) const SAY: &str = "/bench.v1.Echo/Say";

/// The body of the request.
pub(crate) fn request_json() -> String {
    format!("{{{}}}", members())
}

/// The body of the response.
pub(crate) fn response_json() -> String {
    format!("{{\"name\":\"{NAME}\",{}}}", members())
}

fn members() -> String {
    let pages: Vec<String> =
        (1..=PAGES).map(|number| format!("{{\"number\":{number},\"text\":\"{TEXT}\"}}")).collect();
    format!(
        "\"title\":\"{TITLE}\",\"copies\":\"{COPIES}\",\"tags\":[\"{TAG}\",\"{TAG}\"],\"pages\":[{}]",
        pages.join(",")
    )
}

/// A message of 321 bytes in a frame of gRPC: the response of the service, and both messages of [`SAY`].
pub(crate) fn frame() -> Vec<u8> {
    let message = message();
    let length = u32::try_from(message.len()).unwrap_or_default().to_be_bytes();
    [&[0][..], &length, &message].concat()
}

/// The response of the service as chunks of HTTP/1.1: the message in a frame, then how the call ended.
pub(crate) fn answer() -> Vec<u8> {
    let frame = frame();
    let head = format!(
        "HTTP/1.1 200 OK\r\nServer: origin\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n\
         Content-Type: application/grpc\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n",
        frame.len()
    );
    [head.as_bytes(), &frame, b"\r\n0\r\ngrpc-status: 0\r\n\r\n"].concat()
}

fn message() -> Vec<u8> {
    let mut message = [text(1, NAME.as_bytes()), text(2, TITLE.as_bytes()), vec![3 << 3, COPIES]].concat();
    for _ in 0..2 {
        message.extend(text(5, TAG.as_bytes()));
    }
    for number in 1..=PAGES {
        message.extend(text(6, &[vec![1 << 3, number], text(2, TEXT.as_bytes())].concat()));
    }
    message
}

/// A field with a length; all here are shorter than 128 bytes.
fn text(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).unwrap_or_default();
    debug_assert!(length < 128, "one byte tells the length");
    [&[number << 3 | 2, length][..], bytes].concat()
}

const NAME: &str = "shelves/1/books/7";
const TITLE: &str = "Utopia";
const COPIES: u8 = 3;
const TAG: &str = "philosophy";
const TEXT: &str = "The island of Utopia is in the middle two hundred miles broad";
const PAGES: u8 = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_book_has_a_size() {
        assert_eq!(message().len(), 321);
        assert!(request_json().starts_with("{\"title\":\"Utopia\",\"copies\":\"3\",\"tags\":["));
        assert!(answer().ends_with(b"\r\n0\r\ngrpc-status: 0\r\n\r\n"));
    }
}
