//! How the filter is configured.

use std::sync::Arc;
use std::time::Duration;

use super::origin::OriginPattern;

/// The configuration of `cors`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorsConfig {
    /// Sites that may read answers.
    pub origins: Vec<OriginPattern>,
    /// Methods that they may use beside the simple ones.
    pub methods: Listed,
    /// Fields that they may send beside the simple ones.
    pub request_fields: Listed,
    /// Fields of the response that they may read beside the simple ones.
    pub exposed_fields: Listed,
    /// Whether requests may carry cookies and the like.
    pub has_credentials: bool,
    /// How long a browser may remember the answer to a preflight.
    pub max_age: Duration,
}

/// Some names, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Whatever is asked for.
    All,
    /// These.
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
