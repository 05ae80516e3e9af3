//! Host index: from a host to the matching host patterns, most specific first.

use std::collections::HashMap;

use crate::compile::HostKey;
use crate::index::hash::ByValue;
use crate::index::trie::{NO_VALUE, Trie};
use crate::order::HostEntries;
use crate::request::RouteRequest;
use crate::rule::HostForm;

/// Hosts of all entries.
#[derive(Debug, Default)]
pub(crate) struct HostIndex {
    /// Hosts, grouped by the part of an authority that they are compared with.
    forms: Vec<(HostForm, Hosts)>,
    /// Whether results must be sorted at the end; results from suffixes alone are in order already.
    is_sorted_at_end: bool,
}

/// Hosts that are compared with one form of an authority.
#[derive(Debug, Default)]
struct Hosts {
    exact: ByValue<ScopeRange>,
    /// Keyed by the text after the first label.
    by_parent_domain: ByValue<ScopeRange>,
    /// Suffixes, reversed.
    suffixes: Affixes,
    prefixes: Affixes,
    any: ScopeRange,
    /// Scopes of all groups; within a group the least specific first.
    scopes: Vec<u32>,
}

/// Scopes of one host, as a range of `Hosts::scopes`.
#[derive(Clone, Copy, Debug, Default)]
struct ScopeRange {
    start: u32,
    end: u32,
}

/// Prefixes or suffixes of hosts, in a trie whose values are indices of groups.
#[derive(Debug, Default)]
struct Affixes {
    trie: Trie,
    root: Option<u32>,
    groups: Vec<ScopeRange>,
}

impl HostIndex {
    pub(crate) fn build(scopes: &[HostEntries]) -> Self {
        let mut forms: Vec<HostForm> = scopes.iter().map(|scope| scope.ground.form).collect();
        forms.sort_unstable();
        forms.dedup();
        let is_plain = |scope: &HostEntries| !matches!(scope.host, HostKey::OneLabel(_) | HostKey::Prefix(_));
        let is_sorted_at_end = forms.len() > 1 || !scopes.iter().all(is_plain);
        Self {
            forms: forms.into_iter().map(|form| (form, Hosts::build(scopes, form))).collect(),
            is_sorted_at_end,
        }
    }

    /// Fills `out` with the scopes that match a request's host, the most specific last.
    pub(crate) fn find(&self, request: &RouteRequest<'_>, folded: &mut Vec<u8>, out: &mut Vec<u32>) {
        out.clear();
        for (form, hosts) in &self.forms {
            hosts.find(form.fold(request, folded), out);
        }
        if self.is_sorted_at_end {
            out.sort_unstable_by(|a, b| b.cmp(a));
        }
    }
}

impl Hosts {
    fn build(scopes: &[HostEntries], form: HostForm) -> Self {
        let mut hosts = Self::default();
        let (mut suffixes, mut prefixes) = (Vec::new(), Vec::new());
        let mut by_host: HashMap<&HostKey, Vec<u32>> = HashMap::new();
        for (number, scope) in (0..).zip(scopes).filter(|(_, scope)| scope.ground.form == form) {
            by_host.entry(&scope.host).or_default().push(number);
        }
        for (host, numbers) in by_host {
            let start = index_u32(hosts.scopes.len());
            hosts.scopes.extend(numbers.iter().rev());
            let place = ScopeRange { start, end: index_u32(hosts.scopes.len()) };
            match host {
                HostKey::Exact(host) => {
                    hosts.exact.insert(host.as_bytes().into(), place);
                }
                HostKey::OneLabel(suffix) => {
                    hosts.by_parent_domain.insert(suffix.as_bytes().into(), place);
                }
                HostKey::Suffix(suffix) => suffixes.push((suffix.bytes().rev().collect(), place)),
                HostKey::Prefix(prefix) => prefixes.push((prefix.bytes().collect(), place)),
                HostKey::Any => hosts.any = place,
            }
        }
        hosts.suffixes = Affixes::build(suffixes);
        hosts.prefixes = Affixes::build(prefixes);
        hosts
    }

    fn find(&self, host: &[u8], out: &mut Vec<u32>) {
        self.push(self.any, out);
        self.prefixes.for_each(host.iter().copied(), |group| self.push(group, out));
        self.suffixes.for_each(host.iter().rev().copied(), |group| self.push(group, out));
        if !self.by_parent_domain.is_empty()
            && let Some(dot) = memchr::memchr(b'.', host).filter(|dot| *dot > 0)
            && let Some(group) = self.by_parent_domain.get(&host[dot..])
        {
            self.push(*group, out);
        }
        if let Some(group) = self.exact.get(host) {
            self.push(*group, out);
        }
    }

    fn push(&self, group: ScopeRange, out: &mut Vec<u32>) {
        out.extend_from_slice(&self.scopes[group.start as usize..group.end as usize]);
    }
}

impl Affixes {
    fn build(mut keys: Vec<(Vec<u8>, ScopeRange)>) -> Self {
        let mut affixes = Self::default();
        if keys.is_empty() {
            return affixes;
        }
        keys.sort_by(|a, b| a.0.cmp(&b.0));
        let numbered: Vec<(&[u8], u32)> =
            (0..).zip(&keys).map(|(number, (key, _))| (key.as_slice(), number)).collect();
        affixes.root = Some(affixes.trie.add(&numbered));
        affixes.groups = keys.into_iter().map(|(_, group)| group).collect();
        affixes
    }

    /// Calls `visit` for each text that the host begins with, the shortest first; not for a text that is the whole
    /// host.
    fn for_each(&self, host: impl Iterator<Item = u8>, mut visit: impl FnMut(ScopeRange)) {
        let Some(mut node) = self.root else { return };
        let mut left = host.peekable();
        loop {
            for byte in self.trie.label(node) {
                if left.next() != Some(*byte) {
                    return;
                }
            }
            // A text that is the whole host has no rest.
            let Some(next) = left.peek() else { return };
            let value = self.trie.value(node);
            if value != NO_VALUE {
                visit(self.groups[value as usize]);
            }
            match self.trie.child(node, *next) {
                Some(child) => node = child,
                None => return,
            }
        }
    }
}

fn index_u32(at: usize) -> u32 {
    u32::try_from(at).expect("the router refuses tables with more hosts")
}
