//! HPACK dynamic table, with the static table in front of it.

use std::collections::VecDeque;

/// Size of an entry in addition to its text (RFC 7541 §4.1).
const ENTRY_BYTES: usize = 32;

/// Dynamic table.
#[derive(Debug)]
pub(super) struct HpackDynamicTable {
    entries: VecDeque<HpackEntry>,
    bytes: usize,
    bytes_max: usize,
}

#[derive(Debug)]
struct HpackEntry {
    text: Box<[u8]>,
    name_bytes: usize,
}

impl HpackEntry {
    fn bytes(&self) -> usize {
        self.text.len() + ENTRY_BYTES
    }
}

impl HpackDynamicTable {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { entries: VecDeque::new(), bytes: 0, bytes_max }
    }

    /// Returns the field with this index: the static table first, then the dynamic entries, the latest first.
    pub(super) fn get(&self, index: usize) -> Option<(&[u8], &[u8])> {
        let Some(own) = index.checked_sub(KNOWN.len() + 1) else {
            let (name, value) = KNOWN.get(index.checked_sub(1)?)?;
            return Some((name.as_bytes(), value.as_bytes()));
        };
        let entry = self.entries.get(own)?;
        entry.text.split_at_checked(entry.name_bytes)
    }

    /// Adds an entry; an entry that does not fit empties the table.
    pub(super) fn insert(&mut self, name: &[u8], value: &[u8]) {
        let entry = HpackEntry { text: [name, value].concat().into(), name_bytes: name.len() };
        self.shrink(self.bytes_max.saturating_sub(entry.bytes()));
        if entry.bytes() <= self.bytes_max {
            self.bytes += entry.bytes();
            self.entries.push_front(entry);
        }
    }

    /// Sets the maximum size of the table.
    pub(super) fn resize(&mut self, bytes_max: usize) {
        self.bytes_max = bytes_max;
        self.shrink(bytes_max);
    }

    fn shrink(&mut self, bytes_max: usize) {
        while self.bytes > bytes_max
            && let Some(oldest) = self.entries.pop_back()
        {
            self.bytes -= oldest.bytes();
        }
    }
}

/// Static table (RFC 7541, appendix A).
#[rustfmt::skip]
const KNOWN: [(&str, &str); 61] = [
    (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
    (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
    (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
    ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
    ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
    ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""), ("etag", ""),
    ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""), ("if-modified-since", ""),
    ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""),
    ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""),
    ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
    ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""), ("via", ""),
    ("www-authenticate", ""),
];
