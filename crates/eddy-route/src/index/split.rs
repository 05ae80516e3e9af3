//! Long lists, split by the method or by the exact value of a header or parameter, so that few rules are tried.

use std::collections::HashMap;

use eddy_http::FieldId;

use crate::compile::{CompiledRule, ConditionSource, RuleMatchContext};
use crate::index::candidate::Candidate;
use crate::index::hash::ByValue;

/// Part of the request that rules require an exact value of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Facet {
    Method,
    Value(ConditionSource, Box<str>),
}

/// Lists by the value of a facet.
#[derive(Debug)]
pub(super) struct Split {
    pub(super) facet: Facet,
    /// Lists of the rules that require each value.
    pub(super) by_value: ByValue<u32>,
    /// List of the rules that require no value.
    pub(super) others: u32,
}

impl Facet {
    /// Returns the facet that leaves the fewest rules to try, if it leaves at most half.
    pub(super) fn choose(candidates: &[Candidate], rules: &[CompiledRule], used: &[Self]) -> Option<Self> {
        let mut seen: HashMap<FacetRef<'_>, FacetCounts<'_>> = HashMap::new();
        for candidate in candidates {
            let rule = &rules[candidate.rule as usize];
            for (facet, value) in exact_values(rule) {
                let tally = seen.entry(facet).or_default();
                *tally.by_value.entry(value).or_default() += 1;
                // A rule with several values of a facet is in the list of each, but counts once.
                if tally.last_rank != Some(candidate.rank) {
                    tally.last_rank = Some(candidate.rank);
                    tally.asking += 1;
                }
            }
        }
        let unused = seen.iter().filter(|(facet, _)| !used.iter().any(|used| used.as_ref() == **facet));
        let costs = unused.map(|(facet, tally)| {
            let most = tally.by_value.values().copied().max().unwrap_or(0);
            (candidates.len() - tally.asking + most, facet)
        });
        // Of equal costs the smallest facet, so that each build chooses the same.
        let (cost, facet) = costs.min_by_key(|(cost, facet)| (*cost, facet.order()))?;
        (cost <= candidates.len() / 2).then(|| facet.owned())
    }

    /// Returns the candidates that require each value, and those that require none, all by rank.
    pub(super) fn group(
        &self,
        candidates: &[Candidate],
        rules: &[CompiledRule],
    ) -> (ByValue<Vec<Candidate>>, Vec<Candidate>) {
        let mut groups: ByValue<Vec<Candidate>> = HashMap::default();
        let mut others = Vec::new();
        for candidate in candidates {
            let mut is_other = true;
            for value in self.values_of(&rules[candidate.rule as usize]) {
                is_other = false;
                groups.entry(value.into()).or_default().push(*candidate);
            }
            if is_other {
                others.push(*candidate);
            }
        }
        (groups, others)
    }

    /// Returns the values of the facet of which the rule requires one; empty if it requires none.
    ///
    /// A rule with two exact tests of one header is listed under the first; it is evaluated in full anyway.
    fn values_of<'r>(&self, rule: &'r CompiledRule) -> impl Iterator<Item = &'r [u8]> {
        let facet = self.as_ref();
        let count = if facet == FacetRef::Method { usize::MAX } else { 1 };
        exact_values(rule)
            .filter(move |(asked, _)| *asked == facet)
            .map(|(_, value)| value.as_bytes())
            .take(count)
    }

    fn as_ref(&self) -> FacetRef<'_> {
        match self {
            Self::Method => FacetRef::Method,
            Self::Value(source, name) => FacetRef::Value(*source, name),
        }
    }
}

/// A facet that borrows its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FacetRef<'r> {
    Method,
    Value(ConditionSource, &'r str),
}

impl FacetRef<'_> {
    fn owned(self) -> Facet {
        match self {
            Self::Method => Facet::Method,
            Self::Value(source, name) => Facet::Value(source, name.into()),
        }
    }

    fn order(&self) -> (u8, &str) {
        match self {
            Self::Method => (0, ""),
            Self::Value(ConditionSource::Header(_), name) => (1, name),
            Self::Value(ConditionSource::Query, name) => (2, name),
            Self::Value(ConditionSource::RawQuery, name) => (3, name),
            Self::Value(ConditionSource::Part(_), name) => (4, name),
            Self::Value(ConditionSource::Cookie, name) => (5, name),
        }
    }
}

/// Number of rules that require a value of a facet, in total and by value.
#[derive(Default)]
struct FacetCounts<'r> {
    by_value: HashMap<&'r str, usize>,
    asking: usize,
    last_rank: Option<u32>,
}

/// Returns the exact values that a rule requires, including methods.
fn exact_values(rule: &CompiledRule) -> impl Iterator<Item = (FacetRef<'_>, &str)> {
    let methods = rule.methods.iter().map(|method| (FacetRef::Method, method.as_ref()));
    let values = rule.values().filter_map(|condition| {
        Some((FacetRef::Value(condition.source, &condition.name), condition.exact_value()?))
    });
    methods.chain(values)
}

impl Split {
    /// Calls `visit` with each list for the request's values of the facet.
    pub(super) fn for_each_list<'a>(
        &self,
        probe: &mut RuleMatchContext<'a>,
        mut visit: impl FnMut(u32, &mut RuleMatchContext<'a>),
    ) {
        let mut visit_value = |value: &[u8], probe: &mut RuleMatchContext<'a>| {
            if let Some(list) = self.by_value.get(value) {
                visit(*list, probe);
            }
        };
        match &self.facet {
            Facet::Method => visit_value(probe.method, probe),
            Facet::Value(ConditionSource::Header(FieldId::Other), name) => {
                let fields = probe.fields.iter().filter(|field| field.id == FieldId::Other);
                let named = fields.filter(|field| field.name.eq_ignore_ascii_case(name.as_bytes()));
                named.for_each(|field| visit_value(field.value, probe));
            }
            Facet::Value(ConditionSource::Header(id), _) => {
                let fields = probe.fields;
                fields.all(*id).for_each(|value| visit_value(value, probe));
            }
            Facet::Value(source, name) => {
                if let Some(value) = source.single_value(name, probe) {
                    visit_value(value, probe);
                }
            }
        }
    }
}
