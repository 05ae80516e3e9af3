//! Three times more requests than the capacity: as many are served in time as at the peak.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::origin::TapOrigin;
use eddy_e2e::wait::elapse;
use eddy_e2e::wire::{ClientEvent, WireClient};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_setaffinity};
use tokio::task::JoinSet;

const CONFIG: &str = "\
workers: 2
drain_timeout: 1s
admin: {address: ADMIN}
listeners: [{address: LISTEN, routes: site, filters: FILTERS}]
filters:
  work:
    lua: {source: 'function envoy_on_request() for number = 1, 300000 do end end'}
routes: {site: [{cluster: origin}]}
clusters: {origin: {endpoints: [ORIGIN]}}
";
const GET: &[u8] = b"GET /load HTTP/1.1\r\nHost: a\r\n\r\n";
/// Number of peak measurements of the gateway and of its twin, in turn, before and after the load.
const PEAK_WINDOWS: u32 = 8;
const PEAK_WINDOW: Duration = Duration::from_secs(1);
/// Connections of a peak measurement.
const CONNECTIONS: usize = 32;
const LOAD_TIME: Duration = Duration::from_secs(20);
/// Maximum number of requests in flight; a further user gives up.
const IN_FLIGHT_MAX: usize = 4000;
/// Longest useful response time; a later response does not count.
const USEFUL: Duration = Duration::from_secs(1);

/// Cause of the low capacity, which allows one core to generate three times as many requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scarce {
    /// A filter uses some tenths of a millisecond on each request.
    Costly,
    /// The gateway may use 4 % of its core, in slices that are far apart.
    Throttled,
}

/// CPU share that a gateway's processes may use, so that the load need not fill the machine.
struct Quota {
    folder: PathBuf,
}

impl Quota {
    fn on(gateway: &TestGateway, percent: u32) -> Result<Self> {
        let name = format!("eddy-e2e-{}", gateway.pid().as_raw_nonzero());
        let first = PathBuf::from("/sys/fs/cgroup/cpu").join(&name);
        let folder = if first.parent().is_some_and(|parent| parent.is_dir()) {
            first
        } else {
            PathBuf::from("/sys/fs/cgroup").join(&name)
        };
        std::fs::create_dir_all(&folder).context("this run needs a cgroup of its own")?;
        let quota = Self { folder };
        let (period, share) = (50_000, 500 * percent);
        if quota.folder.join("cpu.cfs_quota_us").exists() {
            quota.write("cpu.cfs_period_us", &period.to_string())?;
            quota.write("cpu.cfs_quota_us", &share.to_string())?;
        } else {
            quota.write("cpu.max", &format!("{share} {period}"))?;
        }
        for pid in gateway.children()?.into_iter().chain([gateway.pid()]) {
            quota.write("cgroup.procs", &pid.as_raw_nonzero().to_string())?;
        }
        Ok(quota)
    }

    fn write(&self, file: &str, text: &str) -> Result<()> {
        std::fs::write(self.folder.join(file), text).with_context(|| format!("{file} of the cgroup"))
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // The cgroup can be removed after the last process of the gateway has ended.
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// A gateway on the first core. The load generator uses the other core, so that it does not take CPU time from the
/// gateway.
struct Limited {
    gateway: TestGateway,
    quota: Option<Quota>,
}

impl Limited {
    async fn start(scarce: Scarce, origin: SocketAddr) -> Result<Self> {
        let filters = if scarce == Scarce::Costly { "[work]" } else { "[]" };
        let gateway = TestGateway::start(CONFIG, &[("ORIGIN", &origin), ("FILTERS", &filters)]).await?;
        let quota = if scarce == Scarce::Throttled { Some(Quota::on(&gateway, 4)?) } else { None };
        for pid in gateway.children()?.into_iter().chain([gateway.pid()]) {
            move_threads(&format!("/proc/{}/task", pid.as_raw_nonzero()), 0)?;
        }
        closed_loop(gateway.address(), CONNECTIONS, PEAK_WINDOW).await?;
        Ok(Self { gateway, quota })
    }

    async fn stop(self) -> Result<()> {
        self.gateway.stop().await?;
        drop(self.quota);
        Ok(())
    }
}

/// Returns the served requests per second of two gateways, measured in turn.
async fn peaks(gateways: [SocketAddr; 2]) -> Result<[f64; 2]> {
    let mut sums = [0.0; 2];
    for _ in 0..PEAK_WINDOWS {
        for (gateway, sum) in gateways.into_iter().zip(&mut sums) {
            *sum += closed_loop(gateway, CONNECTIONS, PEAK_WINDOW).await?;
        }
    }
    Ok(sums.map(|sum| sum / f64::from(PEAK_WINDOWS)))
}

fn move_threads(folder: &str, core: usize) -> Result<()> {
    let mut cores = CpuSet::new();
    cores.set(core);
    for thread in std::fs::read_dir(folder)? {
        let number = thread?.file_name().to_string_lossy().parse()?;
        sched_setaffinity(Pid::from_raw(number), &cores).context("this run needs two cores")?;
    }
    Ok(())
}

/// Behaviour of a user when no response arrives in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    /// Keeps waiting.
    Patient,
    /// Closes the connection and opens another.
    Hasty,
}

#[derive(Default)]
struct OverloadCounts {
    served: AtomicU64,
    late: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
    slowest_refusal_ms: AtomicU64,
}

impl OverloadCounts {
    fn count(&self, next: &ClientEvent, took: Duration) {
        match next {
            ClientEvent::Answer(answer) if answer.response.status == 200 && took <= USEFUL => &self.served,
            ClientEvent::Answer(answer) if answer.response.status == 200 => &self.late,
            ClientEvent::Answer(_) => {
                let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
                self.slowest_refusal_ms.fetch_max(millis, Relaxed);
                &self.refused
            }
            ClientEvent::Ended { .. } | ClientEvent::Bad(_) => &self.failed,
        }
        .fetch_add(1, Relaxed);
    }
}

/// Returns the served requests per second when each connection sends its next request after the previous response.
async fn closed_loop(gateway: SocketAddr, connections: usize, time: Duration) -> Result<f64> {
    let tally = Arc::new(OverloadCounts::default());
    let until = Instant::now() + time;
    let mut lanes = JoinSet::new();
    for _ in 0..connections {
        let tally = Arc::clone(&tally);
        lanes.spawn(async move {
            let mut client = WireClient::connect(gateway).await?;
            while Instant::now() < until {
                let since = Instant::now();
                client.send(GET).await?;
                let next = client.next("GET").await;
                tally.count(&next, since.elapsed());
                if !matches!(&next, ClientEvent::Answer(answer) if answer.response.is_keep_alive()) {
                    client = WireClient::connect(gateway).await?;
                }
            }
            anyhow::Ok(())
        });
    }
    while let Some(lane) = lanes.join_next().await {
        lane??;
    }
    Ok(tally.served.load(Relaxed) as f64 / time.as_secs_f64())
}

/// Sends `rate` requests per second regardless of their results, each on an idle connection or a new one.
async fn open_loop(
    gateway: SocketAddr,
    rate: f64,
    time: Duration,
    user: User,
) -> Result<Arc<OverloadCounts>> {
    let tally = Arc::new(OverloadCounts::default());
    let (idle, idle_again) = tokio::sync::mpsc::unbounded_channel::<WireClient>();
    let mut idle_again = idle_again;
    let since = Instant::now();
    let gap = Duration::from_secs_f64(1.0 / rate);
    let (mut scheduled, mut tasks) = (since, JoinSet::new());
    while since.elapsed() < time {
        while scheduled <= Instant::now() {
            scheduled += gap;
            if tasks.len() >= IN_FLIGHT_MAX {
                tally.failed.fetch_add(1, Relaxed);
                continue;
            }
            let (tally, idle, ready) = (Arc::clone(&tally), idle.clone(), idle_again.try_recv().ok());
            tasks.spawn(async move {
                let client = match ready {
                    Some(client) => Ok(client),
                    None => WireClient::connect(gateway).await,
                };
                let Ok(mut client) = client else {
                    tally.failed.fetch_add(1, Relaxed);
                    return;
                };
                // A connection that was closed while idle fails on reading, and is counted there.
                let _ = client.send(GET).await;
                let patience = if user == User::Hasty { USEFUL } else { LOAD_TIME };
                let Ok(next) = tokio::time::timeout(patience, client.next("GET")).await else {
                    tally.late.fetch_add(1, Relaxed);
                    return;
                };
                tally.count(&next, scheduled.elapsed());
                if matches!(&next, ClientEvent::Answer(answer) if answer.response.is_keep_alive()) {
                    // At the end of the run the receiver is gone.
                    let _ = idle.send(client);
                }
            });
        }
        while tasks.try_join_next().is_some() {}
        elapse(Duration::from_millis(1), "the pace of the load").await;
    }
    // Requests that are still in flight are too late to count.
    tasks.abort_all();
    Ok(tally)
}

#[tokio::test]
#[ignore = "takes a minute and a machine that is otherwise idle: make soak"]
async fn overload_costs_no_goodput() -> Result<()> {
    overload(Scarce::Costly, User::Patient, 0.9).await
}

/// Each abandoned connection is closed and followed by a new one.
#[tokio::test]
#[ignore = "takes a minute and a machine that is otherwise idle: make soak"]
async fn clients_that_time_out_cost_no_goodput() -> Result<()> {
    overload(Scarce::Costly, User::Hasty, 0.9).await
}

/// Here a request costs the gateway little more than detecting its arrival.
#[tokio::test]
#[ignore = "takes a minute and a machine that is otherwise idle: make soak"]
async fn overload_of_a_throttled_gateway_costs_some_goodput() -> Result<()> {
    overload(Scarce::Throttled, User::Patient, 0.5).await
}

/// Here a new connection costs as much as a request.
#[tokio::test]
#[ignore = "takes a minute and a machine that is otherwise idle: make soak"]
async fn clients_that_time_out_at_a_throttled_gateway_cost_more_goodput_but_not_all() -> Result<()> {
    overload(Scarce::Throttled, User::Hasty, 0.5).await
}

async fn overload(scarce: Scarce, user: User, share_min: f64) -> Result<()> {
    let (address, _log) = TapOrigin::on_thread()?;
    let site = Limited::start(scarce, address).await?;
    let twin = Limited::start(scarce, address).await?;
    move_threads("/proc/self/task", 1)?;
    let (gateway, twin_address) = (site.gateway.address(), twin.gateway.address());
    let [before, twin_before] = peaks([gateway, twin_address]).await?;
    let admin = tokio::spawn(slowest_admin_response(site.gateway.admin_address(), LOAD_TIME));
    let tally = open_loop(gateway, before * 3.0, LOAD_TIME, user).await?;
    let goodput = tally.served.load(Relaxed) as f64 / LOAD_TIME.as_secs_f64();
    let slowest_admin = admin.await??;
    let rest = until_load_is_gone(&site.gateway).await?;
    let [after, twin_after] = peaks([gateway, twin_address]).await?;
    // The cost of a request varies with the other load of the machine: the mean of the measurements around the load is
    // fair, and the twin, which had no load, shows what the peak would be without it.
    let peak = f64::midpoint(before, after);
    let recovered = (after / before) / (twin_after / twin_before);
    #[expect(clippy::print_stdout, reason = "the figures are what the run is for")]
    {
        println!(
            "{scarce:?}, {user:?}: peak {before:.0}/s; at three times that {goodput:.0}/s served, {} late, {} refused (slowest {} ms), \
         {} failed; admin at most {slowest_admin:?}; afterwards {after:.0}/s, the twin {twin_before:.0}/s and {twin_after:.0}/s: \
         {:.0} % recovered {rest:.0?} after the load; {:.0} % kept",
            tally.late.load(Relaxed),
            tally.refused.load(Relaxed),
            tally.slowest_refusal_ms.load(Relaxed),
            tally.failed.load(Relaxed),
            recovered * 100.0,
            goodput / peak * 100.0,
        );
    }
    ensure!(goodput >= peak * share_min, "goodput {goodput:.0}/s of {peak:.0}/s");
    // Two gateways with 2 ms each differ by themselves.
    let recovered_min = if scarce == Scarce::Throttled { 0.75 } else { 0.9 };
    ensure!(
        recovered >= recovered_min,
        "afterwards {after:.0}/s of {before:.0}/s, its twin {twin_after:.0}/s of {twin_before:.0}/s"
    );
    ensure!(slowest_admin < Duration::from_secs(2), "admin took {slowest_admin:?}");
    site.stop().await?;
    twin.stop().await
}

/// Waits until the connections that users have abandoned are closed, at least two seconds. Returns the duration.
///
/// Detecting an abandoned connection costs as much as a request: 4,000 of them take seconds in a gateway that may use 4
/// % of its core.
async fn until_load_is_gone(gateway: &TestGateway) -> Result<Duration> {
    let since = Instant::now();
    loop {
        elapse(Duration::from_secs(2), "each look costs the throttled gateway as much as a request").await;
        if gateway.metric("eddy_connections").await? == 0.0 {
            return Ok(since.elapsed());
        }
        ensure!(
            since.elapsed() < LOAD_TIME,
            "connections of the load are open {:?} after it",
            since.elapsed()
        );
    }
}

async fn slowest_admin_response(admin: SocketAddr, time: Duration) -> Result<Duration> {
    let until = Instant::now() + time;
    let mut slowest = Duration::ZERO;
    while Instant::now() < until {
        let since = Instant::now();
        let raw = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let answer = WireClient::connect(admin).await?.exchange(raw).await?;
        ensure!(answer.status == 200, "{answer:?}");
        slowest = slowest.max(since.elapsed());
        elapse(Duration::from_millis(100), "the pace of the admin requests").await;
    }
    Ok(slowest)
}
