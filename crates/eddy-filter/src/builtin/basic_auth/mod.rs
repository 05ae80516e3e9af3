//! Asks for a user name and a password (RFC 7617).

mod config;
mod form;

pub use config::BasicAuthConfig;
pub use form::{FormError, PasswordForm};
