//! Message data laid out so that compiled Lua code reads it in place; `api/layout.lua` declares the same layout in C.

use eddy_http::{Field, Fields};

use super::numbers::BodySeen;

/// Message data of a VM, read by its code; it never moves.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct LuaMessageLayout {
    /// Number of the running hook; 0 if none runs.
    pub(super) scope: u32,
    /// Number of the current body piece.
    pub(super) piece: u32,
    /// Number of changes to the message.
    pub(super) changes: u32,
    /// Response status.
    pub(super) status: u32,
    /// Number of the [`Direction`](eddy_filter::Direction) of the message.
    pub(super) way: u8,
    /// Whether nothing follows in this direction.
    pub(super) is_end: bool,
    /// Whether the head can still be changed.
    pub(super) is_open: bool,
    /// Amount of the body that the hook has seen.
    pub(super) body_seen: BodySeen,
    /// Whether the piece can be changed.
    pub(super) has_piece: bool,
    pub(super) reserved: [u8; 3],
    pub(super) head: LuaFieldsView,
    pub(super) trailers: LuaFieldsView,
    pub(super) method: LuaTextRef,
    pub(super) target: LuaTextRef,
    pub(super) authority: LuaTextRef,
    pub(super) scheme: LuaTextRef,
    pub(super) body: LuaTextRef,
    /// Last answer of the host; valid until the next host call.
    pub(super) answer: LuaTextRef,
    /// Number that belongs to the answer.
    pub(super) number: f64,
    /// Response to the script's own request.
    pub(super) reply: LuaFieldsView,
    pub(super) reply_body: LuaTextRef,
    pub(super) reply_status: u32,
    pub(super) reserved2: u32,
    /// Request fields, in the response hook.
    pub(super) request: LuaFieldsView,
}

/// Fields of a section.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct LuaFieldsView {
    pub(super) bytes: *const u8,
    pub(super) fields: *const Field,
    pub(super) len: u32,
    pub(super) bytes_len: u32,
}

/// Text.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct LuaTextRef {
    pub(super) data: *const u8,
    pub(super) len: u32,
    pub(super) reserved: u32,
}

impl LuaFieldsView {
    #[inline]
    pub(super) fn of(fields: Fields<'_>) -> Self {
        let (bytes, places) = (fields.bytes(), fields.places());
        debug_assert!(
            places
                .iter()
                .all(|field| [field.name, field.value].iter().all(|span| span.end as usize <= bytes.len())),
            "places are read without a check"
        );
        Self {
            bytes: bytes.as_ptr(),
            fields: places.as_ptr(),
            len: narrow(places.len()),
            bytes_len: narrow(bytes.len()),
        }
    }
}

impl LuaTextRef {
    #[inline]
    pub(super) fn of(text: &[u8]) -> Self {
        Self { data: text.as_ptr(), len: narrow(text.len()), reserved: 0 }
    }
}

#[inline]
fn narrow(len: usize) -> u32 {
    u32::try_from(len).expect("the size limits of heads and bodies are below `u32::MAX`")
}
