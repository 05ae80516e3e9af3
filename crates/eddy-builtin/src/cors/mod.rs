//! Cross-origin resource sharing (Fetch standard, CORS protocol).

mod config;
mod filter;
mod origin;

pub use config::{CorsConfig, Listed};
pub(super) use filter::Cors;
pub use origin::{OriginError, OriginPattern};
