//! Scripts and modules that never end, exhaust memory or return false results, repeatedly in one gateway: other
//! requests are unaffected.
//!
//! Fifty-two rounds of each; ten thousand with `EDDY_SOAK`, where a module whose instance is shared by the worker's
//! exchanges gets as many as the delays between its restarts allow.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eddy_e2e::evil::{EvilFilter, EvilSite};
use eddy_e2e::gateway::sum_of_series;
use eddy_e2e::place;
use eddy_e2e::wait::next_look;
use eddy_e2e::wire::{WireClient, WireResponse, get};

/// Measurements of one kind of fault.
#[derive(Default)]
struct FaultTimings {
    /// CPU time of the worker for a fault and the exchange beside it: the time that others wait.
    computed: Vec<Duration>,
    /// Duration of the exchange beside a fault.
    waited: Vec<Duration>,
}

/// Measurements by kind of fault.
#[derive(Default)]
struct FaultTimingsByKind(BTreeMap<String, FaultTimings>);

impl FaultTimingsByKind {
    /// Formats how long others waited.
    fn tell(&self, limit: Duration) -> Result<String> {
        let counts = || self.0.values().map(|kind| kind.computed.len());
        let mut text = format!(
            "{} faults of {} kinds, {} to {} of each, and as many other requests without a failure; CPU limit of a filter: {limit:?}\n",
            counts().sum::<usize>(),
            self.0.len(),
            counts().min().unwrap_or_default(),
            counts().max().unwrap_or_default()
        );
        let is_ended = |kind: &&FaultTimings| at(&kind.computed, 50) > limit / 2;
        let (ended, quick): (Vec<_>, Vec<_>) = self.0.values().partition(is_ended);
        for (which, kinds) in [("interrupted filters", ended), ("other filters", quick)] {
            let (computed, waited) =
                (all_of(&kinds, |kind| &kind.computed), all_of(&kinds, |kind| &kind.waited));
            writeln!(text, "{which} blocked the worker for {}", quantiles(&computed))?;
            writeln!(text, "{which} delayed other requests by {}", quantiles(&waited))?;
        }
        Ok(text)
    }

    /// Checks that others waited no longer than the limit allows.
    fn judge(&self, limit: Duration) -> Result<()> {
        for (told, kind) in &self.0 {
            // Modules are interrupted by a thread, which needs a CPU as well. When that thread has to wait for a CPU
            // each time, the fastest quarter of the values shows the time that eddy itself needs.
            let (usual, most) = (at(&kind.computed, 25), at(&kind.computed, 100));
            ensure!(usual <= limit + LATE_MAX, "{told}: others waited for {usual:?}");
            ensure!(most <= limit + SLOW_MAX, "{told}: others waited for {most:?}");
        }
        Ok(())
    }
}

fn all_of(kinds: &[&FaultTimings], which: impl Fn(&FaultTimings) -> &Vec<Duration>) -> Vec<Duration> {
    kinds.iter().flat_map(|kind| which(kind).iter().copied()).collect()
}

fn quantiles(all: &[Duration]) -> String {
    let [half, most, nearly, longest] = [50, 90, 99, 100].map(|percent| at(all, percent));
    format!("{half:.1?} in the median, {most:.1?} in 90 of 100, {nearly:.1?} in 99, {longest:.1?} at most")
}

/// Returns the value that `percent` percent of the durations do not exceed.
fn at(all: &[Duration], percent: usize) -> Duration {
    let mut sorted = all.to_vec();
    sorted.sort_unstable();
    let last = sorted.len().saturating_sub(1);
    sorted.get(last * percent / 100).copied().unwrap_or_default()
}

/// A gateway with filters that fail.
struct FaultRun {
    site: EvilSite,
    evil: WireClient,
    other: WireClient,
    /// Scheduler statistics of the worker's thread.
    worker: PathBuf,
}

impl FaultRun {
    async fn start(cpu_ms: u32) -> Result<Self> {
        let site = EvilSite::start(cpu_ms).await?;
        let (evil, other) = (site.gateway.client().await?, site.gateway.client().await?);
        let worker = worker_of(&site)?;
        Ok(Self { site, evil, other, worker })
    }

    /// Sends a request under the path of a filter, on a connection that is reused while it is open.
    async fn ask(&mut self, name: &str, fields: &str) -> Result<()> {
        if self.evil.ended().is_some() {
            self.evil = self.site.gateway.client().await?;
        }
        self.evil.send(get(&format!("/{name}/"), fields)).await
    }

    async fn answer(&mut self) -> Result<WireResponse> {
        let answer = self.evil.read_get_response().await?;
        if answer.fields.text("connection") == "close" {
            self.evil = self.site.gateway.client().await?;
        }
        Ok(answer)
    }

    /// Whether a filter has an instance that can fail.
    async fn is_ready(&mut self, filter: &EvilFilter) -> Result<bool> {
        if !filter.is_awaited {
            return Ok(true);
        }
        self.ask(&filter.name, "").await?;
        Ok(self.answer().await?.status == 200)
    }

    /// Triggers one fault, and sends another exchange before the fault is over.
    async fn fail(&mut self, filter: &EvilFilter, tally: &mut FaultTimingsByKind) -> Result<()> {
        let before = self.computed()?;
        self.ask(&filter.name, "X-Evil: 1\r\n").await?;
        let since = Instant::now();
        self.other.send(get("/free/", "")).await?;
        let other = self.other.read_get_response().await?;
        let waited = since.elapsed();
        let evil = self.answer().await?;
        ensure!(evil.status == filter.status, "{evil:?}");
        ensure!(other.status == 200 && other.body == b"ok", "another exchange: {other:?}");
        ensure!(
            other.fields.text("x-script") == "ok" && other.fields.text("x-module") == "ok",
            "filters of another exchange: {other:?}"
        );
        let kind = tally.0.entry(filter.told.clone()).or_default();
        kind.computed.push(self.computed()?.saturating_sub(before));
        kind.waited.push(waited);
        Ok(())
    }

    /// Runs this many rounds of every filter. A filter whose instance is still restarting is skipped until it is ready.
    /// Without `awaits`, the run does not wait for such filters at its end.
    async fn repeat(&mut self, rounds: u32, awaits: bool, tally: &mut FaultTimingsByKind) -> Result<()> {
        let filters = self.site.filters.clone();
        let mut left: Vec<(EvilFilter, u32)> = filters.into_iter().map(|filter| (filter, rounds)).collect();
        while left.iter().any(|(filter, left)| *left > 0 && (awaits || !filter.is_awaited)) {
            let mut has_failed = false;
            for (filter, left) in left.iter_mut().filter(|(_, left)| *left > 0) {
                if self.is_ready(filter).await? {
                    self.fail(filter, tally).await.with_context(|| filter.told.clone())?;
                    *left -= 1;
                    has_failed = true;
                }
            }
            if !has_failed {
                next_look().await;
            }
        }
        Ok(())
    }

    /// Returns the CPU time of the worker so far.
    fn computed(&self) -> Result<Duration> {
        let text = std::fs::read_to_string(&self.worker)?;
        let nanos = text.split(' ').next().context("no time")?.parse()?;
        Ok(Duration::from_nanos(nanos))
    }
}

/// Returns the path of the scheduler statistics of the gateway's only worker.
fn worker_of(site: &EvilSite) -> Result<PathBuf> {
    let children = site.gateway.children()?;
    let child = children.first().context("no gateway process")?.as_raw_nonzero();
    for thread in std::fs::read_dir(format!("/proc/{child}/task"))? {
        let thread = thread?.path();
        if std::fs::read_to_string(thread.join("comm"))?.trim() == "eddy-worker-0" {
            return Ok(thread.join("schedstat"));
        }
    }
    anyhow::bail!("no worker")
}

#[tokio::test]
async fn repeated_filter_failures_affect_no_other_exchange() -> Result<()> {
    let is_long = place::variable("EDDY_SOAK").is_some();
    // The delay before a failing instance restarts grows: thirteen restarts take about a second, the next thirteen a
    // second each. The short run therefore uses new gateways.
    let (gateways, rounds, cpu_ms) = if is_long { (1, 10_000, 2) } else { (4, 13, 10) };
    let mut tally = FaultTimingsByKind::default();
    for _ in 0..gateways {
        let mut run = FaultRun::start(cpu_ms).await?;
        let before = run.site.gateway.children()?;
        run.repeat(rounds, !is_long, &mut tally).await?;
        ensure!(run.site.gateway.children()? == before, "the gateway process was replaced");
        let metrics = run.site.gateway.admin("/metrics").await?.text();
        for filter in run.site.filters.iter().filter(|filter| filter.status == 500 && !filter.is_awaited) {
            let of = |kind: &str| {
                let series =
                    format!("eddy_filter_faults_total{{filter=\"{}\",kind=\"{kind}\"}}", filter.name);
                sum_of_series(&metrics, &series)
            };
            let counted: f64 = ["fault", "memory", "cpu"].map(of).iter().sum();
            ensure!((counted - f64::from(rounds)).abs() < 0.5, "{}: {counted} faults counted", filter.told);
        }
        run.site.gateway.stop().await?;
    }
    let limit = Duration::from_millis(u64::from(cpu_ms));
    println!("{}", tally.tell(limit)?);
    tally.judge(limit)
}

/// Maximum delay of an interruption after the time limit.
const LATE_MAX: Duration = Duration::from_millis(5);
/// Maximum delay of a single interruption, when the machine was busy with other work.
const SLOW_MAX: Duration = Duration::from_millis(150);
