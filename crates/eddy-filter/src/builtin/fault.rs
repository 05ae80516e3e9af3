//! Delays and refuses requests, to see how clients bear it.

use std::sync::Arc;
use std::time::Duration;

/// The configuration of `fault`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultConfig {
    /// Requests that are delayed, if any.
    pub delay: Option<Delay>,
    /// Requests that are answered at once, if any.
    pub abort: Option<Abort>,
    /// What a request must have for either; all of them.
    pub conditions: Vec<FieldCondition>,
}

/// How long requests are delayed, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// How long.
    pub time: Duration,
    /// How many.
    pub share: Share,
}

/// How requests are answered, and how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abort {
    /// The status, 200 to 599.
    pub status: u16,
    /// How many.
    pub share: Share,
}

/// A share of requests, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(pub u32);

/// What a request's field must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldCondition {
    /// The field.
    pub name: Arc<str>,
    /// The whole value of one of them; `None` for any.
    pub value: Option<Arc<str>>,
}
