//! Selection of routes and parameters.

/// Routes and parameters to select.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpIndexOptions {
    /// Full names of services; all services if empty.
    pub services: Vec<String>,
    /// Whether methods without a rule are called with `POST /package.Service/Method`, with the message as the body.
    pub has_methods_without_rule: bool,
    /// Names of query parameters for other recipients, which are ignored.
    pub ignored_parameters: Vec<String>,
    /// Whether query parameters that are not fields are ignored.
    pub ignores_unknown_parameters: bool,
}
