//! Targets that `proxy_pass` may name besides upstreams, in directives that another dialect generates.

use std::collections::HashMap;

/// Names that stand for several upstreams, and upstreams that values may name.
#[derive(Clone, Debug, Default)]
pub(in crate::dialect) struct Targets {
    /// Upstreams chosen by weight, by their common name.
    pub(in crate::dialect) splits: HashMap<String, Vec<(String, u32)>>,
    /// The only names that a value may have, by the text of the value.
    pub(in crate::dialect) choices: HashMap<String, Vec<String>>,
}
