//! In-place changes to a parsed head.
//!
//! New text is appended to the bytes of the head and its position is entered in the table of fields, so that a head
//! changed by filters is read and written like a received one.

use super::authority::parse_authority;
use super::target::is_origin_target;
use super::{RequestHead, ResponseHead};
use crate::edits::{EDIT_BYTES_MAX, EditFault, check_name_and_value};
use crate::field::{Field, FieldId, is_alias_of};
use crate::method::{METHOD_BYTES_MAX, Method, PREFACE_METHOD};
use crate::octet::is_tchar;
use crate::span::Span;

/// Validates a field that is to be set or added.
///
/// # Errors
/// Any [`EditFault`] except [`EditFault::HeadFull`].
pub fn check_field(name: &[u8], value: &[u8]) -> Result<(), EditFault> {
    FieldsEditor::new(&mut Vec::new(), &mut Vec::new()).check(name, value).map(drop)
}

/// Editor for the fields of a head and the bytes they refer to.
#[derive(Debug)]
pub struct FieldsEditor<'a> {
    bytes: &'a mut Vec<u8>,
    fields: &'a mut Vec<Field>,
    bytes_max: usize,
}

impl<'a> FieldsEditor<'a> {
    /// Opens a section that is not a request or response head: a trailer section.
    pub fn new(bytes: &'a mut Vec<u8>, fields: &'a mut Vec<Field>) -> Self {
        Self { bytes, fields, bytes_max: HEAD_BYTES_EDITED_MAX }
    }

    /// Replaces all fields with this name, in any case and spelling of its separators, by one.
    ///
    /// # Errors
    /// Any [`EditFault`]; the head is then unchanged.
    ///
    /// # Cost
    /// One pass over the fields, one copy of name and value.
    pub fn set(&mut self, name: &[u8], value: &[u8]) -> Result<(), EditFault> {
        let id = self.check(name, value)?;
        let field = self.write(id, name, value);
        let fields = &mut *self.fields;
        let place = fields.iter().position(|field| is_same(self.bytes, field, id, name));
        match place.and_then(|place| Some((place, fields.get_mut(place)?))) {
            Some((place, first)) => {
                *first = field;
                let bytes = &*self.bytes;
                let mut index = 0;
                fields.retain(|field| {
                    index += 1;
                    index <= place + 1 || !is_same(bytes, field, id, name)
                });
            }
            None => fields.push(field),
        }
        Ok(())
    }

    /// Adds a field after the existing ones.
    ///
    /// # Errors
    /// Any [`EditFault`]; the head is then unchanged.
    pub fn add(&mut self, name: &[u8], value: &[u8]) -> Result<(), EditFault> {
        let id = self.check(name, value)?;
        let field = self.write(id, name, value);
        self.fields.push(field);
        Ok(())
    }

    /// Removes all fields with this name, in any case and spelling of its separators. `Content-Length` may be removed
    /// too, because the framing was determined before and is written anew.
    ///
    /// # Errors
    /// Any [`EditFault`] except `BadValue`.
    pub fn remove(&mut self, name: &[u8]) -> Result<(), EditFault> {
        let is_length = FieldId::from_name(name) == FieldId::ContentLength;
        let id = if is_length { FieldId::ContentLength } else { self.check(name, b"")? };
        let bytes = &*self.bytes;
        self.fields.retain(|field| !is_same(bytes, field, id, name));
        Ok(())
    }

    /// Removes the received fields for whose name `keeps` returns false; it is called in the order of the fields.
    /// Fields that were set or added since are kept.
    pub fn retain(&mut self, mut keeps: impl FnMut(&[u8]) -> bool) {
        let bytes = &*self.bytes;
        self.fields.retain(|field| field.is_own || keeps(field.name.of(bytes)));
    }

    fn check(&self, name: &[u8], value: &[u8]) -> Result<FieldId, EditFault> {
        if name.len() > EDIT_BYTES_MAX || value.len() > VALUE_BYTES_MAX {
            return Err(EditFault::TooLong { name: shown(name.get(..64).unwrap_or(name)) });
        }
        let id = check_name_and_value(name, value)?;
        let is_full = self.bytes.len() + name.len() + value.len() + 4 > self.bytes_max;
        if is_full || self.fields.len() >= FIELDS_EDITED_MAX {
            return Err(EditFault::HeadFull);
        }
        Ok(id)
    }

    /// Appends a complete field line, so that a writer can copy it as a whole.
    fn write(&mut self, id: FieldId, name: &[u8], value: &[u8]) -> Field {
        let value = value.trim_ascii();
        let start = self.bytes.len();
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(b": ");
        let value_start = self.bytes.len();
        self.bytes.extend_from_slice(value);
        let end = self.bytes.len();
        self.bytes.extend_from_slice(b"\r\n");
        Field {
            name: Span::new(start, start + name.len()),
            value: Span::new(value_start, end),
            id,
            is_nominated: false,
            is_own: true,
        }
    }
}

impl RequestHead {
    /// Opens the fields for changes; `bytes` must be those that were parsed.
    pub fn edit<'a>(&'a mut self, bytes: &'a mut Vec<u8>) -> FieldsEditor<'a> {
        self.is_edited = true;
        FieldsEditor::new(bytes, &mut self.fields)
    }

    /// Replaces the method of the client.
    ///
    /// # Errors
    /// [`EditFault::BadMethod`] for an invalid method, and for a change to or from `HEAD`, `CONNECT` or `TRACE`, which
    /// determine where messages end.
    pub fn set_method(&mut self, bytes: &mut Vec<u8>, name: &[u8]) -> Result<(), EditFault> {
        let method = Method::from_bytes(name);
        let is_token =
            !name.is_empty() && name.len() <= METHOD_BYTES_MAX && name.iter().copied().all(is_tchar);
        let is_special = |method| matches!(method, Method::Head | Method::Connect | Method::Trace);
        let is_same = self.method == method && self.method_name(bytes) == name;
        if !is_token
            || name == PREFACE_METHOD
            || (!is_same && (is_special(method) || is_special(self.method)))
        {
            return Err(EditFault::BadMethod { name: shown(name) });
        }
        self.method_span = append(bytes, name)?;
        self.method = method;
        Ok(())
    }

    /// Replaces the target of the client by a path and query.
    ///
    /// # Errors
    /// [`EditFault::BadTarget`] when it does not begin with a slash or has a byte that is not allowed in a target.
    pub fn set_target(&mut self, bytes: &mut Vec<u8>, target: &[u8]) -> Result<(), EditFault> {
        if !is_origin_target(target) {
            return Err(EditFault::BadTarget { target: shown(target.get(..256).unwrap_or(target)) });
        }
        let whole = append(bytes, target)?;
        let start = whole.start as usize;
        let path_len = target.iter().position(|&byte| byte == b'?').unwrap_or(target.len());
        self.target = whole;
        self.path = Span::new(start, start + path_len);
        self.query = (path_len < target.len()).then(|| Span::new(start + path_len + 1, start + target.len()));
        self.form = super::TargetForm::Origin;
        Ok(())
    }

    /// Replaces the host of the client, with or without a port.
    ///
    /// # Errors
    /// [`EditFault::BadAuthority`] when it has no valid host.
    pub fn set_authority(&mut self, bytes: &mut Vec<u8>, authority: &[u8]) -> Result<(), EditFault> {
        let span = append(bytes, authority)?;
        let parsed = parse_authority(bytes, span).ok_or_else(|| EditFault::BadAuthority {
            authority: shown(authority.get(..256).unwrap_or(authority)),
        })?;
        self.authority = parsed.whole;
        self.host = parsed.host;
        if let Some(field) = self.fields.iter_mut().find(|field| field.id == FieldId::Host) {
            field.value = parsed.whole;
        }
        self.is_authority_own = true;
        Ok(())
    }
}

impl ResponseHead {
    /// Opens the fields for changes; `bytes` must be those that were parsed.
    pub fn edit<'a>(&'a mut self, bytes: &'a mut Vec<u8>) -> FieldsEditor<'a> {
        FieldsEditor::new(bytes, &mut self.fields)
    }

    /// Replaces the status of the origin and removes its reason phrase.
    ///
    /// # Errors
    /// [`EditFault::BadStatus`] outside of 200 to 599, and for a change to or from a status without a body.
    pub fn set_status(&mut self, status: u32) -> Result<(), EditFault> {
        let has_body = |status: u16| !matches!(status, 204 | 205 | 304);
        match u16::try_from(status) {
            Ok(status) if (200..600).contains(&status) && has_body(status) == has_body(self.status) => {
                if status != self.status {
                    self.reason = Span::default();
                }
                self.status = status;
                Ok(())
            }
            _ => Err(EditFault::BadStatus { status }),
        }
    }
}

/// Whether a field has this name for a recipient that treats all separators as the same.
fn is_same(bytes: &[u8], field: &Field, id: FieldId, name: &[u8]) -> bool {
    if id.is_known() { field.id == id } else { is_alias_of(field.name.of(bytes), name) }
}

fn append(bytes: &mut Vec<u8>, text: &[u8]) -> Result<Span, EditFault> {
    let start = bytes.len();
    if start + text.len() > HEAD_BYTES_EDITED_MAX {
        return Err(EditFault::HeadFull);
    }
    bytes.extend_from_slice(text);
    Ok(Span::new(start, bytes.len()))
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Maximum size of a head after changes, bytes, including replaced text.
pub const HEAD_BYTES_EDITED_MAX: usize = 1024 * 1024;

/// Maximum fields of a head after changes.
const FIELDS_EDITED_MAX: usize = 2000;

/// Maximum bytes of a value that is set.
const VALUE_BYTES_MAX: usize = 256 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head::{HeadLimits, RequestBody};

    fn parsed(text: &str) -> (Vec<u8>, RequestHead) {
        let bytes = text.as_bytes().to_vec();
        let mut head = RequestHead::new();
        head.parse(&bytes, &HeadLimits::default()).unwrap();
        (bytes, head)
    }

    fn lines(bytes: &[u8], head: &RequestHead) -> Vec<String> {
        let line = |name: &[u8], value: &[u8]| format!("{}={}", shown(name), shown(value));
        head.fields(bytes).iter().map(|field| line(field.name, field.value)).collect()
    }

    #[test]
    fn a_set_field_replaces_every_spelling() {
        let (mut bytes, mut head) =
            parsed("GET / HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nb: 2\r\nx-a: 3\r\nx_a: 4\r\n\r\n");
        head.edit(&mut bytes).set(b"x-a", b" 5 ").unwrap();
        assert_eq!(lines(&bytes, &head), ["Host=a", "x-a=5", "b=2"]);
        head.edit(&mut bytes).add(b"c", b"").unwrap();
        head.edit(&mut bytes).remove(b"B").unwrap();
        head.edit(&mut bytes).set(b"User-Agent", b"eddy").unwrap();
        assert_eq!(lines(&bytes, &head), ["Host=a", "x-a=5", "c=", "User-Agent=eddy"]);
    }

    #[test]
    fn a_content_length_can_be_removed_and_the_framing_is_unchanged() {
        let (mut bytes, mut head) = parsed("POST / HTTP/1.1\r\nHost: a\r\ncontent-length: 3\r\n\r\n");
        head.edit(&mut bytes).remove(b"Content-Length").unwrap();
        assert_eq!(lines(&bytes, &head), ["Host=a"]);
        assert_eq!(head.body, RequestBody::Length(3));
    }

    #[test]
    fn a_refused_edit_leaves_the_head_unchanged() {
        let (mut bytes, mut head) = parsed("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        let before = lines(&bytes, &head);
        for name in ["host", "Content-Length", "te", "connection", "content_length", "", "a b", "a\n"] {
            assert!(head.edit(&mut bytes).set(name.as_bytes(), b"1").is_err(), "{name:?}");
            let may_go = name == "Content-Length";
            assert_eq!(head.edit(&mut bytes).remove(name.as_bytes()).is_ok(), may_go, "{name:?}");
        }
        for value in ["a\r\nb: c", "\0", "\u{7f}", "\n"] {
            let refused = head.edit(&mut bytes).add(b"x-a", value.as_bytes());
            assert!(matches!(refused, Err(EditFault::BadValue { .. })), "{value:?}");
        }
        for target in ["", "a", "*", "http://a/", "/ a", "/a#b", "/a\r\n", "/ä"] {
            assert!(head.set_target(&mut bytes, target.as_bytes()).is_err(), "{target:?}");
        }
        for method in ["", "G T", "HEAD", "CONNECT", "TRACE", "PRI", "G\r\n"] {
            assert!(head.set_method(&mut bytes, method.as_bytes()).is_err(), "{method:?}");
        }
        for authority in ["", "a b", "a:0", "u@a", "[::1", "a/"] {
            assert!(head.set_authority(&mut bytes, authority.as_bytes()).is_err(), "{authority:?}");
        }
        assert_eq!(lines(&bytes, &head), before);
        assert_eq!((head.target.of(&bytes), head.authority.of(&bytes)), (b"/".as_slice(), b"a".as_slice()));
        assert_eq!(head.method, Method::Get);
    }

    #[test]
    fn a_changed_start_line_is_read_back() {
        let (mut bytes, mut head) = parsed("GET /a?b HTTP/1.1\r\nHost: a\r\n\r\n");
        head.set_target(&mut bytes, b"/c/d?e=f").unwrap();
        head.set_method(&mut bytes, b"PURGE").unwrap();
        head.set_authority(&mut bytes, b"b.example:81").unwrap();
        assert_eq!(head.path.of(&bytes), b"/c/d");
        assert_eq!(head.query.unwrap().of(&bytes), b"e=f");
        assert_eq!(head.host.of(&bytes), b"b.example");
        assert_eq!(lines(&bytes, &head), ["Host=b.example:81"]);
        head.set_target(&mut bytes, b"/").unwrap();
        assert_eq!(head.query, None);
    }

    #[test]
    fn a_head_grows_to_its_limits_and_no_further() {
        let (mut bytes, mut head) = parsed("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        let mut count = 0;
        while head.edit(&mut bytes).add(b"x-a", b"1").is_ok() {
            count += 1;
        }
        assert_eq!(count, FIELDS_EDITED_MAX - 1);
        let (mut bytes, mut head) = parsed("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
        let large = vec![b'a'; VALUE_BYTES_MAX];
        while head.edit(&mut bytes).set(b"x-a", &large).is_ok() {}
        assert!(bytes.len() <= HEAD_BYTES_EDITED_MAX);
        assert_eq!(
            head.set_target(&mut bytes, &[b"/".as_slice(), &large[..60_000]].concat()).is_ok(),
            bytes.len() + 60_001 <= HEAD_BYTES_EDITED_MAX
        );
    }

    #[test]
    fn a_status_changes_only_if_the_body_framing_is_unchanged() {
        let bytes = b"HTTP/1.1 200 Fine\r\nContent-Length: 0\r\n\r\n".to_vec();
        let mut head = ResponseHead::new();
        head.parse(&bytes, &HeadLimits::default(), Method::Get).unwrap();
        for status in [0, 100, 101, 199, 204, 304, 600, 70_000] {
            assert_eq!(head.set_status(status), Err(EditFault::BadStatus { status }));
        }
        head.set_status(404).unwrap();
        assert_eq!((head.status, head.reason.of(&bytes)), (404, b"".as_slice()));
    }
}
