//! Path index: from a path to the lists of rules for it. One trie per host, walked once.

use std::borrow::Cow;
use std::cmp::Ordering;

use crate::compile::{
    CompiledPathTemplate, CompiledRule, PathExtent, PathMatcher, RuleMatchContext, TemplateSegment,
};
use crate::index::candidate::Candidate;
use crate::index::list::{Lists, NONE};
use crate::index::trie::{CAPTURE, NO_VALUE, Trie};
use crate::order::RouteEntries;

/// Paths of all entries.
#[derive(Debug, Default)]
pub(crate) struct PathIndex {
    trie: Trie,
    /// Root of each scope's trie.
    roots: Vec<u32>,
    /// Root of each scope's trie of paths in lower case, or [`NO_ROOT`]; empty if no scope has one.
    folded_roots: Vec<u32>,
    /// Lists of each key of the trie.
    places: Vec<PathRuleLists>,
    lists: Lists,
}

/// Lists at one key.
#[derive(Clone, Copy, Debug)]
struct PathRuleLists {
    /// For the path that ends here.
    exact: u32,
    /// For the path that ends here or continues with `/`.
    prefix: u32,
    /// For every path with this beginning.
    below: u32,
}

/// An entry to be added to the trie.
struct PathTrieEntry<'r> {
    key: Cow<'r, [u8]>,
    reach: PathExtent,
    candidate: Candidate,
}

impl PathIndex {
    pub(crate) fn build(rules: &[CompiledRule], entries: &RouteEntries) -> Self {
        let mut index = Self::default();
        for scope in &entries.scopes {
            let rule_at = |rank: u32| &rules[entries.list[rank as usize].rule as usize];
            let items = |is_caseless: bool| {
                let is_of =
                    |rank: &u32| matches!(rule_at(*rank).path, PathMatcher::Caseless(_)) == is_caseless;
                let ranks = scope.ranks.clone().filter(is_of);
                let mut items: Vec<PathTrieEntry<'_>> =
                    ranks.map(|rank| PathTrieEntry::new(rank, rule_at(rank))).collect();
                // Stable, so entries with the same key stay sorted by rank.
                items.sort_by(|a, b| compare_keys(&a.key, &b.key));
                items
            };
            let root = index.add_trie(&items(false), rules);
            index.roots.push(root);
            let folded = items(true);
            let folded_root = if folded.is_empty() { NO_ROOT } else { index.add_trie(&folded, rules) };
            index.folded_roots.push(folded_root);
        }
        if index.folded_roots.iter().all(|root| *root == NO_ROOT) {
            index.folded_roots.clear();
        }
        index
    }

    /// Adds a trie: first its keys, then, from the root down, the lists of each key. Returns its root.
    fn add_trie(&mut self, items: &[PathTrieEntry<'_>], rules: &[CompiledRule]) -> u32 {
        let groups: Vec<&[PathTrieEntry<'_>]> =
            items.chunk_by(|a, b| compare_keys(&a.key, &b.key).is_eq()).collect();
        let keys: Vec<(&[u8], u32)> =
            (0..).zip(&groups).map(|(number, group)| (group[0].key.as_ref(), number)).collect();
        let first_place = u32::try_from(self.places.len()).expect("places are fewer than entries");
        let empty = PathRuleLists { exact: NONE, prefix: NONE, below: NONE };
        self.places.resize(self.places.len() + groups.len(), empty);
        let keys: Vec<(&[u8], u32)> = keys.iter().map(|(key, number)| (*key, first_place + number)).collect();
        let root = self.trie.add(&keys);
        // By node, from the root on: the lowest rank that matches every path through the node.
        let mut sure = vec![NONE; self.trie.len() - root as usize];
        for at in 0..sure.len() {
            let node = root + u32::try_from(at).expect("nodes are fewer than ranks");
            let place = self.trie.value(node);
            let (mut sure_prefix, mut sure_below) = (sure[at], sure[at]);
            if place != NO_VALUE {
                let group = groups[(place - first_place) as usize];
                sure_below = self.add_list(place, PathExtent::Below, group, rules, sure_below);
                sure_prefix = self.add_list(place, PathExtent::Prefix, group, rules, sure_below);
                self.add_list(place, PathExtent::Exact, group, rules, sure_prefix);
            }
            for child in self.trie.children(node) {
                // Only paths that continue with `/` are below a prefix that ends here.
                let is_below_prefix = self.trie.first_byte(child) == b'/';
                sure[(child - root) as usize] = if is_below_prefix { sure_prefix } else { sure_below };
            }
        }
        root
    }

    /// Adds the entries of a key with this reach that can precede `sure`; returns the rank that is then certain to
    /// match.
    fn add_list(
        &mut self,
        place: u32,
        reach: PathExtent,
        group: &[PathTrieEntry<'_>],
        rules: &[CompiledRule],
        sure: u32,
    ) -> u32 {
        let reaching = group.iter().filter(|item| item.reach == reach && item.candidate.rank < sure);
        let candidates: Vec<Candidate> = reaching.map(|item| item.candidate).collect();
        let list = self.lists.add(&candidates, rules);
        let place = &mut self.places[place as usize];
        match reach {
            PathExtent::Exact => place.exact = list,
            PathExtent::Prefix => place.prefix = list,
            PathExtent::Below => place.below = list,
        }
        candidates.iter().find(|candidate| candidate.is_certain()).map_or(sure, |candidate| candidate.rank)
    }

    /// Returns the lowest rank of a matching entry of the scope, or [`NONE`]. The three vectors are scratch memory.
    pub(crate) fn find(
        &self,
        scope: u32,
        rules: &[CompiledRule],
        probe: &mut RuleMatchContext<'_>,
        folded: &mut Vec<u8>,
        branches: &mut Vec<(u32, usize)>,
        lists: &mut Vec<u32>,
    ) -> u32 {
        branches.clear();
        lists.clear();
        if let Some(root) = self.folded_roots.get(scope as usize).filter(|root| **root != NO_ROOT) {
            folded.clear();
            folded.extend_from_slice(probe.path);
            folded.make_ascii_lowercase();
            probe.work.steps += self.walk(*root, 0, folded, branches, lists);
        }
        branches.push((self.roots[scope as usize], 0));
        while let Some((node, at)) = branches.pop() {
            probe.work.steps += self.walk(node, at, probe.path, branches, lists);
        }
        // Lists deep in the trie tend to have the lowest ranks, and then make the others unnecessary.
        lists.iter().rev().fold(NONE, |best, list| self.lists.find(*list, rules, probe, best))
    }

    /// Collects the lists along a path; returns the number of steps.
    fn walk(
        &self,
        node: u32,
        at: usize,
        path: &[u8],
        branches: &mut Vec<(u32, usize)>,
        lists: &mut Vec<u32>,
    ) -> u32 {
        self.trie.walk(node, at, path, branches, |place, next| self.gather(place, next, lists))
    }

    fn gather(&self, place: u32, next: Option<u8>, lists: &mut Vec<u32>) {
        let place = &self.places[place as usize];
        lists.push(place.below);
        if matches!(next, None | Some(b'/')) {
            lists.push(place.prefix);
        }
        if next.is_none() {
            lists.push(place.exact);
        }
    }
}

impl<'r> PathTrieEntry<'r> {
    fn new(rank: u32, rule: &'r CompiledRule) -> Self {
        let (reach, has_pattern) = match &rule.path {
            PathMatcher::Any => (PathExtent::Below, false),
            PathMatcher::Exact(_) => (PathExtent::Exact, false),
            PathMatcher::Prefix(_) => (PathExtent::Prefix, false),
            PathMatcher::Template(template) if template.rest.is_some() => (PathExtent::Prefix, false),
            PathMatcher::Template(_) => (PathExtent::Exact, false),
            PathMatcher::BytePrefix(_) => (PathExtent::Below, false),
            PathMatcher::Caseless(caseless) => (caseless.reach, false),
            PathMatcher::Regex(_) => (PathExtent::Below, true),
        };
        let has_conditions = !rule.is_unconditional();
        let key = if let PathMatcher::Caseless(caseless) = &rule.path {
            Cow::Borrowed(caseless.text.as_bytes())
        } else {
            path_key(&rule.path)
        };
        Self { key, reach, candidate: Candidate { rank, rule: rule.index, has_conditions, has_pattern } }
    }
}

/// Returns the common beginning of all paths of a matcher as a trie key, with wildcards for captured segments.
///
/// For exact paths, prefixes and templates it is the whole pattern, for regular expressions the literal prefix, for
/// caseless paths the part before the first letter.
pub(crate) fn path_key(path: &PathMatcher) -> Cow<'_, [u8]> {
    match path {
        PathMatcher::Any => Cow::Borrowed(b""),
        PathMatcher::Caseless(caseless) => {
            let text = caseless.text.as_bytes();
            let letter = text.iter().position(u8::is_ascii_alphabetic);
            Cow::Borrowed(&text[..letter.unwrap_or(text.len())])
        }
        PathMatcher::Exact(path) | PathMatcher::Prefix(path) | PathMatcher::BytePrefix(path) => {
            Cow::Borrowed(path.as_bytes())
        }
        PathMatcher::Template(template) => Cow::Owned(template_key(template)),
        PathMatcher::Regex(expression) => {
            let prefix = expression.prefix();
            Cow::Borrowed(&prefix[..memchr::memchr(CAPTURE, prefix).unwrap_or(prefix.len())])
        }
    }
}

/// Compares keys; by length if one is empty, because comparing empty slices is slow on some processors.
fn compare_keys(a: &[u8], b: &[u8]) -> Ordering {
    if a.is_empty() || b.is_empty() { a.len().cmp(&b.len()) } else { a.cmp(b) }
}

fn template_key(template: &CompiledPathTemplate) -> Vec<u8> {
    let mut key = Vec::with_capacity(template.text.len());
    for segment in &template.segments {
        key.push(b'/');
        match segment {
            TemplateSegment::Fixed(text) => key.extend_from_slice(text.as_bytes()),
            TemplateSegment::Capture(_) => key.push(CAPTURE),
        }
    }
    key
}

/// Marks a missing trie.
const NO_ROOT: u32 = u32::MAX;
