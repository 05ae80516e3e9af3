//! Tells browsers which other sites may read what is answered (Fetch standard, CORS protocol).

mod config;
mod origin;

pub use config::{CorsConfig, Listed};
pub use origin::{OriginError, OriginPattern};
