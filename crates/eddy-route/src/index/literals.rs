//! Long lists of regular expressions by a text that all their paths hold: one pass over a path finds the few to try.

use std::collections::HashMap;
use std::fmt;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::compile::{CompiledRule, PathMatcher};
use crate::index::list::Candidate;

/// Lists by text.
pub(super) struct Literals {
    texts: AhoCorasick,
    /// The list of each text.
    lists: Vec<u32>,
    /// The list of the expressions that hold no text of their own.
    pub(super) others: u32,
}

/// Candidates apart by a text that their paths hold.
pub(super) struct Grouped {
    /// Texts, each with its candidates by rank.
    pub(super) groups: Vec<(Box<[u8]>, Vec<Candidate>)>,
    /// Those without a text that few share, by rank.
    pub(super) others: Vec<Candidate>,
}

impl Literals {
    /// Joins texts and their lists; `None` if they are too many for one search.
    pub(super) fn build(texts: &[Box<[u8]>], lists: Vec<u32>, others: u32) -> Option<Self> {
        let texts =
            AhoCorasick::builder().match_kind(MatchKind::Standard).prefilter(false).build(texts).ok()?;
        Some(Self { texts, lists, others })
    }

    /// Calls `visit` with the list of each text that the path holds, one maybe several times.
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
    /// Puts each expression under the rarest of its texts, the longest of those.
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

/// The texts that every path of a rule holds, beside the one it begins with.
fn texts_of(rule: &CompiledRule) -> Vec<Box<[u8]>> {
    match &rule.path {
        PathMatcher::Regex(expression) => expression.pattern.texts_within(),
        PathMatcher::Any
        | PathMatcher::Exact(_)
        | PathMatcher::Prefix(_)
        | PathMatcher::BytePrefix(_)
        | PathMatcher::Caseless(_)
        | PathMatcher::Template(_) => Vec::new(),
    }
}

/// Most expressions that one text tells from the others; a text that more share says too little.
const SHARING_MAX: usize = 64;
