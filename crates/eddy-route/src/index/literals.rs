//! Long lists of regular expressions, grouped by a text that all their paths contain: one pass over a path finds the
//! few to try.

use std::collections::HashMap;
use std::fmt;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::compile::{CompiledRule, PathMatcher};
use crate::index::candidate::Candidate;

/// Lists by text.
pub(super) struct Literals {
    texts: AhoCorasick,
    /// List of each text.
    lists: Vec<u32>,
    /// List of the expressions without such a text.
    pub(super) others: u32,
}

/// Candidates grouped by a text that their paths contain.
pub(super) struct Grouped {
    /// Texts, each with its candidates by rank.
    pub(super) groups: Vec<(Box<[u8]>, Vec<Candidate>)>,
    /// Candidates without a sufficiently rare text, by rank.
    pub(super) others: Vec<Candidate>,
}

impl Literals {
    /// Combines texts and their lists; `None` if they are too many for one search.
    pub(super) fn build(texts: &[Box<[u8]>], lists: Vec<u32>, others: u32) -> Option<Self> {
        let texts =
            AhoCorasick::builder().match_kind(MatchKind::Standard).prefilter(false).build(texts).ok()?;
        Some(Self { texts, lists, others })
    }

    /// Calls `visit` with the list of each text in the path, possibly several times for one.
    pub(super) fn for_each_list(&self, path: &[u8], mut visit: impl FnMut(u32)) {
        for found in self.texts.find_overlapping_iter(path) {
            if let Some(list) = self.lists.get(found.pattern().as_usize()) {
                visit(*list);
            }
        }
    }
}

impl fmt::Debug for Literals {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Literals").field("texts", &self.lists.len()).finish_non_exhaustive()
    }
}

impl Grouped {
    /// Assigns each expression to the rarest of its texts; of equally rare ones, to the longest.
    pub(super) fn new(candidates: &[Candidate], rules: &[CompiledRule]) -> Self {
        let held: Vec<Vec<Box<[u8]>>> =
            candidates.iter().map(|candidate| texts_of(&rules[candidate.rule as usize])).collect();
        let mut counts: HashMap<&[u8], usize> = HashMap::new();
        for text in held.iter().flatten() {
            *counts.entry(text).or_default() += 1;
        }
        let mut places: HashMap<&[u8], usize> = HashMap::new();
        let mut grouped = Self { groups: Vec::new(), others: Vec::new() };
        for (candidate, texts) in candidates.iter().zip(&held) {
            let rarest = texts.iter().min_by_key(|text| (counts[&***text], std::cmp::Reverse(text.len())));
            match rarest.filter(|text| counts[&***text] <= SHARING_MAX) {
                None => grouped.others.push(*candidate),
                Some(text) => {
                    let place = *places.entry(text).or_insert_with(|| {
                        grouped.groups.push((text.clone(), Vec::new()));
                        grouped.groups.len() - 1
                    });
                    grouped.groups[place].1.push(*candidate);
                }
            }
        }
        grouped
    }
}

/// Returns the texts that every path of a rule contains, except its literal prefix.
fn texts_of(rule: &CompiledRule) -> Vec<Box<[u8]>> {
    match &rule.path {
        PathMatcher::Regex(expression) => expression.pattern.required_literals(),
        PathMatcher::Any
        | PathMatcher::Exact(_)
        | PathMatcher::Prefix(_)
        | PathMatcher::BytePrefix(_)
        | PathMatcher::Caseless(_)
        | PathMatcher::Template(_) => Vec::new(),
    }
}

/// Maximum expressions that share a text; a more common text selects too little.
const SHARING_MAX: usize = 64;
