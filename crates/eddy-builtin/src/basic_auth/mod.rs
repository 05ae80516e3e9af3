//! HTTP basic authentication (RFC 7617).

mod authenticator;
mod cache;
mod config;
mod filter;
mod form;
mod pool;
mod users;

pub use config::BasicAuthConfig;
pub(super) use filter::BasicAuthFilter;
pub use form::{FormError, PasswordForm};

#[cfg(test)]
mod tests;
