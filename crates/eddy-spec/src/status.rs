//! Status that objects would get in a cluster.

use std::fmt;

use eddy_ids::Shared;
use serde::Serialize;

/// Status that a controller would write into an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObjectStatus {
    /// Kind of the object.
    pub kind: &'static str,
    /// Namespace; empty for a cluster-scoped object.
    pub namespace: Shared<str>,
    /// Name.
    pub name: Shared<str>,
    /// Status of the object and its parts, in the order of the object.
    pub parts: Vec<PartStatus>,
}

/// Status of an object as a whole, of a listener, of a route at one of its parents, or of a policy at a Gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartStatus {
    /// `listener NAME`, `parent NAMESPACE/NAME` or `ancestor NAMESPACE/NAME`; `None` for the object as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Conditions, whether they hold or not.
    pub conditions: Vec<StatusCondition>,
    /// For a listener, the number of attached routes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attached_routes: Option<u32>,
    /// For a listener, the kinds of routes that may attach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supported_kinds: Option<Vec<&'static str>>,
}

/// Status condition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StatusCondition {
    /// Type: `Accepted`, `ResolvedRefs`, `Programmed`, `Conflicted` or `PartiallyInvalid`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Whether it holds.
    pub status: bool,
    /// Reason, as the Gateway API names it.
    pub reason: &'static str,
    /// Explanation for users; empty where there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl StatusCondition {
    /// Returns a condition that holds, with its own name as the reason.
    pub fn holds(kind: &'static str) -> Self {
        Self { kind, status: true, reason: kind, message: String::new() }
    }

    /// Returns a condition that does not hold.
    pub fn fails(kind: &'static str, reason: &'static str, message: impl Into<String>) -> Self {
        Self { kind, status: false, reason, message: message.into() }
    }
}

impl fmt::Display for ObjectStatus {
    /// Writes one line for the object and one for each of its parts.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ", self.kind)?;
        if !self.namespace.is_empty() {
            write!(out, "{}/", self.namespace)?;
        }
        out.write_str(&self.name)?;
        for part in &self.parts {
            match &part.part {
                Some(name) => write!(out, "\n  {name}: ")?,
                None => out.write_str(": ")?,
            }
            for (condition, number) in part.conditions.iter().zip(0..) {
                if number > 0 {
                    out.write_str(", ")?;
                }
                condition.fmt(out)?;
            }
            match part.attached_routes {
                Some(1) => out.write_str(", 1 route")?,
                Some(routes) => write!(out, ", {routes} routes")?,
                None => {}
            }
        }
        Ok(())
    }
}

impl fmt::Display for StatusCondition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, status, reason, message } = self;
        if *status && reason == kind {
            return out.write_str(kind);
        }
        write!(out, "{}{kind} ({reason}", if *status { "" } else { "not " })?;
        if !message.is_empty() {
            write!(out, ": {message}")?;
        }
        out.write_str(")")
    }
}
