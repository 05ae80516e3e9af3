//! Compilation of descriptors to tables: decoding, definition, linking.

mod define;
mod features;
mod file;
mod link;
mod raw;
