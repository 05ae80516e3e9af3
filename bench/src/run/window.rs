//! One window of load on one address, and its CPU cost.

use std::net::SocketAddr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::session::Session;
use crate::load::{Generator, LoadExchange, LoadStats, ScenarioRequest, wrk};
use crate::measure::{cpu, machine};
use crate::peers::TargetInstance;
use crate::probe;
use crate::settings::GeneratorKind;

/// A window to be measured: on a target, or on the origin without a target.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadWindow<'a> {
    session: &'a Session,
    request: &'a ScenarioRequest,
    address: SocketAddr,
    instance: Option<&'a TargetInstance>,
}

/// Result of a window at saturation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Saturation {
    pub rps: f64,
    pub cpu_us: f64,
    pub user_ticks: u64,
    pub system_ticks: u64,
    pub origin_us: f64,
    pub load_us: f64,
    /// CPU time of processes other than the target, the origin and the harness, as a share of the machine.
    pub foreign_share: f64,
    pub p99: Duration,
}

/// Result of a window at a fixed rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub p50: Duration,
    pub p99: Duration,
    pub delay_p99: Duration,
    pub cpu_us: f64,
    pub user_ticks: u64,
    pub system_ticks: u64,
}

impl<'a> LoadWindow<'a> {
    /// Creates a window on the only listener of a target, or on its first.
    pub(super) fn on(
        session: &'a Session,
        request: &'a ScenarioRequest,
        instance: &'a TargetInstance,
    ) -> Self {
        Self { session, request, address: instance.address, instance: Some(instance) }
    }

    /// Creates a window on a listener of a target that has several.
    pub(super) fn on_listener(
        session: &'a Session,
        request: &'a ScenarioRequest,
        instance: &'a TargetInstance,
        listener: &str,
    ) -> Result<Self> {
        let address = instance.listeners.get(listener).copied();
        let address = address.with_context(|| format!("listener `{listener}` does not exist"))?;
        Ok(Self { session, request, address, instance: Some(instance) })
    }

    /// Creates a window on the origin, without a target.
    pub(super) fn direct(session: &'a Session, request: &'a ScenarioRequest) -> Self {
        Self { session, request, address: session.origin.address, instance: None }
    }

    fn cpu(&self) -> cpu::CpuUsageSnapshot {
        self.instance.map_or_else(|| self.session.origin.cpu(), TargetInstance::cpu)
    }

    /// Keeps all connections busy.
    pub(super) fn saturate(&self, scrape: Option<(SocketAddr, &str)>) -> Result<Saturation> {
        let settings = &self.session.settings;
        let exchange = self.request.exchange(self.address);
        let mut generator = Generator::new(self.address, &exchange, settings.connections)?;
        checked(generator.run_closed(WARM_UP)?)?;
        crate::pause(SETTLE);
        let (before, origin_before, own_before) = (self.cpu(), self.session.origin.cpu(), own_cpu());
        let (begun, busy_before) = (Instant::now(), machine::busy());
        if let Some((admin, path)) = scrape {
            scrape_once(admin, path)?;
        }
        let tally = match settings.generator {
            GeneratorKind::Own => generator.run_closed(settings.window()?)?,
            GeneratorKind::Wrk => {
                wrk::run(&settings.wrk, self.address, self.request, settings.connections, settings.window()?)?
            }
        };
        // Work of a target after its last response, such as writing a log, belongs to the requests too.
        crate::pause(SETTLE);
        let (after, origin_after, own_after) = (self.cpu(), self.session.origin.cpu(), own_cpu());
        let (busy, wall) = (machine::busy().saturating_sub(busy_before), begun.elapsed());
        let tally = checked(tally)?;
        let used = after.since(&before);
        let (origin_used, own_used) = (origin_after.since(&origin_before), own_after.since(&own_before));
        let foreign = busy.saturating_sub(used.total + origin_used.total + own_used.total);
        let each = |used: cpu::Used| used.total.as_secs_f64() * 1e6 / tally.requests.max(1) as f64;
        Ok(Saturation {
            rps: tally.rate(),
            cpu_us: each(used),
            user_ticks: used.user_ticks,
            system_ticks: used.system_ticks,
            origin_us: each(origin_used),
            load_us: each(own_used),
            foreign_share: foreign.as_secs_f64() / (wall.as_secs_f64() * cores()),
            p99: tally.latency(0.99).unwrap_or_default(),
        })
    }

    /// Sends at a fixed rate, with the same arrivals for every target of a round.
    pub(super) fn pace(&self, rate: f64, round: u64) -> Result<Pace> {
        let settings = &self.session.settings;
        let exchange: LoadExchange = self.request.exchange(self.address);
        let mut generator = Generator::new(self.address, &exchange, settings.connections)?;
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
        let cpu::Used { user_ticks, system_ticks, .. } = used;
        Ok(Pace { p50, p99, delay_p99, cpu_us, user_ticks, system_ticks })
    }
}

fn checked(tally: LoadStats) -> Result<LoadStats> {
    if tally.error_count() > 0 {
        bail!("{} of {} requests: {}", tally.error_count(), tally.requests, tally.error_text());
    }
    Ok(tally)
}

fn scrape_once(admin: SocketAddr, path: &str) -> Result<()> {
    let answer = probe::get(admin, path)?;
    if answer.status != 200 || answer.body.is_empty() {
        bail!("the metrics page `{path}` has status {}", answer.status);
    }
    Ok(())
}

fn cores() -> f64 {
    thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64)
}

fn own_cpu() -> cpu::CpuUsageSnapshot {
    let us = i32::try_from(std::process::id()).ok().and_then(crate::measure::tree::ProcessStat::read);
    cpu::CpuUsageSnapshot::take(us.as_slice())
}

/// Load before a window, so that pools are filled and code is in the caches.
const WARM_UP: Duration = Duration::from_millis(150);
/// Pause before CPU time is read: running threads are accounted only when they leave the CPU or at a tick.
const SETTLE: Duration = Duration::from_millis(30);
