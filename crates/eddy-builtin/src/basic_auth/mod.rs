//! HTTP basic authentication (RFC 7617).

mod cache;
mod config;
mod file;
mod filter;
mod form;
mod pool;
mod users;
mod verify;

pub use config::BasicAuthConfig;
pub(super) use filter::BasicAuthFilter;
pub use form::{FormError, PasswordForm};

#[cfg(test)]
mod tests;
