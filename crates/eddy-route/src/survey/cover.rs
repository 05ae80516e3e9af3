//! Search for an earlier rule of the same host that takes all requests of a rule.

use std::collections::HashMap;

use crate::compile::{CompiledRule, ConditionSource, PathMatcher, PatternScratch};
use crate::index::{CAPTURE, Trie, path_key};
use crate::survey::imply::{Proof, implies};
use crate::survey::language::Languages;

/// Rules of a host by path; all of them, unlike the index, which drops those that never win.
pub(super) struct Covers<'r> {
    members: &'r [&'r CompiledRule],
    trie: Trie,
    root: u32,
    /// Templates by rank: an expression may be covered by one without having its literal prefix.
    templates: Vec<usize>,
    /// Rules by trie key and by one exact value that they require, each list by rank.
    by_place: HashMap<(u32, Option<Anchor<'r>>), Vec<usize>>,
}

/// An exact value that a rule requires: the rule takes no requests of rules that do not require the same value.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Anchor<'r> {
    source: ConditionSource,
    name: &'r str,
    value: &'r str,
}

/// An earlier rule whose key is a prefix of a path.
pub(super) struct EarlierRule {
    pub(super) member: usize,
    /// Whether it matches every path in question; `None` if the keys do not decide.
    pub(super) covers_path: Option<bool>,
}

impl<'r> Covers<'r> {
    /// Builds the structure from the rules of a host by rank.
    pub(super) fn build(members: &'r [&'r CompiledRule]) -> Self {
        let keys: Vec<_> = members.iter().map(|rule| path_key(&rule.path)).collect();
        let mut distinct: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let mut by_place: HashMap<_, Vec<usize>> = HashMap::new();
        for (at, (rule, key)) in members.iter().zip(&keys).enumerate() {
            // Invariant: every key is among the distinct ones.
            let place = distinct.partition_point(|known| *known < key.as_ref());
            let place = u32::try_from(place).expect("keys are fewer than ranks");
            by_place.entry((place, anchors(rule).next())).or_default().push(at);
        }
        let numbered: Vec<(&[u8], u32)> = distinct.into_iter().zip(0..).collect();
        let is_template = |at: &usize| matches!(members[*at].path, PathMatcher::Template(_));
        let templates = (0..members.len()).filter(is_template).collect();
        let mut trie = Trie::default();
        let root = trie.add(&numbered);
        Self { members, trie, root, templates, by_place }
    }

    /// Returns the first earlier rule that takes all requests of a member; if none certainly does, the first that may.
    pub(super) fn find(&self, languages: &mut Languages<'_>, at: usize) -> Option<(usize, Proof)> {
        let narrow = self.members[at];
        let key = path_key(&narrow.path);
        let mut best: Option<(usize, Proof)> = None;
        for (next, list) in self.along(narrow) {
            best = self.find_best(list, at, next, best, languages);
        }
        if matches!(narrow.path, PathMatcher::Regex(_)) {
            let is_near = |other: &&usize| is_compatible(&path_key(&self.members[**other].path), &key);
            let templates: Vec<usize> = self.templates.iter().filter(is_near).copied().collect();
            best = self.find_best(&templates, at, None, best, languages);
        }
        best
    }

    /// Returns the first later rule that certainly takes all requests of a member, among those accepted by `is_meant`.
    pub(super) fn find_later_cover(
        &self,
        languages: &mut Languages<'_>,
        at: usize,
        is_meant: &dyn Fn(&CompiledRule) -> bool,
    ) -> Option<usize> {
        let mut best: Option<usize> = None;
        for (next, list) in self.along(self.members[at]) {
            let from = list.partition_point(|other| *other <= at);
            for other in list[from..].iter().copied().take(EARLIER_MAX) {
                let is_found = best.is_none_or(|best| other < best)
                    && is_meant(self.members[other])
                    && self.cover_by(other, at, next, languages) == Some(Proof::Certain);
                if is_found {
                    best = Some(other);
                }
            }
        }
        best
    }

    /// Returns the first few earlier rules whose keys are prefixes of the path of a member.
    pub(super) fn earlier_prefix_rules(&self, at: usize) -> Vec<EarlierRule> {
        let narrow = self.members[at];
        let mut found = Vec::new();
        for (next, list) in self.along(narrow) {
            let earlier = list.iter().copied().take_while(|member| *member < at);
            found.extend(earlier.take(EARLIER_MAX).map(|member| EarlierRule {
                member,
                covers_path: covers_by_key(&self.members[member].path, &narrow.path, next),
            }));
        }
        found.sort_by_key(|earlier| earlier.member);
        found.truncate(EARLIER_MAX);
        found
    }

    pub(super) fn member(&self, at: usize) -> &'r CompiledRule {
        self.members[at]
    }

    /// Returns the best of some rules, given by rank, and of the best known so far.
    fn find_best(
        &self,
        list: &[usize],
        at: usize,
        next: Option<u8>,
        mut best: Option<(usize, Proof)>,
        languages: &mut Languages<'_>,
    ) -> Option<(usize, Proof)> {
        for other in list.iter().copied().take_while(|other| *other < at) {
            // A later rule in the list cannot be better than a certain one.
            if best.is_some_and(|(known, proof)| proof == Proof::Certain && known < other) {
                break;
            }
            let found = self.cover_by(other, at, next, languages).map(|proof| (other, proof));
            best = better(best, found);
        }
        best
    }

    /// Returns whether an earlier member takes all requests of a later one, as far as it can be proved.
    fn cover_by(
        &self,
        wide: usize,
        narrow: usize,
        next: Option<u8>,
        languages: &mut Languages<'_>,
    ) -> Option<Proof> {
        let values = implies(self.members[narrow], self.members[wide])?;
        let by_key = covers_by_key(&self.members[wide].path, &self.members[narrow].path, next);
        match by_key.or_else(|| languages.covers(wide, narrow)) {
            Some(true) => Some(values),
            Some(false) => None,
            None => Some(Proof::Open),
        }
    }

    /// Returns the rules by rank at all keys that are prefixes of a member's key, considering segment wildcards on
    /// either side, each list with the next byte after its key.
    fn along(&self, narrow: &'r CompiledRule) -> Vec<(Option<u8>, &[usize])> {
        let mut found = Vec::new();
        let key = path_key(&narrow.path);
        let mut branches = vec![(self.root, 0)];
        while let Some((node, at)) = branches.pop() {
            self.trie.walk(node, at, &key, &mut branches, |place, next| {
                let anchors = std::iter::once(None).chain(anchors(narrow).map(Some));
                let lists = anchors.filter_map(|anchor| self.by_place.get(&(place, anchor)));
                found.extend(lists.map(|list| (next, &**list)));
            });
        }
        found
    }
}

/// Returns the more certain of two; of equally certain ones, the earlier.
fn better(a: Option<(usize, Proof)>, b: Option<(usize, Proof)>) -> Option<(usize, Proof)> {
    a.into_iter().chain(b).max_by_key(|(other, proof)| (*proof, std::cmp::Reverse(*other)))
}

/// Whether `wide` matches every path of `narrow`, given that the key of `wide` was found along the key of `narrow`, in
/// which `next` follows it; `None` if the keys do not decide, because one is a regular expression.
fn covers_by_key(wide: &PathMatcher, narrow: &PathMatcher, next: Option<u8>) -> Option<bool> {
    match (wide, narrow) {
        (PathMatcher::Any, _) => Some(true),
        (PathMatcher::Caseless(wide), PathMatcher::Caseless(narrow)) if wide == narrow => Some(true),
        (PathMatcher::Caseless(_), PathMatcher::Exact(path)) => {
            Some(wide.matches(path.as_bytes(), &mut PatternScratch::default()))
        }
        (PathMatcher::Caseless(_), _) | (_, PathMatcher::Caseless(_)) => None,
        (PathMatcher::Regex(wide), PathMatcher::Exact(path)) => {
            let begins = path.as_bytes().starts_with(wide.below.as_bytes());
            Some(begins && wide.pattern.matches(path.as_bytes(), &mut PatternScratch::default()))
        }
        (PathMatcher::Regex(wide), PathMatcher::Regex(narrow)) if wide == narrow => Some(true),
        // All paths with a byte prefix are below it.
        (PathMatcher::BytePrefix(_), _) => Some(true),
        // Of these only the beginning is known; a prefix covers everything below it.
        (wide, PathMatcher::Regex(_) | PathMatcher::BytePrefix(_))
            if matches_subpaths(wide) && next == Some(b'/') =>
        {
            Some(true)
        }
        (PathMatcher::Regex(_), _) | (_, PathMatcher::Regex(_)) => None,
        (_, PathMatcher::Any | PathMatcher::BytePrefix(_)) => Some(false),
        (wide, _) if matches_subpaths(wide) => Some(matches!(next, None | Some(b'/'))),
        (_, narrow) => Some(next.is_none() && !matches_subpaths(narrow)),
    }
}

/// Whether a path may begin both like a template, up to its first capture, and with a literal text.
fn is_compatible(template_key: &[u8], literal: &[u8]) -> bool {
    let mut pairs = template_key.iter().take_while(|byte| **byte != CAPTURE).zip(literal);
    pairs.all(|(a, b)| a == b)
}

/// Whether a matcher also matches everything below its key.
fn matches_subpaths(path: &PathMatcher) -> bool {
    match path {
        PathMatcher::Prefix(_) => true,
        PathMatcher::Template(template) => template.rest.is_some(),
        PathMatcher::Any
        | PathMatcher::BytePrefix(_)
        | PathMatcher::Caseless(_)
        | PathMatcher::Exact(_)
        | PathMatcher::Regex(_) => false,
    }
}

/// Returns the exact values that a rule requires.
fn anchors(rule: &CompiledRule) -> impl Iterator<Item = Anchor<'_>> {
    rule.values().filter_map(|condition| {
        let value = condition.exact_value()?;
        Some(Anchor { source: condition.source, name: &condition.name, value })
    })
}

/// Maximum earlier rules that are combined.
const EARLIER_MAX: usize = 16;
