//! Configuration of `headers`.

use std::sync::Arc;

use crate::template::TemplateString;

/// Configuration of `headers`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadersConfig {
    /// Changes to the request sent to the endpoint.
    pub request: FieldRules,
    /// Changes to the response sent to the client.
    pub response: FieldRules,
}

/// Changes to headers: first `remove`, then `set`, then `add`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldRules {
    /// Headers to remove.
    pub remove: Vec<Arc<str>>,
    /// Headers to set; a header whose value is empty is removed.
    pub set: Vec<(Arc<str>, TemplateString)>,
    /// Headers to add; a header whose value is empty is not added.
    pub add: Vec<(Arc<str>, TemplateString)>,
}
