//! Generates the Go side, as text that gofmt does not change.

mod codec;
mod frame;
mod names;
mod service;
mod text;

pub(crate) use self::text::file;
