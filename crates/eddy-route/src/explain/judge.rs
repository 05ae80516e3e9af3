//! Evaluation of every rule on a request for an explanation.

use std::collections::HashMap;

use crate::compile::{CompiledRule, ConditionSource, RuleMatchContext, RuleMismatch};
use crate::explain::{
    Against, Candidate, Cost, Elsewhere, Explanation, FailedAt, HostOutcome, HostStep, RequestSummary,
    RuleOutcome, RuleRef,
};
use crate::order::{RouteEntries, RouteEntry};
use crate::reference;
use crate::request::{RouteRequest, RouteScratch};
use crate::rule::HostForm;

/// Explains a request by a scan over all rules.
pub(crate) fn judge(
    rules: &[CompiledRule],
    entries: &RouteEntries,
    request: &RouteRequest<'_>,
    cost: Cost,
) -> Explanation {
    let mut scratch = RouteScratch::new();
    let RouteScratch { host, query, pattern, stripped, folded, .. } = &mut scratch;
    let serving = entries.serving(request, folded);
    let host = HostForm::default().fold(request, host);
    query.read(request.query);
    let mut probe = RuleMatchContext::new(request, request.strip_path(stripped), query, pattern);
    let winner = reference::find(rules, entries, &serving, &mut probe);
    let bench = ExplainContext { rules, entries, request, serving: &serving };
    let (mut candidates, others): (Vec<_>, Vec<_>) =
        bench.try_all(&mut probe, winner).into_iter().partition(|candidate| !fails_host_or_path(candidate));
    let count = |at: FailedAt| {
        let failed = others.iter().filter(
            |other| matches!(&other.outcome, RuleOutcome::Fails { failed_at, .. } if *failed_at == at),
        );
        u32::try_from(failed.count()).unwrap_or(u32::MAX)
    };
    let elsewhere = Elsewhere { other_hosts: count(FailedAt::Host), other_paths: count(FailedAt::Path) };
    let why = mark_next(&mut candidates);
    let is_fragile = candidates
        .iter()
        .any(|candidate| matches!(candidate.outcome, RuleOutcome::Loses { is_fragile: true, .. }));
    let winner = winner.map(|rank| (entries.list[rank].scope, bench.rule_ref(rank)));
    Explanation {
        request: show(request, host),
        table: winner.as_ref().map(|(_, rule)| rule.table.clone()),
        hosts: bench.host_steps(winner.as_ref().map(|(scope, _)| *scope)),
        winner: winner.map(|(_, rule)| rule),
        why,
        is_fragile,
        candidates,
        cost,
        elsewhere,
        others,
    }
}

/// Data that every rule is evaluated against.
struct ExplainContext<'a> {
    rules: &'a [CompiledRule],
    entries: &'a RouteEntries,
    request: &'a RouteRequest<'a>,
    /// Scopes of the hosts that match the request's host.
    serving: &'a [u32],
}

impl ExplainContext<'_> {
    /// Returns the outcome of each rule, by rank, under the most specific of its hosts that match the request's host.
    fn try_all(&self, probe: &mut RuleMatchContext<'_>, winner: Option<usize>) -> Vec<Candidate> {
        let mut best: HashMap<u32, (usize, bool)> = HashMap::new();
        for (rank, entry) in self.entries.list.iter().enumerate() {
            let is_served = self.serving.contains(&entry.scope);
            let known = best.entry(entry.rule).or_insert((rank, is_served));
            if is_served && !known.1 {
                *known = (rank, true);
            }
        }
        let mut ranks: Vec<(usize, bool)> = best.into_values().collect();
        ranks.sort_unstable();
        let judged = ranks.into_iter().map(|(rank, is_served)| {
            let outcome = if is_served { self.outcome(rank, probe, winner) } else { self.other_host(rank) };
            Candidate { rule: self.rule_ref(rank), outcome }
        });
        judged.collect()
    }

    fn outcome(&self, rank: usize, probe: &mut RuleMatchContext<'_>, winner: Option<usize>) -> RuleOutcome {
        let rule = self.rule(rank);
        probe.read_path(self.entries.scope(self.entries.list[rank]).ground.strips_parameters);
        if let Some(failure) = rule.first_failure(probe) {
            return self.failed(rule, &failure, probe);
        }
        match winner {
            Some(winner) if winner != rank => {
                let (first, second) = (self.entries.list[winner], self.entries.list[rank]);
                let (step, reason) = self.entries.reason(self.rules, first, second);
                RuleOutcome::Loses { step, reason, is_fragile: step.is_fragile(), is_next: false }
            }
            _ => RuleOutcome::Wins,
        }
    }

    fn failed(
        &self,
        rule: &CompiledRule,
        failure: &RuleMismatch<'_>,
        probe: &RuleMatchContext<'_>,
    ) -> RuleOutcome {
        let (failed_at, reason) = match failure {
            RuleMismatch::Path => {
                (FailedAt::Path, format!("path: want {}, got {}", rule.path, probe.path.escape_ascii()))
            }
            RuleMismatch::Method => {
                let wanted = rule.methods.join(" or ");
                (FailedAt::Method, format!("method: want {wanted}, got {}", probe.method.escape_ascii()))
            }
            RuleMismatch::Fraction(fraction) => {
                let number = probe.random % u64::from(fraction.denominator.max(1));
                (
                    FailedAt::Fraction,
                    format!("fraction: want {fraction} requests, got random number {number}"),
                )
            }
            RuleMismatch::Value(condition) => {
                let failed_at = match condition.source {
                    ConditionSource::Header(_) | ConditionSource::Part(_) | ConditionSource::Cookie => {
                        FailedAt::Header
                    }
                    ConditionSource::Query | ConditionSource::RawQuery => FailedAt::Query,
                };
                let (kind, name) = (condition.kind(), &condition.name);
                (
                    failed_at,
                    format!(
                        "{kind} {name}: want {}, got {}",
                        condition.wanted(),
                        condition.format_actual(probe)
                    ),
                )
            }
        };
        RuleOutcome::Fails { failed_at, reason }
    }

    fn other_host(&self, rank: usize) -> RuleOutcome {
        let mut folded = Vec::new();
        let scope = self.entries.scope(self.entries.list[rank]);
        let host = scope.ground.form.fold(self.request, &mut folded);
        let rule = self.rule(rank);
        let is_of_host = rule.hosts.iter().any(|wanted| wanted.matches(host));
        let mut tried = self.serving.iter().map(|other| &self.entries.scopes[*other as usize]);
        let closing =
            tried.find(|other| is_of_host && other.is_end && other.closing_table() == scope.closing_table());
        let reason = if let Some(closing) = closing {
            format!("host: {} is more specific and ends the search in its table", closing.host)
        } else {
            let hosts: Vec<String> = rule.hosts.iter().map(ToString::to_string).collect();
            let got = if host.is_empty() { "none".to_owned() } else { host.escape_ascii().to_string() };
            format!("host: want {}, got {got}", hosts.join(" or "))
        };
        RuleOutcome::Fails { failed_at: FailedAt::Host, reason }
    }

    fn host_steps(&self, winner_scope: Option<u32>) -> Vec<HostStep> {
        let scopes = self.serving.iter().map(|number| (*number, &self.entries.scopes[*number as usize]));
        let steps = scopes.map(|(number, scope)| HostStep {
            host: scope.host.to_string(),
            rules: scope.ranks.end - scope.ranks.start,
            outcome: match winner_scope {
                Some(winner) if number == winner => HostOutcome::Won,
                Some(winner) if number > winner => HostOutcome::NotTried,
                _ => HostOutcome::NoMatch,
            },
        });
        steps.collect()
    }

    fn rule(&self, rank: usize) -> &CompiledRule {
        &self.rules[self.entries.list[rank].rule as usize]
    }

    fn rule_ref(&self, rank: usize) -> RuleRef {
        RuleRef::new(self.rules, self.entries, rank, self.entries.list[rank])
    }
}

impl RuleRef {
    pub(crate) fn new(
        rules: &[CompiledRule],
        entries: &RouteEntries,
        rank: usize,
        entry: RouteEntry,
    ) -> Self {
        let rule = &rules[entry.rule as usize];
        Self {
            rank: u32::try_from(rank + 1).unwrap_or(u32::MAX),
            table: entries.table_name(rule).to_owned(),
            rule: rule.name.to_string(),
            index: rule.index,
            file: rule.origin.file.to_string(),
            line: rule.origin.line,
            host: entries.scope(entry).host.to_string(),
            asks: rule.to_string(),
        }
    }
}

/// Whether a rule fails on its host or path and thus is not a candidate.
fn fails_host_or_path(candidate: &Candidate) -> bool {
    matches!(&candidate.outcome, RuleOutcome::Fails { failed_at: FailedAt::Host | FailedAt::Path, .. })
}

/// Marks the rule that would win without the winner; returns why it lost.
fn mark_next(candidates: &mut [Candidate]) -> Option<Against> {
    candidates.iter_mut().find_map(|candidate| match &mut candidate.outcome {
        RuleOutcome::Loses { step, reason, is_next, .. } => {
            *is_next = true;
            Some(Against { rule: candidate.rule.clone(), step: *step, reason: reason.clone() })
        }
        RuleOutcome::Wins | RuleOutcome::Fails { .. } => None,
    })
}

fn show(request: &RouteRequest<'_>, host: &[u8]) -> RequestSummary {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    RequestSummary {
        method: text(request.method),
        host: text(host),
        sent_path: None,
        path: text(request.path()),
        query: text(request.query),
    }
}
