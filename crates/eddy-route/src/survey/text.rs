//! Ranked rules as text for people.

use std::fmt;

use crate::order::Step;
use crate::survey::{RankedRule, Shadow};

impl fmt::Display for RankedRule {
    /// One line: rank, host, what it asks for, name, place, and what is wrong with it or else the reason of its place.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = &self.rule;
        write!(
            out,
            "{:>5}  {}  {}  {} ({}:{})",
            rule.rank, rule.host, rule.asks, rule.rule, rule.file, rule.line
        )?;
        if let (Some(step), Some(reason)) = (self.step, &self.reason)
            && !matches!(step, Step::Apart | Step::FileOrder)
        {
            write!(out, "  after: {reason}")?;
        }
        match &self.shadow {
            Shadow::None => {}
            Shadow::By { rule, file, line, .. } => write!(out, "  SHADOWED by {rule} ({file}:{line})")?,
            Shadow::NotProven { rule, file, line, .. } => {
                write!(out, "  maybe shadowed by {rule} ({file}:{line}): not proven, for a regex")?;
            }
        }
        if let Some(other) = &self.fragile {
            write!(out, "  FRAGILE: only the file order puts it after {other}")?;
        }
        if let Some(dead) = &self.dead {
            write!(out, "  DEAD: {dead}")?;
        }
        Ok(())
    }
}
