//! Scenarios of traffic: short windows of load that move from target to target, round by round.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Result, bail};

use super::check::check;
use super::session::Session;
use crate::load::{Exchange, Generator, Request, Tally, wrk};
use crate::measure::cpu;
use crate::peers::{Instance, Setup};
use crate::probe;
use crate::report::results::{DIRECT, SYSTEM_TICKS, USER_TICKS};
use crate::settings::GeneratorKind;

/// A scenario of traffic.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    /// Its name.
    pub name: &'static str,
    /// What is sent.
    pub request: Request,
}

/// Which windows a round has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Windows {
    /// One at saturation and one at a fixed rate.
    Both,
    /// One at saturation.
    Saturation,
}

/// Measures the scenarios that share a setup, with all targets kept up.
///
/// # Errors
/// When the harness itself fails; what a target does wrong is a fault of the run.
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
    instances: &[Instance],
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
            let window = Window { session, scenario, instance: Some(instance) };
            let scrape = setup.has_metrics.then(|| (instance.admin, instance.target.kind.metrics_path()));
            let outcome = window.saturate(scrape);
            texts.push(record_saturation(session, scenario.name, &instance.target.name, outcome));
            if windows == Windows::Both {
                let window = Window { session, scenario, instance: Some(instance) };
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

/// Finds the rate for latencies and measures the origin alone; warms every target up on the way.
fn calibrate(
    session: &mut Session,
    scenario: &Traffic,
    healthy: &[&Instance],
    windows: Windows,
) -> Result<f64> {
    session.progress.step(&format!("{}: calibrating", scenario.name));
    let mut slowest = f64::INFINITY;
    for instance in healthy {
        let window = Window { session, scenario, instance: Some(instance) };
        let outcome = window.saturate(None);
        match outcome {
            Ok(figures) => slowest = slowest.min(figures.rps),
            Err(error) => {
                let text = format!("{}, {}, warm-up: {error:#}", scenario.name, instance.target.name);
                session.add_fault(&text);
            }
        }
    }
    let direct = Window { session, scenario, instance: None };
    let outcome = direct.saturate(None);
    slowest = slowest.min(outcome.as_ref().map_or(f64::INFINITY, |figures| figures.rps));
    let rate = session.settings.rate.unwrap_or_else(|| moderate(slowest));
    record_saturation(session, scenario.name, DIRECT, outcome);
    if windows == Windows::Both {
        let direct = Window { session, scenario, instance: None };
        let outcome = direct.pace(rate, 0);
        record_pace(session, scenario.name, DIRECT, rate, outcome);
    }
    Ok(rate)
}

/// 40 % of what the slowest can do, to two digits, so that runs on like machines choose alike.
fn moderate(slowest: f64) -> f64 {
    if !slowest.is_finite() {
        return RATE_MIN;
    }
    let rate = slowest * MODERATE;
    let unit = 10_f64.powf(rate.log10().floor() - 1.0);
    ((rate / unit).round() * unit).max(RATE_MIN)
}

/// A window about to be measured: on a target, or on the origin when there is none.
struct Window<'a> {
    session: &'a Session,
    scenario: &'a Traffic,
    instance: Option<&'a Instance>,
}

/// What a window at saturation found.
#[derive(Clone, Copy, Debug)]
struct Saturation {
    rps: f64,
    cpu_us: f64,
    user_ticks: u64,
    system_ticks: u64,
    origin_us: f64,
    load_us: f64,
}

/// What a window at a fixed rate found.
#[derive(Clone, Copy, Debug)]
struct Pace {
    p50: Duration,
    p99: Duration,
    delay_p99: Duration,
    cpu_us: f64,
}

impl Window<'_> {
    fn target(&self) -> SocketAddr {
        self.instance.map_or(self.session.origin.address, |instance| instance.address)
    }

    fn cpu(&self) -> cpu::Reading {
        self.instance.map_or_else(|| self.session.origin.cpu(), Instance::cpu)
    }

    /// Keeps all connections busy.
    fn saturate(&self, scrape: Option<(SocketAddr, &str)>) -> Result<Saturation> {
        let settings = &self.session.settings;
        let exchange = self.scenario.request.exchange(self.target());
        let mut generator = Generator::new(self.target(), &exchange, settings.connections)?;
        checked(generator.run_closed(WARM_UP)?)?;
        crate::pause(SETTLE);
        let (before, origin_before, own_before) = (self.cpu(), self.session.origin.cpu(), own_cpu());
        if let Some((admin, path)) = scrape {
            scrape_once(admin, path)?;
        }
        let tally = match settings.generator {
            GeneratorKind::Own => generator.run_closed(settings.window()?)?,
            GeneratorKind::Wrk => wrk::run(
                &settings.wrk,
                self.target(),
                &self.scenario.request,
                settings.connections,
                settings.window()?,
            )?,
        };
        // What a target does after its last response, such as writing a log, belongs to the requests as well.
        crate::pause(SETTLE);
        let (after, origin_after, own_after) = (self.cpu(), self.session.origin.cpu(), own_cpu());
        let tally = checked(tally)?;
        let used = after.since(&before);
        let each = |used: cpu::Used| used.total.as_secs_f64() * 1e6 / tally.requests.max(1) as f64;
        Ok(Saturation {
            rps: tally.rate(),
            cpu_us: each(used),
            user_ticks: used.user_ticks,
            system_ticks: used.system_ticks,
            origin_us: each(origin_after.since(&origin_before)),
            load_us: each(own_after.since(&own_before)),
        })
    }

    /// Sends at a fixed rate; the same arrivals for every target of a round.
    fn pace(&self, rate: f64, round: u64) -> Result<Pace> {
        let settings = &self.session.settings;
        let exchange: Exchange = self.scenario.request.exchange(self.target());
        let mut generator = Generator::new(self.target(), &exchange, settings.connections)?;
        checked(generator.run_open(WARM_UP, rate, round)?)?;
        crate::pause(SETTLE);
        let before = self.cpu();
        let tally = generator.run_open(settings.window()?, rate, round)?;
        crate::pause(SETTLE);
        let used = self.cpu().since(&before);
        let tally = checked(tally)?;
        let (Some(p50), Some(p99), Some(delay_p99)) =
            (tally.latency(0.5), tally.latency(0.99), tally.delay(0.99))
        else {
            bail!("no request was due in the window");
        };
        let cpu_us = used.total.as_secs_f64() * 1e6 / tally.requests.max(1) as f64;
        Ok(Pace { p50, p99, delay_p99, cpu_us })
    }
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

fn checked(tally: Tally) -> Result<Tally> {
    if tally.error_count() > 0 {
        bail!("{} of {} requests: {}", tally.error_count(), tally.requests, tally.error_text());
    }
    Ok(tally)
}

fn scrape_once(admin: SocketAddr, path: &str) -> Result<()> {
    let answer = probe::get(admin, path)?;
    if answer.status != 200 || answer.body.is_empty() {
        bail!("metrics at `{path}` answer with status {}", answer.status);
    }
    Ok(())
}

fn own_cpu() -> cpu::Reading {
    let us = i32::try_from(std::process::id()).ok().and_then(crate::measure::tree::Entry::read);
    cpu::Reading::take(us.as_slice())
}

fn names(session: &Session) -> String {
    let names: Vec<&str> = session.targets.iter().map(|target| target.name.as_str()).collect();
    names.join(", ")
}

/// Load before a window, so that pools are filled and code is in the caches.
const WARM_UP: Duration = Duration::from_millis(150);
/// Rest before CPU is read: running threads are counted only when they leave the CPU or at a tick.
const SETTLE: Duration = Duration::from_millis(30);
/// The rate of latencies as a share of the slowest target's rate at saturation.
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
