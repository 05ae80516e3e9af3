//! Traffic scenarios: short windows of load that alternate between the targets, round by round.

use anyhow::Result;

use super::check::check;
use super::session::Session;
use super::window::{LoadWindow, Pace, Saturation};
use crate::load::ScenarioRequest;
use crate::peers::{Setup, TargetInstance};
use crate::report::results::{DIRECT, SYSTEM_TICKS, USER_TICKS};

/// A traffic scenario.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    /// Scenario name.
    pub name: &'static str,
    /// The request sent.
    pub request: ScenarioRequest,
}

/// Windows of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Windows {
    /// One at saturation and one at a fixed rate.
    Both,
    /// One at saturation.
    Saturation,
}

/// Measures the scenarios that share a setup, with all targets running.
///
/// # Errors
/// Returns an error if the harness itself fails; errors of a target are recorded as faults.
pub(super) fn run(
    session: &mut Session,
    setup: Setup,
    scenarios: &[Traffic],
    windows: Windows,
) -> Result<()> {
    session.progress.step(&format!("starting {} with setup `{}`", names(session), setup.name()));
    let instances = session.start_all(setup);
    for scenario in scenarios {
        run_scenario(session, setup, scenario, &instances, windows)?;
    }
    session.stop_all(setup, instances);
    Ok(())
}

fn run_scenario(
    session: &mut Session,
    setup: Setup,
    scenario: &Traffic,
    instances: &[TargetInstance],
    windows: Windows,
) -> Result<()> {
    let mut healthy = Vec::new();
    for instance in instances {
        match check(instance, &scenario.request, scenario.name) {
            Ok(()) => healthy.push(instance),
            Err(error) => session.add_fault(&format!("{error:#}")),
        }
    }
    if healthy.is_empty() {
        return Ok(());
    }
    let rate = calibrate(session, scenario, &healthy, windows)?;
    for round in 0..session.rounds {
        let mut texts = Vec::new();
        for index in Session::order(round, healthy.len()) {
            let instance = healthy[index];
            let window = LoadWindow::on(session, &scenario.request, instance);
            let scrape = setup.has_metrics.then(|| (instance.admin, instance.target.kind.metrics_path()));
            let outcome = window.saturate(scrape);
            texts.push(record_saturation(session, scenario.name, &instance.target.name, outcome));
            if windows == Windows::Both {
                let window = LoadWindow::on(session, &scenario.request, instance);
                let outcome = window.pace(rate, round as u64);
                record_pace(session, scenario.name, &instance.target.name, rate, outcome);
            }
        }
        texts.sort();
        let text = format!("{} {}/{}: {}", scenario.name, round + 1, session.rounds, texts.join(", "));
        session.progress.step(&text);
    }
    Ok(())
}

/// Determines the rate for latencies and measures the origin alone if requests reach it; this also warms up the
/// targets.
fn calibrate(
    session: &mut Session,
    scenario: &Traffic,
    healthy: &[&TargetInstance],
    windows: Windows,
) -> Result<f64> {
    session.progress.step(&format!("{}: calibrating", scenario.name));
    let mut slowest = f64::INFINITY;
    for instance in healthy {
        let window = LoadWindow::on(session, &scenario.request, instance);
        let outcome = window.saturate(None);
        match outcome {
            Ok(figures) => slowest = slowest.min(figures.rps),
            Err(error) => {
                let text = format!("{}, {}, warm-up: {error:#}", scenario.name, instance.target.name);
                session.add_fault(&text);
            }
        }
    }
    let has_direct = scenario.request.reaches_origin();
    if has_direct {
        let outcome = LoadWindow::direct(session, &scenario.request).saturate(None);
        slowest = slowest.min(outcome.as_ref().map_or(f64::INFINITY, |figures| figures.rps));
        record_saturation(session, scenario.name, DIRECT, outcome);
    }
    let rate = session.settings.rate.unwrap_or_else(|| moderate(slowest));
    if has_direct && windows == Windows::Both {
        let outcome = LoadWindow::direct(session, &scenario.request).pace(rate, 0);
        record_pace(session, scenario.name, DIRECT, rate, outcome);
    }
    Ok(rate)
}

/// Returns 40 % of the slowest target's rate, rounded to two digits so that runs on similar machines use the same
/// rate.
fn moderate(slowest: f64) -> f64 {
    if !slowest.is_finite() {
        return RATE_MIN;
    }
    let rate = slowest * MODERATE;
    let unit = 10_f64.powf(rate.log10().floor() - 1.0);
    ((rate / unit).round() * unit).max(RATE_MIN)
}

fn record_saturation(
    session: &mut Session,
    scenario: &str,
    target: &str,
    outcome: Result<Saturation>,
) -> String {
    let figures = match outcome {
        Ok(figures) => Some(figures),
        Err(error) => {
            session.add_fault(&format!("{scenario}, {target}: {error:#}"));
            None
        }
    };
    let samples = &mut session.samples;
    let mut add = |figure: &str, of: fn(&Saturation) -> f64| {
        samples.add(scenario, target, figure, figures.as_ref().map(of))
    };
    add("rps", |one| one.rps);
    add("cpu_us", |one| one.cpu_us);
    add(USER_TICKS, |one| one.user_ticks as f64);
    add(SYSTEM_TICKS, |one| one.system_ticks as f64);
    add("origin_us", |one| one.origin_us);
    add("load_us", |one| one.load_us);
    figures.map_or_else(
        || format!("{target} failed"),
        |figures| format!("{target} {:.1} µs {:.0}/s", figures.cpu_us, figures.rps),
    )
}

fn record_pace(session: &mut Session, scenario: &str, target: &str, rate: f64, outcome: Result<Pace>) {
    let figures = match outcome {
        Ok(figures) => Some(figures),
        Err(error) => {
            session.add_fault(&format!("{scenario}, {target}, at {rate}/s: {error:#}"));
            None
        }
    };
    let samples = &mut session.samples;
    samples.add(scenario, target, "rate", Some(rate));
    let mut add =
        |figure: &str, of: fn(&Pace) -> f64| samples.add(scenario, target, figure, figures.as_ref().map(of));
    add("p50_us", |one| one.p50.as_secs_f64() * 1e6);
    add("p99_us", |one| one.p99.as_secs_f64() * 1e6);
    add("delay_p99_us", |one| one.delay_p99.as_secs_f64() * 1e6);
    add("cpu_us_at_rate", |one| one.cpu_us);
}

fn names(session: &Session) -> String {
    let names: Vec<&str> = session.targets.iter().map(|target| target.name.as_str()).collect();
    names.join(", ")
}

/// Rate of latency windows as a share of the slowest target's rate at saturation.
const MODERATE: f64 = 0.4;
const RATE_MIN: f64 = 10.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moderate_rates_have_two_digits() {
        for (slowest, expected) in [(12_345.0, 4900.0), (800.0, 320.0), (1.0, RATE_MIN)] {
            assert!((moderate(slowest) - expected).abs() < 1e-6, "{slowest}: {}", moderate(slowest));
        }
        assert!((moderate(f64::INFINITY) - RATE_MIN).abs() < 1e-9);
    }
}
