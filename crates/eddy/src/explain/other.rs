//! Which rule would win a request if the rules were written in another dialect.

use std::fmt::Write;

use eddy_route::{OtherDialect, RouteRequest, RouteScratch, RouteTable, Router, Untranslatable, translate};
use serde::Serialize;

/// What would become of a request in another dialect.
#[derive(Serialize)]
pub(super) struct OtherAnswer {
    dialect: &'static str,
    /// The rule that would win.
    rule: Option<String>,
    /// Whether it is the one that wins here.
    is_same: bool,
    /// The rules that the dialect can't say, and are not asked.
    unsaid: Vec<UnsaidRule>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

#[derive(Serialize)]
struct UnsaidRule {
    rule: String,
    file: String,
    line: u32,
    reason: &'static str,
    /// Whether it is the rule that wins here.
    wins_here: bool,
}

impl OtherAnswer {
    /// Asks the rules of some tables as another dialect would have them; `here` is the rule that wins in their own.
    pub(super) fn of<'t>(
        tables: impl IntoIterator<Item = &'t RouteTable>,
        dialect: OtherDialect,
        request: &RouteRequest<'_>,
        here: Option<&str>,
    ) -> Self {
        let retold = translate(tables, dialect);
        let unsaid = retold.unsaid.into_iter().map(|Untranslatable { rule, origin, reason }| UnsaidRule {
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

    /// The answer for people.
    pub(super) fn write(&self, out: &mut String) {
        let label = format!("as {}", self.dialect);
        let what = match (&self.fault, &self.rule) {
            (Some(fault), _) => fault.clone(),
            (None, Some(rule)) if self.is_same => format!("{rule} wins as well"),
            (None, Some(rule)) => format!("{rule} wins"),
            (None, None) if self.is_same => "no rule is for it either".to_owned(),
            (None, None) => "no rule is for it".to_owned(),
        };
        // Writing to a string never fails.
        let _ = writeln!(out, "{label:<16}{what}");
        // What wins here is the first that is missed there.
        let (winner, others): (Vec<_>, Vec<_>) = self.unsaid.iter().partition(|unsaid| unsaid.wins_here);
        for UnsaidRule { rule, file, line, reason, .. } in winner.iter().chain(others.iter().take(SHOWN_MAX))
        {
            let _ = writeln!(out, "  without       {rule}  {file}:{line}  it has {reason}");
        }
        if let Some(more) = others.len().checked_sub(SHOWN_MAX).filter(|more| *more > 0) {
            let _ = writeln!(out, "  without       {more} others (--json lists them)");
        }
    }
}

/// Most rules that are named as left out, beside the one that wins here.
const SHOWN_MAX: usize = 5;
