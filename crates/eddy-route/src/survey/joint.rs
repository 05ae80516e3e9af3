//! Search for several earlier rules of the same host that together take all requests of a rule which no single rule
//! hides.

use std::collections::BTreeSet;

use crate::compile::{CompiledCondition, CompiledRule, CompiledTest, ConditionSource};
use crate::survey::cover::{Covers, EarlierRule};
use crate::survey::imply::{Proof, implied};
use crate::survey::language::Languages;

/// Returns the earlier members that together certainly take all requests of a member.
pub(super) fn find_joint_cover(
    covers: &Covers<'_>,
    languages: &mut Languages<'_>,
    at: usize,
) -> Option<Vec<usize>> {
    let earlier = covers.earlier_prefix_rules(at);
    if earlier.len() < 2 {
        return None;
    }
    let narrow = covers.member(at);
    let names = split_names(narrow, &earlier, covers);
    let mut taking = BTreeSet::new();
    for case in cases(narrow, &names) {
        taking.extend(takers(&case, narrow, &earlier, covers, languages, at)?);
    }
    (taking.len() > 1).then(|| taking.into_iter().collect())
}

/// A subset of a rule's requests.
struct RequestSubset<'r> {
    /// Method of the requests; `None` for methods that no rule names.
    method: Option<&'r str>,
    /// Names that are present or missing in the requests.
    names: Vec<(ConditionName<'r>, bool)>,
}

/// Name of a header or query parameter.
type ConditionName<'r> = (ConditionSource, &'r str);

/// Returns the names that earlier rules require to be present or missing and that the rule does not mention.
fn split_names<'r>(
    narrow: &CompiledRule,
    earlier: &[EarlierRule],
    covers: &Covers<'r>,
) -> Vec<ConditionName<'r>> {
    let mut names: Vec<ConditionName<'r>> = Vec::new();
    for other in earlier {
        for condition in covers.member(other.member).values() {
            let name: ConditionName<'r> = (condition.source, &condition.name);
            let is_said = narrow.values().any(|said| (said.source, &*said.name) == name);
            if matches!(condition.test, CompiledTest::Absent) && !is_said && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names.truncate(NAMES_MAX);
    names
}

/// Splits all requests of a rule into subsets.
fn cases<'r>(narrow: &'r CompiledRule, names: &[ConditionName<'r>]) -> Vec<RequestSubset<'r>> {
    let methods: Vec<Option<&str>> = if narrow.methods.is_empty() {
        vec![None]
    } else {
        narrow.methods.iter().map(|method| Some(&**method)).collect()
    };
    let mut cases = Vec::new();
    for method in methods {
        for choice in 0..1_usize << names.len() {
            let chosen = names.iter().enumerate().map(|(at, name)| (*name, choice >> at & 1 == 1));
            cases.push(RequestSubset { method, names: chosen.collect() });
        }
    }
    cases
}

/// Returns earlier members that together match every path of a subset; `None` if they do not, or not certainly.
fn takers(
    case: &RequestSubset<'_>,
    narrow: &CompiledRule,
    earlier: &[EarlierRule],
    covers: &Covers<'_>,
    languages: &mut Languages<'_>,
    at: usize,
) -> Option<Vec<usize>> {
    let taking = earlier.iter().filter(|other| case.is_covered_by(covers.member(other.member), narrow));
    let taking: Vec<&EarlierRule> = taking.collect();
    if let Some(whole) = taking.iter().find(|other| other.covers_path == Some(true)) {
        return Some(vec![whole.member]);
    }
    let members: Vec<usize> = taking.iter().map(|other| other.member).collect();
    (members.len() > 1 && languages.covers_together(&members, at) == Some(true)).then_some(members)
}

impl RequestSubset<'_> {
    /// Whether the conditions of an earlier rule hold for all requests of this subset.
    fn is_covered_by(&self, wide: &CompiledRule, narrow: &CompiledRule) -> bool {
        let serves = |method: &str| wide.methods.iter().any(|served| **served == *method);
        (wide.methods.is_empty() || self.method.is_some_and(serves))
            && wide.fraction.is_none()
            && wide
                .values()
                .all(|wanted| self.is_given(wanted) || implied(narrow, wanted) == Some(Proof::Certain))
    }

    fn is_given(&self, wanted: &CompiledCondition) -> bool {
        let name = (wanted.source, &*wanted.name);
        let given = self.names.iter().find(|(known, _)| *known == name);
        given.filter(|_| wanted.is_plain()).is_some_and(|(_, is_there)| match wanted.test {
            CompiledTest::Present => *is_there,
            CompiledTest::Absent => !is_there,
            CompiledTest::Exact(_)
            | CompiledTest::Prefix(_)
            | CompiledTest::Suffix(_)
            | CompiledTest::Contains(_)
            | CompiledTest::Regex(_)
            | CompiledTest::Caseless(_)
            | CompiledTest::Range(..) => false,
        })
    }
}

/// Maximum names by which the requests of a rule are split.
const NAMES_MAX: usize = 2;
