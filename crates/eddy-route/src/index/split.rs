//! Long lists split by the method or by the exact value of a header or parameter, so that few rules are tried.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

use eddy_http::FieldId;

use crate::compile::{CompiledRule, Probe, Source, Test};
use crate::index::list::Candidate;

/// A part of the request that rules ask an exact value of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Facet {
    Method,
    Value(Source, Box<str>),
}

/// Lists by the value of a facet.
#[derive(Debug)]
pub(super) struct Split {
    pub(super) facet: Facet,
    /// The rules that ask for each value.
    pub(super) by_value: ByValue<u32>,
    /// The rules that do not ask for a value.
    pub(super) others: u32,
}

/// Things by value; the hasher is fixed, since requests only look things up.
pub(super) type ByValue<T> = HashMap<Box<[u8]>, T, BuildHasherDefault<DefaultHasher>>;

impl Facet {
    /// The facet that leaves the fewest rules to try, if any leaves less than half.
    pub(super) fn choose(candidates: &[Candidate], rules: &[CompiledRule], used: &[Self]) -> Option<Self> {
        let mut seen: HashMap<Self, ByValue<usize>> = HashMap::new();
        for candidate in candidates {
            let rule = &rules[candidate.rule as usize];
            for facet in Self::of(rule).filter(|facet| !used.contains(facet)) {
                let counts = seen.entry(facet.clone()).or_default();
                for value in facet.values_of(rule) {
                    *counts.entry(value.into()).or_default() += 1;
                }
            }
        }
        let cost = |facet: &Self, counts: &ByValue<usize>| {
            let others = candidates
                .iter()
                .filter(|candidate| facet.values_of(&rules[candidate.rule as usize]).next().is_none());
            others.count() + counts.values().copied().max().unwrap_or(0)
        };
        let costs = seen.iter().map(|(facet, counts)| (cost(facet, counts), facet.order(), facet));
        let (cost, _, facet) = costs.min_by_key(|(cost, order, _)| (*cost, order.clone()))?;
        (cost <= candidates.len() / 2).then(|| facet.clone())
    }

    /// The candidates that ask for each value, and those that ask for none, all by rank.
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

    /// The facets that a rule asks exact values of.
    fn of(rule: &CompiledRule) -> impl Iterator<Item = Self> {
        let method = (!rule.methods.is_empty()).then_some(Self::Method);
        let is_exact = |test: &Test| matches!(test, Test::Exact(_));
        let values = rule.values().filter(move |condition| is_exact(&condition.test));
        method
            .into_iter()
            .chain(values.map(|condition| Self::Value(condition.source, condition.name.clone())))
    }

    /// The values that a rule asks for, one of which the request must have; none if it does not ask.
    ///
    /// A rule with two exact tests of one header is found by the first; it is tried in full anyway.
    fn values_of<'r>(&'r self, rule: &'r CompiledRule) -> impl Iterator<Item = &'r [u8]> {
        let methods: &[Box<str>] = if *self == Self::Method { &rule.methods } else { &[] };
        let exact = rule.values().find_map(move |condition| match (&condition.test, self) {
            (Test::Exact(value), Self::Value(source, name))
                if condition.source == *source && condition.name == *name =>
            {
                Some(value.as_bytes())
            }
            _ => None,
        });
        methods.iter().map(|method| method.as_bytes()).chain(exact)
    }

    /// Makes the choice between equal facets the same in each build.
    fn order(&self) -> (u8, Box<str>) {
        match self {
            Self::Method => (0, Box::from("")),
            Self::Value(Source::Header(_), name) => (1, name.clone()),
            Self::Value(Source::Query, name) => (2, name.clone()),
        }
    }
}

impl Split {
    /// Calls `visit` with each list that the request's values of the facet lead to.
    pub(super) fn for_each_list<'a>(
        &self,
        probe: &mut Probe<'a>,
        mut visit: impl FnMut(u32, &mut Probe<'a>),
    ) {
        let mut visit_value = |value: &[u8], probe: &mut Probe<'a>| {
            if let Some(list) = self.by_value.get(value) {
                visit(*list, probe);
            }
        };
        match &self.facet {
            Facet::Method => visit_value(probe.method, probe),
            Facet::Value(Source::Query, name) => {
                if let Some(value) = probe.query.first(name.as_bytes()) {
                    visit_value(value, probe);
                }
            }
            Facet::Value(Source::Header(FieldId::Other), name) => {
                let fields = probe.fields;
                fields.all_named(name.as_bytes()).for_each(|value| visit_value(value, probe));
            }
            Facet::Value(Source::Header(id), _) => {
                let fields = probe.fields;
                fields.all(*id).for_each(|value| visit_value(value, probe));
            }
        }
    }
}
