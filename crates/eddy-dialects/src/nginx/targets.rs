//! Targets that `proxy_pass` may name besides upstreams, in directives that another dialect generates.

use std::collections::HashMap;

/// Names that stand for several upstreams, and upstreams that values may name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Targets {
    /// Upstreams chosen by weight, by their common name.
    pub(crate) splits: HashMap<String, Vec<(String, u32)>>,
    /// The only names that a value may have, by the text of the value.
    pub(crate) choices: HashMap<String, Vec<String>>,
}
