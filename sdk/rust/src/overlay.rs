//! The message with the earlier edits of the same crossing.
//!
//! The host applies edits when the library has returned. Until then, a filter sees its own edits, and those of
//! earlier filters of the library, through copies made here; unchanged parts are not copied.

use std::cell::OnceCell;

use crate::abi;
use crate::edit_log::{EditLogRecord, EditLogRecords};
use crate::view::RawHead;

/// Values that live as long as the crossing and are returned by reference while more are added.
#[derive(Default)]
pub(crate) struct Arena {
    first: OnceCell<Box<OverlayNode>>,
}

struct OverlayNode {
    content: OverlayContent,
    next: OnceCell<Box<Self>>,
}

enum OverlayContent {
    Bytes(Vec<u8>),
    Head(OwnedHead),
}

/// A head whose bytes and fields are owned.
#[derive(Default)]
pub(crate) struct OwnedHead {
    bytes: Vec<u8>,
    fields: Vec<abi::AbiField>,
}

impl Arena {
    /// Stores bytes.
    pub(crate) fn keep(&self, bytes: Vec<u8>) -> &[u8] {
        match self.add(OverlayContent::Bytes(bytes)) {
            OverlayContent::Bytes(bytes) => bytes,
            OverlayContent::Head(_) => &[],
        }
    }

    /// Stores a head.
    pub(crate) fn keep_head(&self, head: OwnedHead) -> RawHead<'_> {
        match self.add(OverlayContent::Head(head)) {
            OverlayContent::Head(head) => RawHead { bytes: &head.bytes, fields: &head.fields },
            OverlayContent::Bytes(_) => RawHead::default(),
        }
    }

    fn add(&self, content: OverlayContent) -> &OverlayContent {
        let mut place = &self.first;
        while let Some(node) = place.get() {
            place = &node.next;
        }
        &place.get_or_init(|| Box::new(OverlayNode { content, next: OnceCell::new() })).content
    }
}

impl Drop for Arena {
    /// Drops one node after the other: a list that drops itself recursively would need stack for each.
    fn drop(&mut self) {
        let mut next = self.first.take();
        while let Some(mut node) = next {
            next = node.next.take();
        }
    }
}

impl OwnedHead {
    /// Returns the head with the edits applied.
    pub(crate) fn edited<'r>(head: RawHead<'_>, edits: impl Iterator<Item = EditLogRecord<'r>>) -> Self {
        let fields = head.fields.iter().map(|field| {
            (head.span(field.name).to_vec(), head.span(field.value).to_vec(), field.id, field.flags)
        });
        let mut fields: Vec<_> = fields.collect();
        for edit in edits {
            let id = crate::FieldId::of(edit.name).map_or(abi::FIELD_OTHER, crate::FieldId::number);
            let new = (edit.name.to_vec(), edit.value.to_vec(), id, 0);
            let is_named = |name: &[u8]| name.eq_ignore_ascii_case(edit.name);
            match edit.op {
                abi::EDIT_ADD => fields.push(new),
                abi::EDIT_SET => {
                    let place = fields.iter().position(|(name, ..)| is_named(name));
                    fields.retain(|(name, ..)| !is_named(name));
                    fields.insert(place.unwrap_or(fields.len()).min(fields.len()), new);
                }
                abi::EDIT_AUTHORITY => {
                    if let Some(host) = fields.iter_mut().find(|(_, _, id, _)| *id == abi::FIELD_HOST) {
                        host.1 = edit.value.to_vec();
                    }
                }
                abi::EDIT_REMOVE => fields.retain(|(name, ..)| !is_named(name)),
                _ => {}
            }
        }
        let mut own = Self::default();
        for (name, value, id, flags) in fields {
            own.push(&name, &value, id, flags);
        }
        own
    }

    /// Adds a field; one that would exceed the maximum size of a head is left out.
    pub(crate) fn push(&mut self, name: &[u8], value: &[u8], id: u8, flags: u8) {
        let at = |len: usize| u32::try_from(len).ok();
        let start = self.bytes.len();
        let (name_end, end) = (start + name.len(), start + name.len() + value.len());
        let (Some(start), Some(name_end), Some(end)) = (at(start), at(name_end), at(end)) else { return };
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
        self.fields.push(abi::AbiField {
            name: abi::AbiSpan { start, end: name_end },
            value: abi::AbiSpan { start: name_end, end },
            id,
            flags,
            reserved: 0,
        });
    }

    /// Returns the ABI form, valid as long as this is not changed.
    pub(crate) fn as_abi(&self) -> abi::AbiHead {
        abi::AbiHead {
            bytes: self.bytes.as_ptr(),
            fields: self.fields.as_ptr(),
            bytes_len: u32::try_from(self.bytes.len()).unwrap_or_default(),
            fields_len: u32::try_from(self.fields.len()).unwrap_or_default(),
        }
    }
}

/// Returns the name of the field that a record changes, if any.
pub(crate) fn field_of<'r>(record: &EditLogRecord<'r>) -> Option<&'r [u8]> {
    match record.op {
        abi::EDIT_SET | abi::EDIT_ADD | abi::EDIT_REMOVE => Some(record.name),
        // The `Host` header follows the authority.
        abi::EDIT_AUTHORITY => Some(b"host"),
        _ => None,
    }
}

/// Returns the value of the last record of a kind.
pub(crate) fn last_value(records: EditLogRecords<'_>, op: u16) -> Option<Vec<u8>> {
    records.filter(|record| record.op == op).last().map(|record| record.value.to_vec())
}

/// Returns the body with the edits applied; `None` if there are none.
pub(crate) fn edited_body(body: &[u8], records: EditLogRecords<'_>) -> Option<Vec<u8>> {
    let mut edited: Option<Vec<u8>> = None;
    for record in records {
        match record.op {
            abi::EDIT_BODY_SET => edited = Some(record.value.to_vec()),
            abi::EDIT_BODY_APPEND => {
                edited.get_or_insert_with(|| body.to_vec()).extend_from_slice(record.value)
            }
            abi::EDIT_BODY_PREPEND => {
                let whole = edited.get_or_insert_with(|| body.to_vec());
                whole.splice(0..0, record.value.iter().copied());
            }
            abi::EDIT_BODY_DRAIN => {
                let whole = edited.get_or_insert_with(|| body.to_vec());
                whole.drain(..(record.number as usize).min(whole.len()));
            }
            _ => {}
        }
    }
    edited
}
