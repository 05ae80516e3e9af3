//! What a hook sees, laid out so that compiled Lua code reads it in place; `api/layout.lua` says the same in C.

use std::ptr;

use eddy_http::{Field, Fields};

/// The one place of a virtual machine that its code reads messages from; it never moves.
#[derive(Debug)]
#[repr(C)]
pub(super) struct LuaMessageLayout {
    /// The number of the hook that runs; 0 while none does.
    pub(super) scope: u32,
    /// The number of the piece of a body that is shown.
    pub(super) piece: u32,
    /// How often the fields were changed.
    pub(super) changes: u32,
    /// The response's status.
    pub(super) status: u32,
    /// 0 for the request, 1 for the response.
    pub(super) way: u8,
    /// Whether nothing follows in this direction.
    pub(super) is_end: u8,
    /// Whether the head can still be changed.
    pub(super) is_open: u8,
    /// What the hook has seen of the body: one of [`BodySeen`].
    pub(super) body_seen: u8,
    /// Whether the piece can be changed.
    pub(super) has_piece: u8,
    pub(super) reserved: [u8; 3],
    pub(super) head: ShownFields,
    pub(super) trailers: ShownFields,
    pub(super) method: LuaTextRef,
    pub(super) target: LuaTextRef,
    pub(super) authority: LuaTextRef,
    pub(super) scheme: LuaTextRef,
    pub(super) body: LuaTextRef,
    /// What the host answered last; valid until it is asked again.
    pub(super) answer: LuaTextRef,
    /// A number that came with it.
    pub(super) number: f64,
    /// The answer to a request of the script's own.
    pub(super) reply: ShownFields,
    pub(super) reply_body: LuaTextRef,
    pub(super) reply_status: u32,
    pub(super) reserved2: u32,
}

/// The fields of a section.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct ShownFields {
    pub(super) bytes: *const u8,
    pub(super) fields: *const Field,
    pub(super) len: u32,
    pub(super) bytes_len: u32,
}

/// A text.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct LuaTextRef {
    pub(super) data: *const u8,
    pub(super) len: u32,
    pub(super) reserved: u32,
}

/// What a hook has seen of a body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum BodySeen {
    /// Nothing.
    #[default]
    Nothing = 0,
    /// The whole of it.
    Whole = 1,
    /// Pieces.
    Pieces = 2,
}

impl LuaMessageLayout {
    pub(super) const EMPTY: Self = Self {
        scope: 0,
        piece: 0,
        changes: 0,
        status: 0,
        way: 0,
        is_end: 0,
        is_open: 0,
        body_seen: 0,
        has_piece: 0,
        reserved: [0; 3],
        head: ShownFields::EMPTY,
        trailers: ShownFields::EMPTY,
        method: LuaTextRef::EMPTY,
        target: LuaTextRef::EMPTY,
        authority: LuaTextRef::EMPTY,
        scheme: LuaTextRef::EMPTY,
        body: LuaTextRef::EMPTY,
        answer: LuaTextRef::EMPTY,
        number: 0.0,
        reply: ShownFields::EMPTY,
        reply_body: LuaTextRef::EMPTY,
        reply_status: 0,
        reserved2: 0,
    };
}

impl ShownFields {
    pub(super) const EMPTY: Self = Self { bytes: ptr::null(), fields: ptr::null(), len: 0, bytes_len: 0 };

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
    pub(super) const EMPTY: Self = Self { data: ptr::null(), len: 0, reserved: 0 };

    #[inline]
    pub(super) fn of(text: &[u8]) -> Self {
        Self { data: text.as_ptr(), len: narrow(text.len()), reserved: 0 }
    }
}

/// Heads and bodies are limited to fewer bytes than a `u32` counts.
#[inline]
fn narrow(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(0)
}
