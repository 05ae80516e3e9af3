//! A strict HTTP/1.1 parser that shares no code with the gateway's: it parses the message at the front of a buffer.

use super::message::{WireBodyFraming, WireFields, WireRequest, WireResponse};

/// Result of parsing the front of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseOutcome<T> {
    /// A complete message of `length` bytes.
    Whole {
        /// The message.
        message: Box<T>,
        /// Length of the message in bytes, head and body.
        length: usize,
    },
    /// The beginning of a message.
    Partial {
        /// The message, when its head is complete, with the first 64 KiB of the received body.
        head: Option<Box<T>>,
    },
    /// Not the beginning of an HTTP/1.1 message, with the reason.
    Bad(String),
}

/// Parses the request at the front of `bytes`.
pub fn read_request(bytes: &[u8]) -> ParseOutcome<WireRequest> {
    let mut request = WireRequest::default();
    let body_start = match read_head(bytes, |line| parse_request_line(line, &mut request)) {
        FieldSectionParse::Whole { fields, length } => {
            request.fields = fields;
            length
        }
        FieldSectionParse::Partial => return ParseOutcome::Partial { head: None },
        FieldSectionParse::Bad(why) => return ParseOutcome::Bad(why),
    };
    match declared_framing(&request.fields) {
        Ok(framing) => request.framing = framing.unwrap_or(WireBodyFraming::None),
        Err(why) => return ParseOutcome::Bad(why),
    }
    if request.fields.count("host") != 1 && request.minor == 1 {
        return ParseOutcome::Bad(format!("{} host fields", request.fields.count("host")));
    }
    let body = read_body(&bytes[body_start..], request.framing, false);
    finish(request, body_start, body, |request, read| {
        request.body = read.data;
        request.trailers = read.trailers;
    })
}

/// Parses the response at the front of `bytes`, to a request with `method`.
///
/// With `is_ended` nothing follows `bytes`: a response framed by the end of the connection is then complete.
pub fn read_response(bytes: &[u8], method: &[u8], is_ended: bool) -> ParseOutcome<WireResponse> {
    let mut response = WireResponse::default();
    let body_start = match read_head(bytes, |line| parse_status_line(line, &mut response)) {
        FieldSectionParse::Whole { fields, length } => {
            response.fields = fields;
            length
        }
        FieldSectionParse::Partial => return ParseOutcome::Partial { head: None },
        FieldSectionParse::Bad(why) => return ParseOutcome::Bad(why),
    };
    let has_no_body = method == b"HEAD" || matches!(response.status, 100..=199 | 204 | 304);
    match declared_framing(&response.fields) {
        Ok(_) if has_no_body => response.framing = WireBodyFraming::None,
        Ok(Some(framing)) => response.framing = framing,
        Ok(None) => response.framing = WireBodyFraming::UntilClose,
        Err(why) => return ParseOutcome::Bad(why),
    }
    let body = read_body(&bytes[body_start..], response.framing, is_ended);
    finish(response, body_start, body, |response, read| {
        response.body = read.data;
        response.trailers = read.trailers;
    })
}

enum FieldSectionParse {
    Whole { fields: WireFields, length: usize },
    Partial,
    Bad(String),
}

enum BodyParse {
    Whole(ParsedBody),
    Partial(ParsedBody),
    Bad(String),
}

#[derive(Default)]
struct ParsedBody {
    data: Vec<u8>,
    trailers: WireFields,
    length: usize,
}

enum LineParse<'a> {
    Whole(&'a [u8]),
    Partial,
    Bad(String),
}

fn finish<T>(
    mut message: T,
    head: usize,
    body: BodyParse,
    fill: impl Fn(&mut T, ParsedBody),
) -> ParseOutcome<T> {
    match body {
        BodyParse::Whole(read) => {
            let length = head + read.length;
            fill(&mut message, read);
            ParseOutcome::Whole { message: Box::new(message), length }
        }
        BodyParse::Partial(read) => {
            fill(&mut message, read);
            ParseOutcome::Partial { head: Some(Box::new(message)) }
        }
        BodyParse::Bad(why) => ParseOutcome::Bad(why),
    }
}

fn read_head(bytes: &[u8], start_line: impl FnOnce(&[u8]) -> Result<(), String>) -> FieldSectionParse {
    let mut at = match read_line(bytes) {
        LineParse::Whole(line) => {
            if let Err(why) = start_line(line) {
                return FieldSectionParse::Bad(why);
            }
            line.len() + 2
        }
        LineParse::Partial => return FieldSectionParse::Partial,
        LineParse::Bad(why) => return FieldSectionParse::Bad(why),
    };
    match read_fields(&bytes[at..]) {
        FieldsRead::Whole { fields, length } => {
            at += length;
            FieldSectionParse::Whole { fields, length: at }
        }
        FieldsRead::Partial => FieldSectionParse::Partial,
        FieldsRead::Bad(why) => FieldSectionParse::Bad(why),
    }
}

enum FieldsRead {
    Whole { fields: WireFields, length: usize },
    Partial,
    Bad(String),
}

fn read_fields(bytes: &[u8]) -> FieldsRead {
    let mut fields = WireFields::default();
    let mut at = 0;
    loop {
        match read_line(&bytes[at..]) {
            LineParse::Whole(b"") => return FieldsRead::Whole { fields, length: at + 2 },
            LineParse::Whole(line) => {
                at += line.len() + 2;
                match parse_field(line) {
                    Ok(field) => fields.0.push(field),
                    Err(why) => return FieldsRead::Bad(why),
                }
            }
            LineParse::Partial => return FieldsRead::Partial,
            LineParse::Bad(why) => return FieldsRead::Bad(why),
        }
    }
}

/// Parses a line: it ends with CRLF and contains no other CR, LF or NUL.
fn read_line(bytes: &[u8]) -> LineParse<'_> {
    let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n' | 0)) else {
        return LineParse::Partial;
    };
    match (bytes[end], bytes.get(end + 1)) {
        (b'\r', Some(b'\n')) => LineParse::Whole(&bytes[..end]),
        (b'\r', None) => LineParse::Partial,
        (byte, _) => LineParse::Bad(format!("byte {byte:#04x} inside a line at {end}")),
    }
}

fn parse_request_line(line: &[u8], request: &mut WireRequest) -> Result<(), String> {
    let parts: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let [method, target, version] = parts[..] else {
        return Err(format!("request line of {} parts", parts.len()));
    };
    if method.is_empty() || !method.iter().copied().all(is_token_byte) {
        return Err("method is no token".into());
    }
    if target.is_empty() || !target.iter().all(|byte| (0x21..0x7f).contains(byte)) {
        return Err("target is empty or holds a byte that no URI has".into());
    }
    request.minor = parse_version(version)?;
    request.method = method.to_vec();
    request.target = target.to_vec();
    Ok(())
}

fn parse_status_line(line: &[u8], response: &mut WireResponse) -> Result<(), String> {
    let mut parts = line.splitn(3, |byte| *byte == b' ');
    response.minor = parse_version(parts.next().unwrap_or_default())?;
    let status = parts.next().unwrap_or_default();
    if status.len() != 3 || !status.iter().all(u8::is_ascii_digit) || status[0] == b'0' {
        return Err("status code is not three digits".into());
    }
    response.status = status.iter().fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
    response.reason = parts.next().ok_or("no space after the status code")?.to_vec();
    Ok(())
}

fn parse_version(bytes: &[u8]) -> Result<u8, String> {
    match bytes {
        b"HTTP/1.0" => Ok(0),
        b"HTTP/1.1" => Ok(1),
        _ => Err(format!("version {:?}", String::from_utf8_lossy(bytes))),
    }
}

fn parse_field(line: &[u8]) -> Result<(Vec<u8>, Vec<u8>), String> {
    let colon = line.iter().position(|byte| *byte == b':').ok_or("field line without a colon")?;
    let (name, value) = (&line[..colon], &line[colon + 1..]);
    if name.is_empty() || !name.iter().copied().all(is_token_byte) {
        return Err(format!("field name {:?}", String::from_utf8_lossy(name)));
    }
    if value.iter().any(|byte| (*byte < 0x20 && *byte != b'\t') || *byte == 0x7f) {
        return Err("control byte in a field value".into());
    }
    Ok((name.to_vec(), value.trim_ascii().to_vec()))
}

fn declared_framing(fields: &WireFields) -> Result<Option<WireBodyFraming>, String> {
    let codings: Vec<&[u8]> = fields.all("transfer-encoding").collect();
    let lengths: Vec<&[u8]> = fields.all("content-length").collect();
    match (&codings[..], &lengths[..]) {
        ([], []) => Ok(None),
        ([coding], []) if coding.eq_ignore_ascii_case(b"chunked") => Ok(Some(WireBodyFraming::Chunked)),
        ([], [length]) => {
            let is_number = !length.is_empty() && length.len() <= 19 && length.iter().all(u8::is_ascii_digit);
            let text = String::from_utf8_lossy(length);
            text.parse()
                .ok()
                .filter(|_| is_number)
                .map(|n| Some(WireBodyFraming::Length(n)))
                .ok_or_else(|| format!("length {text:?}"))
        }
        _ => Err(format!("{} transfer codings and {} lengths", codings.len(), lengths.len())),
    }
}

impl ParsedBody {
    /// Appends `bytes` to the data, up to `limit` bytes in total.
    fn keep(&mut self, bytes: &[u8], limit: usize) {
        let room = limit.saturating_sub(self.data.len());
        self.data.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

fn read_body(bytes: &[u8], framing: WireBodyFraming, is_ended: bool) -> BodyParse {
    match framing {
        WireBodyFraming::None => BodyParse::Whole(ParsedBody::default()),
        WireBodyFraming::Length(length) => {
            let wanted = usize::try_from(length).unwrap_or(usize::MAX);
            match bytes.get(..wanted) {
                Some(data) => BodyParse::Whole(ParsedBody {
                    data: data.to_vec(),
                    length: wanted,
                    ..ParsedBody::default()
                }),
                None => {
                    BodyParse::Partial(ParsedBody { data: first_of(bytes).to_vec(), ..ParsedBody::default() })
                }
            }
        }
        WireBodyFraming::UntilClose if is_ended => BodyParse::Whole(ParsedBody {
            data: bytes.to_vec(),
            length: bytes.len(),
            ..ParsedBody::default()
        }),
        WireBodyFraming::UntilClose => {
            BodyParse::Partial(ParsedBody { data: first_of(bytes).to_vec(), ..ParsedBody::default() })
        }
        // A long body is copied once, when it is complete.
        WireBodyFraming::Chunked => match read_chunks(bytes, PARTIAL_MAX) {
            BodyParse::Whole(read) if read.data.len() >= PARTIAL_MAX => read_chunks(bytes, usize::MAX),
            body @ (BodyParse::Whole(_) | BodyParse::Partial(_) | BodyParse::Bad(_)) => body,
        },
    }
}

/// Returns the part of an incomplete body that is kept.
fn first_of(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(PARTIAL_MAX)]
}

/// Parses a chunked body and keeps up to `keep` bytes of it.
fn read_chunks(bytes: &[u8], keep: usize) -> BodyParse {
    let mut read = ParsedBody::default();
    loop {
        let line = match read_line(&bytes[read.length..]) {
            LineParse::Whole(line) => line,
            LineParse::Partial => return BodyParse::Partial(read),
            LineParse::Bad(why) => return BodyParse::Bad(format!("chunk line: {why}")),
        };
        let size = match parse_chunk_size(line) {
            Ok(size) => size,
            Err(why) => return BodyParse::Bad(why),
        };
        read.length += line.len() + 2;
        if size == 0 {
            break;
        }
        let rest = &bytes[read.length..];
        if rest.len() < size.saturating_add(2) {
            read.keep(&rest[..rest.len().min(size)], keep);
            return BodyParse::Partial(read);
        }
        if &rest[size..size + 2] != b"\r\n" {
            return BodyParse::Bad("no CRLF after the chunk data".into());
        }
        read.keep(&rest[..size], keep);
        read.length += size + 2;
    }
    match read_fields(&bytes[read.length..]) {
        FieldsRead::Whole { fields, length } => {
            read.trailers = fields;
            read.length += length;
            BodyParse::Whole(read)
        }
        FieldsRead::Partial => BodyParse::Partial(read),
        FieldsRead::Bad(why) => BodyParse::Bad(format!("trailers: {why}")),
    }
}

fn parse_chunk_size(line: &[u8]) -> Result<usize, String> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (size, extension) = line.split_at(digits);
    if size.is_empty() || size.len() > 15 {
        return Err(format!("chunk size of {} digits", size.len()));
    }
    if !(extension.is_empty() || extension.trim_ascii_start().starts_with(b";")) {
        return Err("bytes between the chunk size and its end".into());
    }
    usize::from_str_radix(&String::from_utf8_lossy(size), 16).map_err(|error| error.to_string())
}

/// Number of bytes kept of an incomplete body, for messages.
const PARTIAL_MAX: usize = 64 * 1024;

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
