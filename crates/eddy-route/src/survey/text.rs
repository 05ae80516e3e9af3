//! Text form of ordered rules.

use std::fmt;

use crate::order::PrecedenceStep;
use crate::survey::{RankedRule, Shadow};

/// Result of [`Router::ordered`](crate::Router::ordered), displayed as a table.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'r> {
    /// Rules in order.
    pub rules: &'r [RankedRule],
}

impl fmt::Display for Listing<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<[String; 5]> = self.rules.iter().map(columns).collect();
        let heads = ["rank", "host", "rule", "where", "conditions"].map(str::to_owned);
        let widths: Vec<usize> = (0..heads.len())
            .map(|at| rows.iter().chain([&heads]).map(|row| row[at].chars().count()).max().unwrap_or(0))
            .collect();
        write_row(out, &heads, &widths)?;
        writeln!(out)?;
        for (row, rule) in rows.iter().zip(self.rules) {
            write_row(out, row, &widths)?;
            for note in notes(rule) {
                write!(out, "  {note}")?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}

impl fmt::Display for RankedRule {
    /// Writes one line: rank, host, name, location, conditions, and remarks.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", columns(self).join("  "))?;
        notes(self).iter().try_for_each(|note| write!(out, "  {note}"))
    }
}

fn columns(ranked: &RankedRule) -> [String; 5] {
    let rule = &ranked.rule;
    let place = format!("{}:{}", rule.file, rule.line);
    [rule.rank.to_string(), rule.host.clone(), rule.rule.clone(), place, rule.asks.clone()]
}

fn write_row(out: &mut fmt::Formatter<'_>, row: &[String; 5], widths: &[usize]) -> fmt::Result {
    let [rank, host, rule, place, asks] = row;
    let [rank_width, host_width, rule_width, place_width, _] = widths else { return Ok(()) };
    write!(
        out,
        "{rank:>rank_width$}  {host:<host_width$}  {rule:<rule_width$}  {place:<place_width$}  {asks}"
    )
}

/// Returns the remarks on a rule: its problems, or else the reason for its position.
fn notes(ranked: &RankedRule) -> Vec<String> {
    if let Some(dead) = &ranked.dead {
        return vec![format!("DEAD: {dead}")];
    }
    let mut notes = Vec::new();
    match &ranked.shadow {
        Shadow::None => {}
        Shadow::By { rule, file, line, .. } => {
            notes.push(format!("SHADOWED by {rule} ({file}:{line}){}", ranked.example_text()));
        }
        Shadow::Jointly { rules } => {
            notes.push(format!("SHADOWED by {} together{}", rules.join(" and "), ranked.example_text()));
        }
        Shadow::NotProven { rule, file, line, .. } => {
            notes.push(format!("maybe shadowed by {rule} ({file}:{line}); not proven because of a regex"));
        }
    }
    if let Some(other) = &ranked.fragile {
        notes.push(format!("FRAGILE: only the file order puts it after {other}{}", ranked.example_text()));
    }
    if let Some(other) = &ranked.redundant {
        let example = if ranked.fragile.is_none() { ranked.example_text() } else { String::new() };
        notes.push(format!("REDUNDANT: {other} has the same effect without it{example}"));
    }
    if let (Some(step), Some(reason)) = (ranked.step, &ranked.reason)
        && !matches!(
            step,
            PrecedenceStep::Disjoint
                | PrecedenceStep::Age
                | PrecedenceStep::Name
                | PrecedenceStep::FileOrder
                | PrecedenceStep::Written
        )
    {
        notes.push(format!("after: {reason}"));
    }
    notes
}
