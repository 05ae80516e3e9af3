//! Certificates and keys: reads their files, compiles the settings of listeners and clusters, and warns about problems.

mod advice;
mod files;
mod make;
mod parts;
mod read;

pub(crate) use advice::advise;
pub(crate) use files::TlsFiles;
pub(crate) use make::{KeptTls, make_tls};
pub(crate) use read::ReadTls;
