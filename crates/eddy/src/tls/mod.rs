//! Certificates and keys: read from their files, made ready for listeners and clusters, and what there is to say of them.

mod advice;
mod files;
mod make;
mod parts;
mod read;

pub(crate) use advice::advise;
pub(crate) use files::TlsFiles;
pub(crate) use make::{KeptTls, make_tls};
pub(crate) use read::ReadTls;
