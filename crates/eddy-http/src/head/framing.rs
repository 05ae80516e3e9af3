//! Message framing: the end of the body, and reuse of the connection afterwards.

use super::HeadFault;
use crate::field::{Field, FieldId, SeenFieldIds};
use crate::method::Version;
use crate::span::Span;

/// Framing of a request body.
///
/// # Spec
/// [RFC 9112 §6.3](https://www.rfc-editor.org/rfc/rfc9112#section-6.3)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestBody {
    /// No body, and no announced length.
    #[default]
    None,
    /// This number of bytes, possibly zero.
    Length(u64),
    /// Chunked; ends with the last chunk and its trailers.
    Chunked,
}

/// Framing of a response body.
///
/// # Spec
/// [RFC 9112 §6.3](https://www.rfc-editor.org/rfc/rfc9112#section-6.3)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResponseBody {
    /// No body, whatever the fields say: 1xx, 204, 304, or a response to `HEAD`.
    #[default]
    None,
    /// This number of bytes, possibly zero.
    Length(u64),
    /// Chunked; ends with the last chunk and its trailers.
    Chunked,
    /// Ends when the connection is closed.
    UntilClose,
}

impl RequestBody {
    /// Whether the body is empty.
    pub fn is_empty(self) -> bool {
        matches!(self, Self::None | Self::Length(0))
    }
}

impl ResponseBody {
    /// Whether the body is empty.
    pub fn is_empty(self) -> bool {
        matches!(self, Self::None | Self::Length(0))
    }

    /// Returns the framing towards a client of this version: a body without a length is chunked where the version
    /// supports it.
    pub fn towards(self, client: Version) -> Self {
        match (self, client) {
            (Self::Chunked | Self::UntilClose, Version::Http11) => Self::Chunked,
            // Ends with the connection in HTTP/1.0, with the stream in HTTP/2.
            (Self::Chunked | Self::UntilClose, Version::Http10 | Version::Http2) => Self::UntilClose,
            (Self::None | Self::Length(_), _) => self,
        }
    }
}

/// Options of the `Connection` field.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    pub(super) has_close: bool,
    pub(super) has_keep_alive: bool,
    pub(super) has_upgrade: bool,
}

/// Parses the fields that announce the framing, of a request or response.
pub(super) fn parse_announced(
    bytes: &[u8],
    fields: &[Field],
    seen: SeenFieldIds,
    version: Version,
) -> Result<RequestBody, HeadFault> {
    let has_coding = seen.has(FieldId::TransferEncoding);
    if !has_coding && !seen.has(FieldId::ContentLength) {
        return Ok(RequestBody::None);
    }
    if has_coding && version == Version::Http10 {
        return Err(HeadFault::CodingInHttp10);
    }
    if has_coding && seen.has(FieldId::ContentLength) {
        return Err(HeadFault::LengthAndCoding);
    }
    if seen.has_repeated(FieldId::TransferEncoding) {
        return Err(HeadFault::CodingRepeated);
    }
    if seen.has_repeated(FieldId::ContentLength) {
        return Err(HeadFault::LengthRepeated);
    }
    if has_coding {
        let coding = value_of(bytes, fields, FieldId::TransferEncoding);
        return if coding.eq_ignore_ascii_case(b"chunked") {
            Ok(RequestBody::Chunked)
        } else {
            Err(HeadFault::BadCoding)
        };
    }
    parse_length(value_of(bytes, fields, FieldId::ContentLength))
        .map(RequestBody::Length)
        .ok_or(HeadFault::BadLength)
}

/// Parses all `Connection` fields and marks the fields that they nominate.
pub(super) fn parse_connection(
    bytes: &[u8],
    fields: &mut [Field],
    seen: SeenFieldIds,
) -> Result<Options, HeadFault> {
    let mut options = Options::default();
    if !seen.has(FieldId::Connection) {
        return Ok(options);
    }
    if !seen.has_repeated(FieldId::Connection)
        && options.read_usual(value_of(bytes, fields, FieldId::Connection))
    {
        return Ok(options);
    }
    let mut count = 0;
    let mut index = 0;
    while let Some(field) = fields.get(index) {
        index += 1;
        if field.id != FieldId::Connection {
            continue;
        }
        for option in list(field.value.of(bytes)) {
            count += 1;
            if count > CONNECTION_OPTIONS_MAX {
                return Err(HeadFault::TooManyOptions);
            }
            options.read(option, bytes, fields);
        }
    }
    Ok(options)
}

impl Options {
    /// Parses the value of nearly all such fields; returns whether it was one of these.
    fn read_usual(&mut self, value: &[u8]) -> bool {
        self.has_keep_alive = value.eq_ignore_ascii_case(b"keep-alive");
        self.has_close = value.eq_ignore_ascii_case(b"close");
        self.has_keep_alive || self.has_close
    }

    fn read(&mut self, option: &[u8], bytes: &[u8], fields: &mut [Field]) {
        if option.eq_ignore_ascii_case(b"keep-alive") {
            self.has_keep_alive = true;
        } else if option.eq_ignore_ascii_case(b"close") {
            self.has_close = true;
        } else if option.eq_ignore_ascii_case(b"upgrade") {
            self.has_upgrade = true;
        } else {
            nominate(option, bytes, fields);
        }
    }

    /// Whether the connection can be reused after this message (RFC 9112 §9.3).
    pub(super) fn keeps_alive(self, version: Version) -> bool {
        !self.has_close && (version == Version::Http11 || self.has_keep_alive)
    }
}

/// Returns the value of the first field with this ID; empty if there is none.
pub(super) fn value_of<'a>(bytes: &'a [u8], fields: &[Field], id: FieldId) -> &'a [u8] {
    span_of(fields, id).of(bytes)
}

/// Returns the position of the value of the first field with this ID.
pub(super) fn span_of(fields: &[Field], id: FieldId) -> Span {
    fields.iter().find(|field| field.id == id).map(|field| field.value).unwrap_or_default()
}

/// Iterates over the members of a comma-separated list without empty ones (RFC 9110 §5.6.1).
pub(super) fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|member| !member.is_empty())
}

/// Marks the unknown fields with this name.
fn nominate(option: &[u8], bytes: &[u8], fields: &mut [Field]) {
    for field in fields {
        if field.id == FieldId::Other && field.name.of(bytes).eq_ignore_ascii_case(option) {
            field.is_nominated = true;
        }
    }
}

fn parse_length(value: &[u8]) -> Option<u64> {
    if value.is_empty() || value.len() > LENGTH_DIGITS_MAX {
        return None;
    }
    let length = value.iter().try_fold(0_u64, |length, byte| {
        byte.is_ascii_digit().then(|| length * 10 + u64::from(byte - b'0'))
    })?;
    (length <= LENGTH_MAX).then_some(length)
}

/// Maximum options of all `Connection` fields of a head.
const CONNECTION_OPTIONS_MAX: usize = 32;

/// Maximum digits of a `Content-Length`: any such number fits into a `u64`.
const LENGTH_DIGITS_MAX: usize = 19;

/// Maximum `Content-Length`: other implementations use signed numbers.
const LENGTH_MAX: u64 = i64::MAX.unsigned_abs();
