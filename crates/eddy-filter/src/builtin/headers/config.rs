//! How the filter is configured.

use std::sync::Arc;

use crate::builtin::template::TemplateString;

/// The configuration of `headers`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadersConfig {
    /// Changes to the request that goes to the endpoint.
    pub request: FieldRules,
    /// Changes to the response that goes to the client.
    pub response: FieldRules,
}

/// Changes to fields: first `remove`, then `set`, then `add`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldRules {
    /// Fields to remove.
    pub remove: Vec<Arc<str>>,
    /// Fields and the value each has afterwards; none where the value is empty.
    pub set: Vec<(Arc<str>, TemplateString)>,
    /// Fields and a value that is added; nothing where it is empty.
    pub add: Vec<(Arc<str>, TemplateString)>,
}
