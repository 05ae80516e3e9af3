//! HPACK, the header compression of HTTP/2.
//!
//! # Spec
//! [RFC 7541](https://www.rfc-editor.org/rfc/rfc7541)

mod decoder;
mod encoder;
mod huffman;
mod integer;
mod names;
mod table;

#[cfg(test)]
mod tests;

pub(super) use decoder::Decoder;
pub(super) use encoder::{PseudoHeaders, encode_field, encode_pseudo_headers, encode_status};
#[cfg(test)]
pub(super) use huffman::encode as huffman_encode;
