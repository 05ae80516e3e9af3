//! Text form of explanations.

use std::fmt;

use crate::explain::{Candidate, Cost, Explanation, HostOutcome, RuleOutcome, RuleRef};

impl fmt::Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_request(out)?;
        self.write_hosts(out)?;
        self.write_winner(out)?;
        let shown = if out.alternate() { self.candidates.iter().collect() } else { self.notable() };
        self.write_candidates(out, &shown)?;
        self.write_other_counts(out)?;
        self.write_cost(out)
    }
}

impl Explanation {
    fn write_request(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let request = &self.request;
        let sent = request.sent_path.as_ref().unwrap_or(&request.path);
        write!(out, "request     {} {}{sent}", request.method, request.host)?;
        if !request.query.is_empty() {
            write!(out, "?{}", request.query)?;
        }
        write!(out, "\npath        {}", request.path)?;
        if *sent != request.path {
            write!(out, "  (normalised; sent as {sent})")?;
        }
        writeln!(out)
    }

    fn write_hosts(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.hosts.is_empty() {
            return writeln!(out, "host        no rule for this host");
        }
        for (at, step) in self.hosts.iter().enumerate() {
            let label = if at == 0 { "host" } else { "" };
            let rules = plural(step.rules, "rule");
            let outcome = match step.outcome {
                HostOutcome::Won => "one wins",
                HostOutcome::NoMatch => "no rule matches, so the next host is tried",
                HostOutcome::NotTried => "not needed",
            };
            let is_last = at + 1 == self.hosts.len();
            let outcome =
                if is_last && step.outcome == HostOutcome::NoMatch { "no rule matches" } else { outcome };
            writeln!(out, "{label:<12}{}  {rules}: {outcome}", step.host)?;
        }
        Ok(())
    }

    fn write_winner(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(winner) = &self.winner else { return writeln!(out, "winner      none") };
        writeln!(out, "table       {}", winner.table)?;
        writeln!(out, "winner      {}  {}:{}  {}", winner.rule, winner.file, winner.line, winner.asks)?;
        match &self.why {
            None => writeln!(out, "  why       no other rule matches"),
            Some(why) => {
                let rule = &why.rule;
                writeln!(out, "  why       {}", why.reason)?;
                writeln!(out, "  before    {}  {}:{}  {}", rule.rule, rule.file, rule.line, rule.asks)
            }
        }
    }

    /// Returns a few candidates by rank: matching ones before the others.
    fn notable(&self) -> Vec<&Candidate> {
        let (mut shown, failing): (Vec<_>, Vec<_>) = self
            .candidates
            .iter()
            .partition(|candidate| !matches!(candidate.outcome, RuleOutcome::Fails { .. }));
        shown.truncate(MATCHING_SHOWN_MAX);
        let left = CANDIDATES_SHOWN_MAX - shown.len();
        shown.extend(failing.into_iter().take(left));
        shown.sort_by_key(|candidate| candidate.rule.rank);
        shown
    }

    fn write_candidates(&self, out: &mut fmt::Formatter<'_>, shown: &[&Candidate]) -> fmt::Result {
        let name_width = shown.iter().map(|candidate| candidate.rule.rule.chars().count()).max().unwrap_or(0);
        let place_width =
            shown.iter().map(|candidate| place(&candidate.rule).chars().count()).max().unwrap_or(0);
        for (at, candidate) in shown.iter().enumerate() {
            let label = if at == 0 { "candidates" } else { "" };
            let rule = &candidate.rule;
            let (place, verdict) = (place(rule), verdict(candidate));
            let (rank, name) = (rule.rank, &rule.rule);
            writeln!(out, "{label:<12}{rank:>4}  {name:<name_width$}  {place:<place_width$}  {verdict}")?;
        }
        let hidden = self.candidates.len() - shown.len();
        if hidden > 0 {
            writeln!(out, "            and {hidden} more")?;
        }
        Ok(())
    }

    fn write_other_counts(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elsewhere = &self.elsewhere;
        if elsewhere.other_paths + elsewhere.other_hosts == 0 {
            return Ok(());
        }
        let paths = plural(elsewhere.other_paths, "rule");
        let hosts = plural(elsewhere.other_hosts, "rule");
        writeln!(out, "elsewhere   {paths} for other paths, {hosts} for other hosts")
    }
}

impl Explanation {
    fn write_cost(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cost { hosts, steps, passes, tries, rules } = self.cost;
        let (hosts, steps) = (plural(hosts, "host"), plural(steps, "step"));
        write!(
            out,
            "cost        {hosts}, {steps} along the path, {tries} of {} tried",
            plural(rules, "rule")
        )?;
        if passes > 0 {
            write!(out, ", regexes matched in {passes} passes")?;
        }
        writeln!(out)
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = &self.rule;
        let place = place(rule);
        write!(
            out,
            "{} ({place}, rank {}; {}; {}): {}",
            rule.rule,
            rule.rank,
            rule.host,
            rule.asks,
            verdict(self)
        )
    }
}

/// Returns the outcome of a rule on one line.
fn verdict(candidate: &Candidate) -> String {
    match &candidate.outcome {
        RuleOutcome::Wins => "WINS".to_owned(),
        RuleOutcome::Fails { reason, .. } => format!("no: {reason}"),
        RuleOutcome::Loses { reason, is_fragile, is_next, .. } => {
            let fragile = if *is_fragile { "FRAGILE " } else { "" };
            let next = if *is_next { "; next without the winner" } else { "" };
            format!("{fragile}matches, but {reason}{next}")
        }
    }
}

fn place(rule: &RuleRef) -> String {
    format!("{}:{}", rule.file, rule.line)
}

fn plural(count: u32, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Maximum candidates shown, unless all are requested.
const CANDIDATES_SHOWN_MAX: usize = 20;

/// Maximum matching candidates among them.
const MATCHING_SHOWN_MAX: usize = 12;
