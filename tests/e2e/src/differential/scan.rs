//! A parser made of `httparse` for heads and a plain implementation of RFC 9112 §6.3 for bodies.

use super::seen::{ParserObservation, SeenMessage, latin1};

/// Parses all of `raw`.
pub(super) fn read(raw: &[u8]) -> ParserObservation {
    let mut seen = ParserObservation::default();
    let mut rest = raw;
    while !rest.is_empty() {
        match read_one(rest) {
            Ok((message, length)) => {
                seen.messages.push(message);
                rest = &rest[length..];
            }
            Err(why) => {
                seen.error = why;
                break;
            }
        }
    }
    seen
}

fn read_one(bytes: &[u8]) -> Result<(SeenMessage, usize), String> {
    let mut fields = [httparse::EMPTY_HEADER; 512];
    let mut request = httparse::Request::new(&mut fields);
    let head = match request.parse(bytes).map_err(|error| error.to_string())? {
        httparse::Status::Complete(head) => head,
        httparse::Status::Partial => return Err("cut head".into()),
    };
    let value = |name: &str| {
        request.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
    };
    let is_chunked =
        value("transfer-encoding").is_some_and(|value| value.to_ascii_lowercase().ends_with(b"chunked"));
    let (body, length) = if is_chunked {
        read_chunks(&bytes[head..])?
    } else {
        let text = latin1(value("content-length").unwrap_or(b"0"));
        let length: usize = text.trim().parse().map_err(|_| format!("length {text:?}"))?;
        let body = bytes.get(head..head.saturating_add(length)).ok_or("cut body")?;
        (body.to_vec(), length)
    };
    let message = SeenMessage {
        method: request.method.unwrap_or_default().into(),
        target: request.path.unwrap_or_default().into(),
        host: latin1(value("host").unwrap_or_default()),
        body,
    };
    Ok((message, head + length))
}

fn read_chunks(bytes: &[u8]) -> Result<(Vec<u8>, usize), String> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let Ok(httparse::Status::Complete((line, size))) = httparse::parse_chunk_size(&bytes[at..]) else {
            return Err("bad or cut chunk size".into());
        };
        at += line;
        if size == 0 {
            let mut trailers = [httparse::EMPTY_HEADER; 512];
            return match httparse::parse_headers(&bytes[at..], &mut trailers) {
                Ok(httparse::Status::Complete((length, _))) => Ok((body, at + length)),
                Ok(httparse::Status::Partial) => Err("cut trailers".into()),
                Err(error) => Err(error.to_string()),
            };
        }
        let size = usize::try_from(size).map_err(|error| error.to_string())?;
        let end = at.checked_add(size).ok_or("chunk size wraps")?;
        body.extend_from_slice(bytes.get(at..end).ok_or("cut chunk")?);
        if bytes.get(end..end + 2) != Some(b"\r\n") {
            return Err("no line end after a chunk".into());
        }
        at = end + 2;
    }
}
