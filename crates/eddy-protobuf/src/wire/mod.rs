//! The wire format: varints, tags, and complete messages in memory.

mod fields;
mod front;
mod items;
mod joint;
mod types;
mod utf8;
mod varint;
mod write;

pub use fields::FieldWriter;
pub(crate) use front::front;
pub use items::{Items, WireValue};
pub(crate) use joint::Joint;
pub(crate) use types::{
    FIXED32, FIXED64, GROUP_END, GROUP_START, HEADER_BYTES_MAX, LENGTH, LENGTH_MAX, NUMBER_MAX, VARINT,
};
pub(crate) use utf8::{PiecePosition, Utf8Chunk, valid_chunk};
pub(crate) use varint::{WireRead, number_of, read_value, read_varint, tag_of, unzigzag, wire_type_of};
pub(crate) use write::{close_length, open_length, varint_len, write_bytes, write_tag, write_varint};
