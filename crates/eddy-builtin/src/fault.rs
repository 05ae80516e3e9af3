//! Fault injection: delays and aborts requests, to test how clients handle it.

use std::sync::Arc;
use std::time::Duration;

use eddy_filter::{ExchangeView, Interest, Phase, Verdict};
use eddy_ids::Millis;

use super::context::{BuiltinContext, MetricCounter};
use super::draw::{draw, is_in_fraction};
use super::library::{Builtin, PhaseContext};

/// Configuration of `fault`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultConfig {
    /// Requests to delay, if any.
    pub delay: Option<Delay>,
    /// Requests to abort, if any.
    pub abort: Option<Abort>,
    /// Conditions that a request must meet for either fault; all must match.
    pub conditions: Vec<FieldCondition>,
}

/// Delay, and the fraction of requests that it applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delay {
    /// Duration of the delay.
    pub time: Duration,
    /// Fraction of requests.
    pub share: RequestFraction,
}

/// Response, and the fraction of requests that it applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abort {
    /// Status code, 200 to 599.
    pub status: u16,
    /// Fraction of requests.
    pub share: RequestFraction,
}

/// Fraction of requests in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestFraction(pub u32);

/// Condition on a request header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldCondition {
    /// Header name.
    pub name: Arc<str>,
    /// Complete value that one of the headers must have; `None` for any.
    pub value: Option<Arc<str>>,
}

/// Fault injection filter.
#[derive(Debug)]
pub(super) struct FaultFilter {
    config: FaultConfig,
    seed: u64,
    delayed: MetricCounter,
    aborted: MetricCounter,
}

impl FaultFilter {
    /// Creates the filter.
    pub(super) fn new(config: &FaultConfig, context: &BuiltinContext) -> Self {
        Self {
            config: config.clone(),
            seed: context.seed[0],
            delayed: context.counter("delayed"),
            aborted: context.counter("aborted"),
        }
    }

    fn is_meant(&self, view: &ExchangeView<'_>) -> bool {
        self.config.conditions.iter().all(|condition| {
            let mut values = view.request.fields.all_named(condition.name.as_bytes());
            values.any(|value| condition.value.as_ref().is_none_or(|wanted| wanted.as_bytes() == value))
        })
    }
}

impl Builtin for FaultFilter {
    fn interest(&self) -> Interest {
        Interest::of(&[Phase::RequestHead])
    }

    fn enter(&self, answer: &mut PhaseContext<'_>) -> Verdict {
        let view = answer.view;
        if view.phase != Phase::RequestHead || !self.is_meant(view) {
            return Verdict::Continue;
        }
        let [first, second] = draw(view.about().entropy, self.seed);
        if let Some(abort) = self.config.abort.filter(|abort| is_in_fraction(first, abort.share.0)) {
            self.aborted.count(answer.worker);
            let has_body = !matches!(abort.status, 204 | 205 | 304);
            let body = if has_body { "injected fault\n" } else { "" };
            return answer.reply(abort.status, body, "fault");
        }
        if let Some(delay) = self.config.delay.filter(|delay| is_in_fraction(second, delay.share.0)) {
            self.delayed.count(answer.worker);
            return answer.wait(Millis::of(delay.time));
        }
        Verdict::Continue
    }
}
