//! Host calls on the metrics of scripts.

use eddy_filter::MetricKind;

use super::numbers::AnswerKind;
use super::stage::LuaHookContext;
use super::stats::LuaMetric;
use crate::metric::BOUNDS;

/// Defines a metric, or finds the existing one; the number of the answer is the metric's, or 0 for one that is not
/// recorded.
pub(super) fn define(stage: &mut LuaHookContext, name: &[u8], kind: f64) -> Result<AnswerKind, String> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "one of the constants")]
    let kind = MetricKind::from_number(kind as u32).ok_or("unknown kind of metric")?;
    let number = stage.stats.define(&*stage.host, stage.hook.id, kind, name).unwrap_or(0);
    stage.shown.number = u32::try_from(number).map_or(0.0, f64::from);
    Ok(AnswerKind::Number)
}

/// Adds to a counter or gauge.
pub(super) fn add(stage: &LuaHookContext, number: f64, amount: f64) -> AnswerKind {
    if let Some(LuaMetric { kind, metric, .. }) = metric(stage, number) {
        // A gauge is one value of all workers, because any of them may set it.
        let lane = if *kind == MetricKind::Gauge { 0 } else { stage.stats.lane };
        metric.add(lane, integer(amount).cast_unsigned());
    }
    AnswerKind::Nothing
}

/// Sets a gauge.
pub(super) fn set(stage: &LuaHookContext, number: f64, value: f64) -> AnswerKind {
    if let Some(LuaMetric { metric, .. }) = metric(stage, number) {
        metric.set(integer(value).cast_unsigned());
    }
    AnswerKind::Nothing
}

/// Records a value in a histogram.
pub(super) fn record(stage: &LuaHookContext, number: f64, value: f64) -> AnswerKind {
    if let Some(LuaMetric { metric, .. }) = metric(stage, number) {
        metric.record(stage.stats.lane, &BOUNDS, integer(value).cast_unsigned());
    }
    AnswerKind::Nothing
}

/// Returns the value of a counter or gauge over all workers.
pub(super) fn value(stage: &mut LuaHookContext, number: f64) -> AnswerKind {
    let value = metric(stage, number).map_or(0, |known| known.metric.sum().cast_signed());
    #[expect(clippy::cast_precision_loss, reason = "scripts know no other numbers")]
    let value = value as f64;
    stage.shown.number = value;
    AnswerKind::Number
}

fn metric(stage: &LuaHookContext, number: f64) -> Option<&LuaMetric> {
    stage.stats.get(usize::try_from(integer(number)).ok()?)
}

fn integer(number: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    let number = number as i64;
    number
}
