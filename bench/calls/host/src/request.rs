//! A request of twenty header fields, the view of it that the guest gets, and the host functions that access it.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use crate::layout::{BenchField, Copy, Hook, Host, Operation, Request, Text};

/// A request with its memory. It must not move: the guest's view points into it.
pub(crate) struct Message {
    content: Box<Content>,
    edits: Vec<u64>,
    view: Request,
}

/// The request data of the host.
struct Content {
    bytes: Vec<u8>,
    fields: Vec<BenchField>,
    /// Edits that the guest has requested.
    changes: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Message {
    /// Creates a request like that of a browser, with the credentials that the guest's filters expect.
    pub(crate) fn new() -> Self {
        let mut content =
            Box::new(Content { bytes: Vec::new(), fields: Vec::new(), changes: Vec::with_capacity(8) });
        for (name, value) in FIELDS {
            content.add(name, value);
        }
        let mut edits = vec![0_u64; EDITS_WORDS];
        let view = Request {
            bytes: content.bytes.as_ptr(),
            fields: content.fields.as_ptr(),
            bytes_length: length_of(&content.bytes),
            fields_length: length_of(&content.fields),
            edits: edits.as_mut_ptr().cast(),
            edits_capacity: length_of(&edits) * 8,
            edits_length: 0,
            host: null_mut(),
        };
        Self { content, edits, view }
    }

    /// Returns the view for the guest.
    pub(crate) fn request(&mut self) -> &mut Request {
        self.view.host = (&raw mut *self.content).cast();
        &mut self.view
    }

    /// Calls a hook with the request and applies the edits that it has written.
    pub(crate) fn enter(&mut self, hook: Hook) -> c_int {
        self.content.changes.clear();
        self.view.edits_length = 0;
        let request = self.request();
        // SAFETY: the view points to memory of `self`, which nothing else accesses while the hook runs. A hook is a
        // guest function that takes a request.
        let answer = unsafe { hook(request) };
        self.apply();
        answer
    }

    /// Returns the number of edits that the last hook made.
    pub(crate) fn applied(&self) -> usize {
        self.content.changes.len()
    }

    /// Returns the result of a hook that has visited every field: the sum of all lengths and of the first bytes of
    /// the names.
    pub(crate) fn visited(&self) -> c_int {
        let of = |(name, value): &(&str, &str)| name.len() + value.len() + usize::from(name.as_bytes()[0]);
        c_int::try_from(FIELDS.iter().map(of).sum::<usize>()).expect("a small number")
    }

    /// Reads the edit list without trusting its contents.
    fn apply(&mut self) {
        let mut rest = self.edits.as_slice();
        let mut left = self.view.edits_length as usize / 8;
        while left > 0 {
            let Some((head, tail)) = rest.split_first() else { return };
            let lengths = head.to_ne_bytes();
            let [a, b, c, d, e, f, g, h] = lengths;
            let name_length = u32::from_ne_bytes([a, b, c, d]) as usize;
            let value_length = u32::from_ne_bytes([e, f, g, h]) as usize;
            let words = (name_length + value_length).div_ceil(8);
            let Some(body) = tail.get(..words) else { return };
            let (name, value) = split(body, name_length, value_length);
            self.content.changes.push((name, value));
            rest = &tail[words..];
            left = left.saturating_sub(words + 1);
        }
    }
}

/// Copies the name and the value of a record out of its words.
fn split(words: &[u64], name_length: usize, value_length: usize) -> (Vec<u8>, Vec<u8>) {
    // SAFETY: words have no padding, and a byte may have any value and any address.
    let (_, bytes, _) = unsafe { words.align_to::<u8>() };
    let (name, rest) = bytes.split_at(name_length);
    (name.to_vec(), rest[..value_length].to_vec())
}

impl Content {
    fn add(&mut self, name: &str, value: &str) {
        let name_start = length_of(&self.bytes);
        self.bytes.extend_from_slice(name.as_bytes());
        let value_start = length_of(&self.bytes);
        self.bytes.extend_from_slice(value.as_bytes());
        let id = if name == "authorization" { AUTHORIZATION } else { 0 };
        let value_end = length_of(&self.bytes);
        self.fields.push(BenchField { name_start, name_end: value_start, value_start, value_end, id });
    }

    fn text(&self, start: u32, end: u32) -> &[u8] {
        &self.bytes[start as usize..end as usize]
    }
}

fn length_of<T>(items: &[T]) -> u32 {
    u32::try_from(items.len()).expect("a few hundred")
}

/// The functions that the guest may call.
pub(crate) static HOST: Host = Host { empty: host_empty, get: host_get, set: host_set, copy: host_copy };

extern "C" fn host_empty(_: *mut c_void) -> usize {
    0
}

/// Finds a field by name and returns its value.
unsafe extern "C" fn host_get(operation: *mut Operation) -> usize {
    // SAFETY: the guest passes an operation that nothing else accesses during the call.
    let operation = unsafe { &mut *operation };
    let Some(content) = content_of(operation.request) else { return 0 };
    let name = bytes_of(&operation.name);
    let found = content.fields.iter().find(|field| content.text(field.name_start, field.name_end) == name);
    let value = found.map_or(&[][..], |field| content.text(field.value_start, field.value_end));
    operation.value = Text { data: value.as_ptr(), length: value.len() };
    1
}

/// Records an edit.
unsafe extern "C" fn host_set(operation: *mut Operation) -> usize {
    // SAFETY: the guest passes an operation that nothing else accesses during the call.
    let operation = unsafe { &mut *operation };
    let Some(content) = content_of(operation.request) else { return 0 };
    content.changes.push((bytes_of(&operation.name).to_vec(), bytes_of(&operation.value).to_vec()));
    1
}

/// Copies all fields into buffers that the guest has allocated.
unsafe extern "C" fn host_copy(copy: *mut Copy) -> usize {
    // SAFETY: the guest passes a description that nothing else accesses during the call.
    let copy = unsafe { &mut *copy };
    let Some(content) = content_of(copy.request) else { return 0 };
    // SAFETY: the guest has allocated as many bytes as the request states.
    unsafe { copy.bytes.copy_from_nonoverlapping(content.bytes.as_ptr(), content.bytes.len()) };
    if !copy.fields.is_null() {
        // SAFETY: as above, for the fields.
        unsafe { copy.fields.copy_from_nonoverlapping(content.fields.as_ptr(), content.fields.len()) };
    }
    if !copy.texts.is_null() {
        // SAFETY: as above, for a pair of texts per field.
        let texts = unsafe { std::slice::from_raw_parts_mut(copy.texts, content.fields.len()) };
        for (pair, field) in texts.iter_mut().zip(&content.fields) {
            let text = |start: u32, end: u32| Text {
                data: copy.bytes.wrapping_add(start as usize),
                length: (end - start) as usize,
            };
            *pair = [text(field.name_start, field.name_end), text(field.value_start, field.value_end)];
        }
    }
    1
}

fn content_of<'a>(request: *mut Request) -> Option<&'a mut Content> {
    // SAFETY: the guest passes the request that its hook was called with, which lives until the hook returns.
    let request = unsafe { request.as_ref() }?;
    // SAFETY: `Message::request` has stored the address of the content; nothing else accesses it while the guest
    // runs.
    unsafe { request.host.cast::<Content>().as_mut() }
}

fn bytes_of(text: &Text) -> &[u8] {
    if text.length == 0 {
        return &[];
    }
    // SAFETY: the guest passes bytes that stay valid until the call returns.
    unsafe { std::slice::from_raw_parts(text.data, text.length) }
}

/// Number of the field `authorization`, as defined in guest/request.go.
const AUTHORIZATION: u32 = 33;

/// Capacity of the edit list, in words.
const EDITS_WORDS: usize = 512;

const FIELDS: [(&str, &str); 20] = [
    ("host", "www.example.com"),
    ("user-agent", "Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0"),
    ("accept", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"),
    ("accept-language", "en-GB,en;q=0.8,de-DE;q=0.6,de;q=0.4"),
    ("accept-encoding", "gzip, deflate, br, zstd"),
    ("referer", "https://www.example.com/catalogue/shoes?page=4"),
    ("cookie", "session=0f6f1d7fbd6a4b3f9e64c0a57e6d0a11; theme=dark; consent=all"),
    ("upgrade-insecure-requests", "1"),
    ("sec-fetch-dest", "document"),
    ("sec-fetch-mode", "navigate"),
    ("sec-fetch-site", "same-origin"),
    ("sec-fetch-user", "?1"),
    ("priority", "u=0, i"),
    ("cache-control", "no-cache"),
    ("x-request-id", "7b0a5a1c-8c46-4a0e-9f2b-1d5f6b1c2d3e"),
    ("x-forwarded-for", "192.0.2.43, 198.51.100.17"),
    ("x-forwarded-proto", "https"),
    ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ("authorization", "Basic Zm9vbmFtZTp2YWxpZHBhc3N3b3Jk"),
    ("if-none-match", "\"33a64df551425fcc55e4d42a148795d9f25f89d4\""),
];
