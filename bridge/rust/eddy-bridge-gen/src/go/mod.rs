//! The Go side, as text that gofmt leaves as it is.

mod codec;
mod frame;
mod names;
mod service;
mod text;

pub(crate) use self::text::file;
