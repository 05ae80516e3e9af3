//! A strict HTTP/1.1 reader that shares nothing with the gateway's: it looks at whole buffers and says what is in front.

use super::message::{Fields, Framing, Request, Response};

/// What stands at the front of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading<T> {
    /// A whole message of `length` bytes.
    Whole {
        /// The message.
        message: Box<T>,
        /// Its bytes, head and body.
        length: usize,
    },
    /// The beginning of a message: its head when that is whole, with what came of the body.
    Partial {
        /// The message so far, with the first 64 KiB of what came of the body.
        head: Option<Box<T>>,
    },
    /// No HTTP/1.1 message begins like this.
    Bad(String),
}

/// Reads the request at the front of `bytes`.
pub fn read_request(bytes: &[u8]) -> Reading<Request> {
    let mut request = Request::default();
    let body_start = match read_head(bytes, |line| parse_request_line(line, &mut request)) {
        Head::Whole { fields, length } => {
            request.fields = fields;
            length
        }
        Head::Partial => return Reading::Partial { head: None },
        Head::Bad(why) => return Reading::Bad(why),
    };
    match declared_framing(&request.fields) {
        Ok(framing) => request.framing = framing.unwrap_or(Framing::None),
        Err(why) => return Reading::Bad(why),
    }
    if request.fields.count("host") != 1 && request.minor == 1 {
        return Reading::Bad(format!("{} host fields", request.fields.count("host")));
    }
    let body = read_body(&bytes[body_start..], request.framing, false);
    finish(request, body_start, body, |request, read| {
        request.body = read.data;
        request.trailers = read.trailers;
    })
}

/// Reads the response at the front of `bytes`, which answers a request with `method`.
///
/// `is_ended` says that nothing follows `bytes`: a response framed by the end of the connection is whole then.
pub fn read_response(bytes: &[u8], method: &[u8], is_ended: bool) -> Reading<Response> {
    let mut response = Response::default();
    let body_start = match read_head(bytes, |line| parse_status_line(line, &mut response)) {
        Head::Whole { fields, length } => {
            response.fields = fields;
            length
        }
        Head::Partial => return Reading::Partial { head: None },
        Head::Bad(why) => return Reading::Bad(why),
    };
    let has_no_body = method == b"HEAD" || matches!(response.status, 100..=199 | 204 | 304);
    match declared_framing(&response.fields) {
        Ok(_) if has_no_body => response.framing = Framing::None,
        Ok(Some(framing)) => response.framing = framing,
        Ok(None) => response.framing = Framing::UntilClose,
        Err(why) => return Reading::Bad(why),
    }
    let body = read_body(&bytes[body_start..], response.framing, is_ended);
    finish(response, body_start, body, |response, read| {
        response.body = read.data;
        response.trailers = read.trailers;
    })
}

enum Head {
    Whole { fields: Fields, length: usize },
    Partial,
    Bad(String),
}

enum Body {
    Whole(BodyRead),
    Partial(BodyRead),
    Bad(String),
}

#[derive(Default)]
struct BodyRead {
    data: Vec<u8>,
    trailers: Fields,
    length: usize,
}

enum Line<'a> {
    Whole(&'a [u8]),
    Partial,
    Bad(String),
}

fn finish<T>(mut message: T, head: usize, body: Body, fill: impl Fn(&mut T, BodyRead)) -> Reading<T> {
    match body {
        Body::Whole(read) => {
            let length = head + read.length;
            fill(&mut message, read);
            Reading::Whole { message: Box::new(message), length }
        }
        Body::Partial(read) => {
            fill(&mut message, read);
            Reading::Partial { head: Some(Box::new(message)) }
        }
        Body::Bad(why) => Reading::Bad(why),
    }
}

fn read_head(bytes: &[u8], start_line: impl FnOnce(&[u8]) -> Result<(), String>) -> Head {
    let mut at = match read_line(bytes) {
        Line::Whole(line) => {
            if let Err(why) = start_line(line) {
                return Head::Bad(why);
            }
            line.len() + 2
        }
        Line::Partial => return Head::Partial,
        Line::Bad(why) => return Head::Bad(why),
    };
    match read_fields(&bytes[at..]) {
        FieldsRead::Whole { fields, length } => {
            at += length;
            Head::Whole { fields, length: at }
        }
        FieldsRead::Partial => Head::Partial,
        FieldsRead::Bad(why) => Head::Bad(why),
    }
}

enum FieldsRead {
    Whole { fields: Fields, length: usize },
    Partial,
    Bad(String),
}

fn read_fields(bytes: &[u8]) -> FieldsRead {
    let mut fields = Fields::default();
    let mut at = 0;
    loop {
        match read_line(&bytes[at..]) {
            Line::Whole(b"") => return FieldsRead::Whole { fields, length: at + 2 },
            Line::Whole(line) => {
                at += line.len() + 2;
                match parse_field(line) {
                    Ok(field) => fields.0.push(field),
                    Err(why) => return FieldsRead::Bad(why),
                }
            }
            Line::Partial => return FieldsRead::Partial,
            Line::Bad(why) => return FieldsRead::Bad(why),
        }
    }
}

/// A line ends with CRLF and holds no other CR, LF or NUL.
fn read_line(bytes: &[u8]) -> Line<'_> {
    let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n' | 0)) else {
        return Line::Partial;
    };
    match (bytes[end], bytes.get(end + 1)) {
        (b'\r', Some(b'\n')) => Line::Whole(&bytes[..end]),
        (b'\r', None) => Line::Partial,
        (byte, _) => Line::Bad(format!("byte {byte:#04x} inside a line at {end}")),
    }
}

fn parse_request_line(line: &[u8], request: &mut Request) -> Result<(), String> {
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

fn parse_status_line(line: &[u8], response: &mut Response) -> Result<(), String> {
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

fn declared_framing(fields: &Fields) -> Result<Option<Framing>, String> {
    let codings: Vec<&[u8]> = fields.all("transfer-encoding").collect();
    let lengths: Vec<&[u8]> = fields.all("content-length").collect();
    match (&codings[..], &lengths[..]) {
        ([], []) => Ok(None),
        ([coding], []) if coding.eq_ignore_ascii_case(b"chunked") => Ok(Some(Framing::Chunked)),
        ([], [length]) => {
            let is_number = !length.is_empty() && length.len() <= 19 && length.iter().all(u8::is_ascii_digit);
            let text = String::from_utf8_lossy(length);
            text.parse()
                .ok()
                .filter(|_| is_number)
                .map(|n| Some(Framing::Length(n)))
                .ok_or_else(|| format!("length {text:?}"))
        }
        _ => Err(format!("{} transfer codings and {} lengths", codings.len(), lengths.len())),
    }
}

impl BodyRead {
    /// Adds `bytes` to the data as far as there is room in `limit`.
    fn keep(&mut self, bytes: &[u8], limit: usize) {
        let room = limit.saturating_sub(self.data.len());
        self.data.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

fn read_body(bytes: &[u8], framing: Framing, is_ended: bool) -> Body {
    match framing {
        Framing::None => Body::Whole(BodyRead::default()),
        Framing::Length(length) => {
            let wanted = usize::try_from(length).unwrap_or(usize::MAX);
            match bytes.get(..wanted) {
                Some(data) => {
                    Body::Whole(BodyRead { data: data.to_vec(), length: wanted, ..BodyRead::default() })
                }
                None => Body::Partial(BodyRead { data: first_of(bytes).to_vec(), ..BodyRead::default() }),
            }
        }
        Framing::UntilClose if is_ended => {
            Body::Whole(BodyRead { data: bytes.to_vec(), length: bytes.len(), ..BodyRead::default() })
        }
        Framing::UntilClose => {
            Body::Partial(BodyRead { data: first_of(bytes).to_vec(), ..BodyRead::default() })
        }
        // A long body is copied once, when all of it is there.
        Framing::Chunked => match read_chunks(bytes, PARTIAL_MAX) {
            Body::Whole(read) if read.data.len() >= PARTIAL_MAX => read_chunks(bytes, usize::MAX),
            body @ (Body::Whole(_) | Body::Partial(_) | Body::Bad(_)) => body,
        },
    }
}

/// As much of a body that is not whole as is shown.
fn first_of(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(PARTIAL_MAX)]
}

/// Reads a chunked body and keeps up to `keep` bytes of it.
fn read_chunks(bytes: &[u8], keep: usize) -> Body {
    let mut read = BodyRead::default();
    loop {
        let line = match read_line(&bytes[read.length..]) {
            Line::Whole(line) => line,
            Line::Partial => return Body::Partial(read),
            Line::Bad(why) => return Body::Bad(format!("chunk line: {why}")),
        };
        let size = match parse_chunk_size(line) {
            Ok(size) => size,
            Err(why) => return Body::Bad(why),
        };
        read.length += line.len() + 2;
        if size == 0 {
            break;
        }
        let rest = &bytes[read.length..];
        if rest.len() < size.saturating_add(2) {
            read.keep(&rest[..rest.len().min(size)], keep);
            return Body::Partial(read);
        }
        if &rest[size..size + 2] != b"\r\n" {
            return Body::Bad("no CRLF after the chunk data".into());
        }
        read.keep(&rest[..size], keep);
        read.length += size + 2;
    }
    match read_fields(&bytes[read.length..]) {
        FieldsRead::Whole { fields, length } => {
            read.trailers = fields;
            read.length += length;
            Body::Whole(read)
        }
        FieldsRead::Partial => Body::Partial(read),
        FieldsRead::Bad(why) => Body::Bad(format!("trailers: {why}")),
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

/// Of a body that is not whole so many bytes are kept, for messages.
const PARTIAL_MAX: usize = 64 * 1024;

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
