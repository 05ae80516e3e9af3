//! Determines which rule would win for a request if the rules were written in another dialect.

use std::fmt::Write;

use eddy_route::{OtherDialect, RouteRequest, RouteScratch, RouteTable, Router, Untranslatable, translate};
use serde::Serialize;

/// Decision for a request in another dialect.
#[derive(Serialize)]
pub(super) struct OtherDialectDecision {
    dialect: &'static str,
    /// Rule that would win.
    rule: Option<String>,
    /// Whether the same rule wins here.
    is_same: bool,
    /// Rules that cannot be expressed in the dialect and are left out.
    unsaid: Vec<UntranslatableRule>,
    /// Why there is no decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

#[derive(Serialize)]
struct UntranslatableRule {
    rule: String,
    file: String,
    line: u32,
    reason: &'static str,
    /// Whether this rule wins here.
    wins_here: bool,
}

impl OtherDialectDecision {
    /// Decides by the rules of some tables as translated to another dialect; `here` is the rule that wins in their own.
    pub(super) fn of<'t>(
        tables: impl IntoIterator<Item = &'t RouteTable>,
        dialect: OtherDialect,
        request: &RouteRequest<'_>,
        here: Option<&str>,
    ) -> Self {
        let retold = translate(tables, dialect);
        let unsaid =
            retold.unsaid.into_iter().map(|Untranslatable { rule, origin, reason }| UntranslatableRule {
                wins_here: here == Some(&*rule),
                rule: rule.to_string(),
                file: origin.file.to_string(),
                line: origin.line,
                reason,
            });
        let mut answer = Self {
            dialect: dialect.name(),
            rule: None,
            is_same: false,
            unsaid: unsaid.collect(),
            fault: None,
        };
        match Router::build(&[retold.table]) {
            Ok(router) => {
                let found = router.lookup(request, &mut RouteScratch::new());
                answer.rule = found.map(|found| found.rule.name.to_string());
                answer.is_same = answer.rule.as_deref() == here;
            }
            Err(errors) => answer.fault = errors.first().map(ToString::to_string),
        }
        answer
    }

    /// Writes the decision as text.
    pub(super) fn write(&self, out: &mut String) {
        let label = format!("as {}", self.dialect);
        let what = match (&self.fault, &self.rule) {
            (Some(fault), _) => fault.clone(),
            (None, Some(rule)) if self.is_same => format!("{rule} wins as well"),
            (None, Some(rule)) => format!("{rule} wins"),
            (None, None) if self.is_same => "no rule matches either".to_owned(),
            (None, None) => "no rule matches".to_owned(),
        };
        // Writing to a string never fails.
        let _ = writeln!(out, "{label:<16}{what}");
        // The rule that wins here is the most important one to list.
        let (winner, others): (Vec<_>, Vec<_>) = self.unsaid.iter().partition(|unsaid| unsaid.wins_here);
        for UntranslatableRule { rule, file, line, reason, .. } in
            winner.iter().chain(others.iter().take(SHOWN_MAX))
        {
            let _ = writeln!(out, "  left out      {rule}  {file}:{line}  it has {reason}");
        }
        if let Some(more) = others.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
            let _ = writeln!(out, "  left out      {more} others (--json lists them)");
        }
    }
}

/// Maximum left-out rules that are listed, besides the one that wins here.
const SHOWN_MAX: usize = 5;
