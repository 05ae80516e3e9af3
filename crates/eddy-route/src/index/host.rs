//! From a host to the patterns it is in, most specific first.

use crate::compile::HostKey;
use crate::index::hash::ByValue;
use crate::index::trie::{NO_VALUE, Trie};
use crate::order::Scope;

/// The hosts of all entries.
#[derive(Debug, Default)]
pub(crate) struct HostIndex {
    exact: ByValue<u32>,
    /// Suffixes read from their end.
    suffixes: Trie,
    suffix_root: Option<u32>,
    any: Option<u32>,
}

impl HostIndex {
    pub(crate) fn build(scopes: &[Scope]) -> Self {
        let mut index = Self::default();
        let mut suffixes: Vec<(Vec<u8>, u32)> = Vec::new();
        for (number, scope) in (0..).zip(scopes) {
            match &scope.host {
                HostKey::Exact(host) => {
                    index.exact.insert(host.as_bytes().into(), number);
                }
                HostKey::Suffix(suffix) => suffixes.push((suffix.bytes().rev().collect(), number)),
                HostKey::Any => index.any = Some(number),
            }
        }
        if !suffixes.is_empty() {
            suffixes.sort();
            let keys: Vec<(&[u8], u32)> =
                suffixes.iter().map(|(key, scope)| (key.as_slice(), *scope)).collect();
            index.suffix_root = Some(index.suffixes.add(&keys));
        }
        index
    }

    /// Fills `out` with the scopes that a folded host is in, the most specific last.
    pub(crate) fn find(&self, host: &[u8], out: &mut Vec<u32>) {
        out.clear();
        out.extend(self.any);
        if let Some(root) = self.suffix_root {
            self.find_suffixes(root, host, out);
        }
        out.extend(self.exact.get(host));
    }

    fn find_suffixes(&self, root: u32, host: &[u8], out: &mut Vec<u32>) {
        let mut node = root;
        let mut left = host;
        loop {
            let label = self.suffixes.label(node);
            if !left.iter().rev().zip(label).all(|(a, b)| a == b) || left.len() < label.len() {
                return;
            }
            left = &left[..left.len() - label.len()];
            // A suffix that is the whole host leaves no label before it.
            let Some(next) = left.last() else { return };
            let value = self.suffixes.value(node);
            if value != NO_VALUE {
                out.push(value);
            }
            match self.suffixes.child(node, *next) {
                Some(child) => node = child,
                None => return,
            }
        }
    }
}
