//! Configuration of `cors`.

use std::sync::Arc;
use std::time::Duration;

use super::origin::OriginPattern;

/// Configuration of `cors`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorsConfig {
    /// Allowed origins.
    pub origins: Vec<OriginPattern>,
    /// Allowed methods, besides the CORS-safelisted ones.
    pub methods: Listed,
    /// Allowed request headers, besides the CORS-safelisted ones.
    pub request_fields: Listed,
    /// Response headers exposed to the origins, besides the CORS-safelisted ones.
    pub exposed_fields: Listed,
    /// Whether requests may carry credentials such as cookies.
    pub has_credentials: bool,
    /// Time for which a browser may cache the response to a preflight.
    pub max_age: Duration,
}

/// List of names, or all names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// All names that are requested.
    All,
    /// Only these names.
    Names(Vec<Arc<str>>),
}

impl Default for CorsConfig {
    fn default() -> Self {
        let methods = ["GET", "HEAD", "POST"];
        Self {
            origins: Vec::new(),
            methods: Listed::Names(methods.into_iter().map(Into::into).collect()),
            request_fields: Listed::Names(Vec::new()),
            exposed_fields: Listed::Names(Vec::new()),
            has_credentials: false,
            max_age: Duration::from_secs(600),
        }
    }
}
