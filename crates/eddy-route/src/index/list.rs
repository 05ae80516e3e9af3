//! Lists of rules by rank, one per set of paths; the first rule whose conditions hold wins.

use crate::compile::{CompiledRule, PatternSet, RuleMatchContext};
use crate::index::candidate::Candidate;
use crate::index::literals::{Grouped, Literals};
use crate::index::shard::{Shard, Sharder};
use crate::index::split::{Facet, Split};

/// Lists in one arena.
#[derive(Debug, Default)]
pub(super) struct Lists {
    lists: Vec<List>,
    candidates: Vec<Candidate>,
    sharder: Sharder,
}

#[derive(Debug)]
struct List {
    /// Rank of the first candidate.
    first_rank: u32,
    shape: RuleListShape,
}

#[derive(Debug)]
enum RuleListShape {
    /// Candidates that are tried one by one.
    Linear { start: u32, end: u32 },
    /// Candidates with regular expressions, many per pass.
    Shards(Vec<Shard>),
    /// Lists by literal texts in the path.
    Literals(Box<Literals>),
    /// Lists by an exact value in the request.
    Split(Box<Split>),
}

impl Lists {
    /// Adds a list of candidates, sorted by rank, and returns its number; [`NONE`] if it is empty.
    ///
    /// The number of a list whose first candidate always matches is its rank, marked with [`CERTAIN`]: nothing is
    /// looked up for it. Candidates after one that always matches are dropped.
    pub(super) fn add(&mut self, candidates: &[Candidate], rules: &[CompiledRule]) -> u32 {
        self.add_split(candidates, rules, &mut Vec::new())
    }

    fn add_split(&mut self, candidates: &[Candidate], rules: &[CompiledRule], used: &mut Vec<Facet>) -> u32 {
        let Some(first) = candidates.first() else { return NONE };
        if first.is_certain() {
            return CERTAIN | first.rank;
        }
        let certain = candidates.iter().position(Candidate::is_certain);
        let candidates = &candidates[..certain.map_or(candidates.len(), |at| at + 1)];
        let facet = if candidates.len() > LINEAR_MAX && used.len() < FACETS_MAX {
            Facet::choose(candidates, rules, used)
        } else {
            None
        };
        let shape = match facet {
            None => self.add_unsplit(candidates, rules),
            Some(facet) => {
                let (groups, others) = facet.group(candidates, rules);
                used.push(facet.clone());
                let by_value = groups
                    .into_iter()
                    .map(|(value, group)| (value, self.add_split(&group, rules, used)))
                    .collect();
                let others = self.add_split(&others, rules, used);
                used.pop();
                RuleListShape::Split(Box::new(Split { facet, by_value, others }))
            }
        };
        self.push(first.rank, shape)
    }

    fn push(&mut self, first_rank: u32, shape: RuleListShape) -> u32 {
        self.lists.push(List { first_rank, shape });
        len_u32(self.lists.len() - 1)
    }

    fn add_unsplit(&mut self, candidates: &[Candidate], rules: &[CompiledRule]) -> RuleListShape {
        let patterns = candidates.iter().filter(|candidate| candidate.has_pattern).count();
        if patterns > LINEAR_MAX {
            let Grouped { groups, others } = Grouped::new(candidates, rules);
            let grouped: usize = groups.iter().map(|(_, group)| group.len()).sum();
            if grouped > LINEAR_MAX
                && let Some(literals) = self.add_literals(groups, &others, rules)
            {
                return RuleListShape::Literals(Box::new(literals));
            }
        }
        self.add_plain(candidates, rules)
    }

    fn add_literals(
        &mut self,
        groups: Vec<(Box<[u8]>, Vec<Candidate>)>,
        others: &[Candidate],
        rules: &[CompiledRule],
    ) -> Option<Literals> {
        let (texts, groups): (Vec<_>, Vec<_>) = groups.into_iter().unzip();
        let mut add = |candidates: &[Candidate]| match candidates.first() {
            None => NONE,
            Some(first) if first.is_certain() => CERTAIN | first.rank,
            Some(first) => {
                let shape = self.add_plain(candidates, rules);
                self.push(first.rank, shape)
            }
        };
        let lists = groups.iter().map(|group| add(group)).collect();
        let others = add(others);
        Literals::build(&texts, lists, others)
    }

    fn add_plain(&mut self, candidates: &[Candidate], rules: &[CompiledRule]) -> RuleListShape {
        let start = self.candidates.len();
        self.candidates.extend_from_slice(candidates);
        let patterns = candidates.iter().filter(|candidate| candidate.has_pattern).count();
        if patterns > LINEAR_MAX {
            return RuleListShape::Shards(self.sharder.split(candidates, rules, start));
        }
        RuleListShape::Linear { start: len_u32(start), end: len_u32(self.candidates.len()) }
    }

    /// Returns the lowest rank below `best` of a matching candidate, or `best`.
    pub(super) fn find(
        &self,
        list: u32,
        rules: &[CompiledRule],
        probe: &mut RuleMatchContext<'_>,
        best: u32,
    ) -> u32 {
        if list & CERTAIN != 0 {
            return if list == NONE { best } else { best.min(list & !CERTAIN) };
        }
        let Some(list) = self.lists.get(list as usize) else { return best };
        if list.first_rank >= best {
            return best;
        }
        match &list.shape {
            RuleListShape::Linear { start, end } => {
                find_linear(&self.candidates[*start as usize..*end as usize], rules, probe, best)
            }
            RuleListShape::Shards(shards) => shards.iter().fold(best, |best, shard| {
                if shard.first_rank >= best {
                    return best;
                }
                let candidates = &self.candidates[shard.start..shard.end];
                match &shard.set {
                    Some(set) => find_in_set(set, candidates, rules, probe, best),
                    None => find_linear(candidates, rules, probe, best),
                }
            }),
            RuleListShape::Literals(literals) => {
                let mut best = best;
                probe.work.passes += 1;
                literals.for_each_list(probe.path, |list| best = self.find(list, rules, probe, best));
                self.find(literals.others, rules, probe, best)
            }
            RuleListShape::Split(split) => {
                let mut best = best;
                split.for_each_list(probe, |list, probe| best = self.find(list, rules, probe, best));
                self.find(split.others, rules, probe, best)
            }
        }
    }
}

fn find_linear(
    candidates: &[Candidate],
    rules: &[CompiledRule],
    probe: &mut RuleMatchContext<'_>,
    best: u32,
) -> u32 {
    let mut better = candidates.iter().take_while(|candidate| candidate.rank < best);
    better.find(|candidate| matches(candidate, rules, probe)).map_or(best, |candidate| candidate.rank)
}

fn find_in_set(
    set: &PatternSet,
    candidates: &[Candidate],
    rules: &[CompiledRule],
    probe: &mut RuleMatchContext<'_>,
    best: u32,
) -> u32 {
    probe.work.passes += 1;
    set.matches(probe.path).fold(best, |best, at| {
        let candidate = &candidates[at];
        let is_better = candidate.rank < best
            && (!candidate.has_conditions || rules[candidate.rule as usize].conditions_hold(probe));
        if is_better { candidate.rank } else { best }
    })
}

fn matches(candidate: &Candidate, rules: &[CompiledRule], probe: &mut RuleMatchContext<'_>) -> bool {
    if candidate.is_certain() {
        return true;
    }
    probe.work.tries += 1;
    let rule = &rules[candidate.rule as usize];
    (!candidate.has_conditions || rule.conditions_hold(probe))
        && (!candidate.has_pattern || rule.path.matches(probe.path, probe.pattern))
}

fn len_u32(len: usize) -> u32 {
    u32::try_from(len).expect("the router refuses tables whose lists would be longer")
}

/// Marks the number of a list that is a rank; ranks and list numbers are smaller.
const CERTAIN: u32 = 1 << 31;

/// No list.
pub(crate) const NONE: u32 = u32::MAX;

/// Maximum length of a list that is tried one by one although it could be split.
const LINEAR_MAX: usize = 8;

/// Maximum nesting of splits.
const FACETS_MAX: usize = 4;
