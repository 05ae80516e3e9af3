//! Shards of long lists of regular expressions, each evaluated in one pass instead of one by one.

use crate::compile::{CompiledRule, PathMatcher, Pattern, PatternSet};
use crate::index::candidate::Candidate;

/// Consecutive candidates of a list, with their expressions combined.
#[derive(Debug)]
pub(super) struct Shard {
    /// Rank of the first candidate.
    pub(super) first_rank: u32,
    /// Range in the arena of candidates.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Their expressions in order; `None` if they are tried one by one.
    pub(super) set: Option<PatternSet>,
}

/// Combines expressions into shards until too many attempts have failed.
#[derive(Debug)]
pub(super) struct Sharder {
    attempts_left: u32,
}

impl Default for Sharder {
    fn default() -> Self {
        Self { attempts_left: FAILED_ATTEMPTS_MAX }
    }
}

impl Sharder {
    /// Splits candidates, sorted by rank, into shards; `start` is the index of the first one in the arena.
    pub(super) fn split(
        &mut self,
        candidates: &[Candidate],
        rules: &[CompiledRule],
        start: usize,
    ) -> Vec<Shard> {
        let mut shards = Vec::new();
        let mut start = start;
        for run in candidates.chunk_by(|a, b| a.has_pattern == b.has_pattern) {
            let chunk_len = if run[0].has_pattern { SHARD_MAX } else { run.len() };
            for chunk in run.chunks(chunk_len) {
                self.split_chunk(chunk, rules, start, &mut shards);
                start += chunk.len();
            }
        }
        shards
    }

    /// Makes one shard of a chunk, or of each half of it if the chunk is too large.
    fn split_chunk(
        &mut self,
        chunk: &[Candidate],
        rules: &[CompiledRule],
        start: usize,
        shards: &mut Vec<Shard>,
    ) {
        let is_joined = chunk.len() > 1 && chunk[0].has_pattern && self.attempts_left > 0;
        let patterns: Vec<&Pattern> = if is_joined {
            chunk.iter().filter_map(|candidate| pattern_of(&rules[candidate.rule as usize])).collect()
        } else {
            Vec::new()
        };
        let set = if is_joined { PatternSet::build(&patterns) } else { None };
        if is_joined && set.is_none() {
            self.attempts_left -= 1;
            let (first, second) = chunk.split_at(chunk.len() / 2);
            self.split_chunk(first, rules, start, shards);
            self.split_chunk(second, rules, start + first.len(), shards);
            return;
        }
        shards.push(Shard { first_rank: chunk[0].rank, start, end: start + chunk.len(), set });
    }
}

fn pattern_of(rule: &CompiledRule) -> Option<&Pattern> {
    if let PathMatcher::Regex(expression) = &rule.path { Some(&expression.pattern) } else { None }
}

/// Maximum expressions of a shard.
const SHARD_MAX: usize = 128;

/// Maximum failed unions in a router, some milliseconds each; after these, expressions stay single.
const FAILED_ATTEMPTS_MAX: u32 = 8;
