//! Text forms of JSON values: strings, numbers, Base64, times and paths.

mod base64;
mod mask;
mod number;
mod string;
mod time;

pub use base64::{decode_base64, write_base64};
pub(super) use mask::{read_mask_path, write_mask_path};
pub(super) use number::{
    parse_double, parse_float, parse_signed, parse_unsigned, write_double, write_float, write_signed,
    write_unsigned,
};
pub(crate) use string::write_text;
pub(super) use string::{plain_len, unescape, write_escaped};
pub(super) use time::{parse_duration, parse_timestamp, write_duration, write_timestamp};
