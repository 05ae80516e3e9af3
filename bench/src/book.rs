//! Messages of `transcode` and `grpc-unary`: a book as JSON, and as the response message of a gRPC service.
//!
//! The service is that of `examples/transcoding`: `POST /v1/shelves/1/books` is its method `CreateBook`.

/// Path of the JSON request.
pub(crate) const PATH: &str = "/v1/shelves/1/books";
/// Path of the gRPC call that it becomes.
pub(crate) const METHOD: &str = "/library.v1.Library/CreateBook";
/// Path of the gRPC calls of `grpc-unary`, whose response message equals the request message.
pub(crate) const SAY: &str = "/bench.v1.Echo/Say";

/// Returns the JSON request body.
pub(crate) fn request_json() -> String {
    format!("{{{}}}", members())
}

/// Returns the JSON response body.
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

/// Returns a message of 321 bytes in a gRPC frame: the response of the service, and both messages of [`SAY`].
pub(crate) fn frame() -> Vec<u8> {
    let message = message();
    let length = u32::try_from(message.len()).unwrap_or_default().to_be_bytes();
    [&[0][..], &length, &message].concat()
}

/// Returns the response of the service in HTTP/1.1 chunked encoding: the message in a gRPC frame, then the gRPC
/// status in trailers.
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

/// Returns a length-delimited field; all fields here are shorter than 128 bytes.
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
    fn a_document_has_its_configured_size() {
        assert_eq!(message().len(), 321);
        assert!(request_json().starts_with("{\"title\":\"Utopia\",\"copies\":\"3\",\"tags\":["));
        assert!(answer().ends_with(b"\r\n0\r\ngrpc-status: 0\r\n\r\n"));
    }
}
