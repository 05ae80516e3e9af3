//! Pairs of windows: one on a listener with filters, one on the bare listener of the same process.

use std::time::Duration;

use anyhow::Result;

use super::session::Session;
use super::window::{LoadWindow, Pace, Saturation};
use crate::filters::{BARE, FilterScenario};
use crate::peers::TargetInstance;
use crate::report::results::{BARE_CPU, BARE_RPS, FOREIGN, SYSTEM_TICKS, USER_TICKS};

/// Results of both windows of a pair.
#[derive(Debug)]
struct WindowPair<T> {
    bare: Result<T>,
    filtered: Result<T>,
}

/// Measures a pair at saturation, records the figures and returns them as a short text.
pub(super) fn saturate(
    session: &mut Session,
    instance: &TargetInstance,
    scenario: &FilterScenario,
    round: usize,
) -> String {
    let pair = measure(session, instance, scenario, round, |window| window.saturate(None));
    let name = &instance.target.name;
    let Some((bare, filtered)) = whole(session, scenario.name, name, pair) else {
        session.samples.add(scenario.name, name, "cpu_us", None);
        session.samples.add(scenario.name, name, BARE_CPU, None);
        return format!("{name} failed");
    };
    let Saturation { rps, cpu_us, user_ticks, system_ticks, p99, .. } = filtered;
    let figures = [
        ("rps", rps),
        ("cpu_us", cpu_us),
        ("p99_us", p99.as_secs_f64() * 1e6),
        (USER_TICKS, user_ticks as f64),
        (SYSTEM_TICKS, system_ticks as f64),
        (BARE_RPS, bare.rps),
        (BARE_CPU, bare.cpu_us),
        (FOREIGN, filtered.foreign_share.max(bare.foreign_share)),
    ];
    for (figure, value) in figures {
        session.samples.add(scenario.name, name, figure, Some(value));
    }
    format!("{name} {:.1}/{:.1} µs", cpu_us, bare.cpu_us)
}

/// Measures a pair at a fixed rate, with the same arrivals on both sides, and records the cost of the filters.
pub(super) fn pace(
    session: &mut Session,
    instance: &TargetInstance,
    scenario: &FilterScenario,
    round: usize,
    rate: f64,
) {
    let pair = measure(session, instance, scenario, round, |window| window.pace(rate, round as u64));
    let (row, name) = (row_name(scenario, rate), &instance.target.name);
    let Some((bare, filtered)) = whole(session, &row, name, pair) else { return };
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let added = |of: fn(&Pace) -> Duration| micros(of(&filtered)) - micros(of(&bare));
    let figures = [
        ("rate", rate),
        ("p50_us", micros(filtered.p50)),
        ("p99_us", micros(filtered.p99)),
        ("added_p50_us", added(|one| one.p50)),
        ("added_p99_us", added(|one| one.p99)),
        ("cpu_us", filtered.cpu_us),
        (USER_TICKS, filtered.user_ticks as f64),
        (SYSTEM_TICKS, filtered.system_ticks as f64),
        (BARE_CPU, bare.cpu_us),
        ("added_cpu_us", filtered.cpu_us - bare.cpu_us),
    ];
    for (figure, value) in figures {
        session.samples.add(&row, name, figure, Some(value));
    }
}

/// Returns the row name of a scenario at a fixed rate.
fn row_name(scenario: &FilterScenario, rate: f64) -> String {
    format!("{}@{rate}", scenario.name)
}

/// Runs the two windows, in an order that alternates from round to round.
fn measure<T>(
    session: &Session,
    instance: &TargetInstance,
    scenario: &FilterScenario,
    round: usize,
    window: impl Fn(&LoadWindow<'_>) -> Result<T>,
) -> WindowPair<T> {
    let (baseline_request, request) = (scenario.baseline_request(), scenario.request());
    let on = |request, listener| {
        LoadWindow::on_listener(session, request, instance, listener).and_then(|on| window(&on))
    };
    let bare = || on(&baseline_request, BARE.name);
    let filtered = || on(&request, scenario.listener.name);
    if is_bare_first(round) {
        let bare = bare();
        WindowPair { bare, filtered: filtered() }
    } else {
        let filtered = filtered();
        WindowPair { bare: bare(), filtered }
    }
}

fn is_bare_first(round: usize) -> bool {
    round.is_multiple_of(2)
}

/// Returns both results of a pair, or `None` if one failed; a failed window is recorded as a fault.
fn whole<T>(session: &mut Session, row: &str, target: &str, pair: WindowPair<T>) -> Option<(T, T)> {
    let mut kept = |side: &str, outcome: Result<T>| match outcome {
        Ok(figures) => Some(figures),
        Err(error) => {
            session.add_fault(&format!("{row}, {target}, {side}: {error:#}"));
            None
        }
    };
    let bare = kept("bare listener", pair.bare);
    let filtered = kept("with filters", pair.filtered);
    bare.zip(filtered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::SCENARIOS;

    #[test]
    fn the_bare_listener_is_measured_first_in_half_of_the_rounds() {
        assert_eq!((0..30).filter(|&round| is_bare_first(round)).count(), 15);
        assert_ne!(is_bare_first(3), is_bare_first(4));
    }

    #[test]
    fn row_names_include_the_rate() {
        assert_eq!(row_name(&SCENARIOS[1], 1000.0), "passthrough@1000");
    }
}
