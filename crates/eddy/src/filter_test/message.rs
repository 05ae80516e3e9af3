//! Requests and responses of a spec.

use eddy_filter::{Direction, KeptFields};
use eddy_guest::SpecPart;
use eddy_http::{FieldId, Fields, HeadLimits, Method, RequestHead, ResponseHead};

/// Request or response.
#[derive(Clone, Debug, Default)]
pub(super) struct SpecMessage {
    pub(super) method: Vec<u8>,
    pub(super) target: Vec<u8>,
    pub(super) authority: Vec<u8>,
    /// 0 for a request.
    pub(super) status: u16,
    pub(super) fields: Vec<SpecField>,
    /// Body in the pieces in which it arrives.
    pub(super) pieces: Vec<Vec<u8>>,
    pub(super) trailers: Vec<SpecField>,
}

/// Header or trailer.
#[derive(Clone, Debug)]
pub(super) struct SpecField {
    pub(super) name: Vec<u8>,
    pub(super) value: Vec<u8>,
}

impl SpecField {
    pub(super) fn new(name: &[u8], value: &[u8]) -> Self {
        Self { name: name.to_vec(), value: value.to_vec() }
    }
}

impl SpecMessage {
    /// Applies one part of a message from a spec; returns whether the part belongs to a message at all.
    ///
    /// # Errors
    /// When a status is invalid.
    pub(super) fn take(&mut self, part: &SpecPart) -> Result<bool, String> {
        let named = || SpecField::new(&part.name, &part.value);
        match part.what.as_str() {
            "method" => self.method.clone_from(&part.value),
            "path" => self.target.clone_from(&part.value),
            "authority" => self.authority.clone_from(&part.value),
            "status" => {
                let status = str::from_utf8(&part.value).ok().and_then(|text| text.parse().ok());
                self.status = status
                    .filter(|status| (200..600).contains(status))
                    .ok_or("a status must be 200 to 599")?;
            }
            "field" => self.fields.push(named()),
            "trailer" => self.trailers.push(named()),
            "piece" => self.pieces.push(part.value.clone()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the message in parts for the spec, without framing headers, which eddy sets itself.
    pub(super) fn parts(&self) -> Vec<SpecPart> {
        let mut parts = Vec::new();
        if self.status == 0 {
            parts.push(SpecPart::new("method", "", &self.method));
            parts.push(SpecPart::new("path", "", &self.target));
            parts.push(SpecPart::new("authority", "", &self.authority));
        } else {
            parts.push(SpecPart::new("status", "", self.status.to_string()));
        }
        let fields = self.fields.iter().filter(|field| !is_framing(&field.name));
        parts.extend(fields.map(|field| SpecPart::new("field", &field.name, &field.value)));
        parts.extend(self.pieces.iter().map(|piece| SpecPart::new("piece", "", piece)));
        parts.extend(self.trailers.iter().map(|field| SpecPart::new("trailer", &field.name, &field.value)));
        parts
    }

    /// Returns the request head and the bytes it refers to.
    ///
    /// # Errors
    /// Why eddy would refuse it.
    pub(super) fn request_head(&self) -> Result<(RequestHead, Vec<u8>), String> {
        let or = |text: &[u8], other: &[u8]| if text.is_empty() { other.to_vec() } else { text.to_vec() };
        let (method, target) = (or(&self.method, b"GET"), or(&self.target, b"/"));
        let line = [&method[..], b" ", &target, b" HTTP/1.1\r\n"].concat();
        let mut fields = self.fields_with_framing(Direction::Request);
        if !fields.iter().any(|field| FieldId::from_name(&field.name) == FieldId::Host) {
            fields.insert(0, SpecField::new(b"Host", &or(&self.authority, b"localhost")));
        }
        let (mut head, bytes) = (RequestHead::new(), head_bytes(&line, &fields)?);
        head.parse(&bytes, &LIMITS).map_err(|fault| format!("the request is invalid: {fault}"))?;
        Ok((head, bytes))
    }

    /// Returns the response head and the bytes it refers to.
    ///
    /// # Errors
    /// Why eddy would refuse it.
    pub(super) fn response_head(&self) -> Result<(ResponseHead, Vec<u8>), String> {
        let line = format!("HTTP/1.1 {} \r\n", self.status);
        let (mut head, bytes) = (
            ResponseHead::new(),
            head_bytes(line.as_bytes(), &self.fields_with_framing(Direction::Response))?,
        );
        let parsed = head.parse(&bytes, &LIMITS, Method::Get);
        parsed.map_err(|fault| format!("the response is invalid: {fault}"))?;
        Ok((head, bytes))
    }

    /// Returns the trailers.
    ///
    /// # Errors
    /// Why eddy would refuse them.
    pub(super) fn kept_trailers(&self) -> Result<KeptFields, String> {
        let (mut head, bytes) = (ResponseHead::new(), head_bytes(b"HTTP/1.1 200 \r\n", &self.trailers)?);
        let parsed = head.parse(&bytes, &LIMITS, Method::Get);
        parsed.map_err(|fault| format!("the trailers are invalid: {fault}"))?;
        Ok(KeptFields::of(head.fields(&bytes)))
    }

    /// Returns the headers together with those that announce the body.
    fn fields_with_framing(&self, direction: Direction) -> Vec<SpecField> {
        let mut fields: Vec<SpecField> =
            self.fields.iter().filter(|field| !is_framing(&field.name)).cloned().collect();
        let has_length = direction == Direction::Response && !matches!(self.status, 204 | 304);
        let len = self.pieces.iter().map(Vec::len).sum::<usize>();
        if self.pieces.len() > 1 || !self.trailers.is_empty() {
            fields.push(SpecField::new(b"Transfer-Encoding", b"chunked"));
        } else if !self.pieces.is_empty() || has_length {
            fields.push(SpecField::new(b"Content-Length", len.to_string().as_bytes()));
        }
        fields
    }
}

/// Copies the fields of a section.
pub(super) fn named_of(fields: Fields<'_>) -> Vec<SpecField> {
    fields.iter().map(|field| SpecField::new(field.name, field.value)).collect()
}

fn head_bytes(line: &[u8], fields: &[SpecField]) -> Result<Vec<u8>, String> {
    let mut bytes = line.to_vec();
    for SpecField { name, value } in fields {
        if [name, value].into_iter().flatten().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
            return Err(format!(
                "the header \"{}\" contains a line break or NUL",
                String::from_utf8_lossy(name)
            ));
        }
        bytes.extend_from_slice(&[&name[..], b": ", value, b"\r\n"].concat());
    }
    bytes.extend_from_slice(b"\r\n");
    Ok(bytes)
}

fn is_framing(name: &[u8]) -> bool {
    matches!(FieldId::from_name(name), FieldId::ContentLength | FieldId::TransferEncoding)
}

const LIMITS: HeadLimits =
    HeadLimits { head_bytes_max: 1 << 20, fields_max: 1000, target_bytes_max: 64 << 10 };
