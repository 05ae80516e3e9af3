//! Certificates and keys: read from their files, made ready for listeners, and what there is to say of them.

mod advice;
mod files;
mod make;

pub(crate) use advice::advise;
pub(crate) use files::{TlsFiles, read_tls};
pub(crate) use make::make_tls;
