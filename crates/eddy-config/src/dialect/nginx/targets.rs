//! What `proxy_pass` may name in directives that are made rather than read, beside upstreams.

use std::collections::HashMap;

/// Names that stand for several upstreams, and upstreams that values may name.
#[derive(Clone, Debug, Default)]
pub(in crate::dialect) struct Targets {
    /// Upstreams drawn by weight, by the name of the whole.
    pub(in crate::dialect) splits: HashMap<String, Vec<(String, u32)>>,
    /// The only names that a value may have, by the text of the value.
    pub(in crate::dialect) choices: HashMap<String, Vec<String>>,
}
