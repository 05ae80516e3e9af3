//! Byte classes, and searches that process eight bytes at a time.

mod class;
mod word;

pub(crate) use class::{NameBytes, hex_value, is_host_name, is_tchar, is_text, is_vchar, write_percent};
pub(crate) use word::{
    SwarWord, find_name_end, find_path_end, find_query_end, find_text_end, find_token_end, load, word_of,
};

#[cfg(test)]
mod tests;
