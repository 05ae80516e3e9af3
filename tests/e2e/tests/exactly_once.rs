//! Every request is answered exactly once, by the origin, whatever happens to the gateway meanwhile.
//!
//! With `EDDY_SOAK` each run is long: a million requests, two hundred reloads, twenty takeovers and kills.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use eddy_e2e::gateway::{Launch, TestGateway};
use eddy_e2e::journal::{JournalOrigin, JournalSummary, Load, RunningLoad};
use eddy_e2e::place::{self, TempDir};
use eddy_e2e::wait::elapse;
use eddy_e2e::wire::within;
use rustix::process::{Signal, kill_process};

const CONFIG: &str = "\
workers: 2
limits: {queue_delay: 0s}
admin: {address: ADMIN}
listeners: [{address: LISTEN, routes: site}]
routes:
  site:
    - {match: {path: {prefix: /j/}}, cluster: origin, response_headers: {set: {x-plan: 'PLAN'}}}
    - {match: {path: {prefix: /never/NUMBER}}, respond: {status: 200}}
clusters: {origin: {endpoints: [ORIGIN]}}
";

const CONNECTIONS: u32 = 32;

/// Size of a run: short for every change, long for a release.
fn size(short: u64, long: u64) -> u64 {
    if place::variable("EDDY_SOAK").is_some() { long } else { short }
}

fn config(number: u64) -> String {
    CONFIG.replace("PLAN", &number.to_string()).replace("NUMBER", &number.to_string())
}

struct ExactlyOnceRun {
    origin: JournalOrigin,
    gateway: TestGateway,
    load: RunningLoad,
}

impl ExactlyOnceRun {
    async fn start(launch: Launch) -> Result<Self> {
        let origin = JournalOrigin::start()?;
        let mut launch = launch;
        launch.substitutes.push(("ORIGIN".into(), origin.address().to_string()));
        let gateway = TestGateway::launch(&config(0), launch).await?;
        let load = Load { gateway: gateway.address(), connections: CONNECTIONS, seed: 42 }.start();
        load.until_sent(500).await?;
        Ok(Self { origin, gateway, load })
    }

    /// Stops the load, then the gateway, and compares the journals.
    async fn end(self) -> Result<JournalSummary> {
        let sent = tokio::task::spawn_blocking(|| self.load.stop()).await??;
        self.gateway.stop().await?;
        let (seen, foreign) = self.origin.seen();
        Ok(JournalSummary::join(&sent, &seen, foreign))
    }
}

#[tokio::test]
async fn nothing_is_lost_without_disturbances() -> Result<()> {
    let run = ExactlyOnceRun::start(Launch::default()).await?;
    run.load.until_sent(size(20_000, 200_000)).await?;
    let verdict = run.end().await?;
    println!("quiet: {verdict}");
    ensure!(verdict.is_exactly_once() && verdict.repeated == 0, "{verdict}");
    Ok(())
}

#[tokio::test]
async fn many_reloads_lose_nothing() -> Result<()> {
    let run = ExactlyOnceRun::start(Launch::default()).await?;
    let (reloads, requests) = (size(20, 200), size(30_000, 1_000_000));
    for number in 1..=reloads {
        let is_broken = number % 2 == 0;
        let text = if is_broken {
            config(number).replace("cluster: origin", "cluster: nowhere")
        } else {
            config(number)
        };
        let result = if is_broken { "rejected" } else { "accepted" };
        let series = format!("eddy_config_reloads_total{{result=\"{result}\"}}");
        let before = run.gateway.metric(&series).await?;
        run.gateway.write_config(&text)?;
        run.gateway.signal(Signal::HUP)?;
        within("the reload", async {
            while run.gateway.metric(&series).await? <= before {
                tokio::task::yield_now().await;
            }
            anyhow::Ok(())
        })
        .await?
        .with_context(|| format!("reload {number}"))?;
        run.load.until_sent(requests * number / reloads).await?;
    }
    let verdict = run.end().await?;
    println!("{reloads} reloads: {verdict}");
    ensure!(verdict.is_exactly_once(), "{verdict}");
    Ok(())
}

#[tokio::test]
async fn graceful_restarts_lose_nothing() -> Result<()> {
    let directory = TempDir::new("handovers")?;
    let binary = directory.join("eddy");
    place::install_eddy(&binary)?;
    let arguments = vec!["--handover-timeout".into(), "2s".into()];
    let run = ExactlyOnceRun::start(Launch { binary: Some(binary.clone()), arguments, ..Launch::default() })
        .await?;
    let (hand_overs, requests) = (size(6, 20), size(30_000, 1_000_000));
    let broken: [&[u8]; 2] = [b"#!/bin/sh\nexit 1\n", b"#!/bin/sh\nexec sleep 60\n"];
    let good = std::fs::read(place::eddy_binary()?)?;
    let (mut succeeded, mut failed) = (0, 0);
    for number in 1..=hand_overs {
        let is_broken = number % (hand_overs / 4).max(3) == 0;
        let content = if is_broken { broken[failed % 2] } else { &good };
        place::install(content, &binary)?;
        run.gateway.signal(Signal::USR2)?;
        if is_broken {
            failed += 1;
            run.gateway.lines().until("hand-over failed", failed).await?;
        } else {
            succeeded += 1;
            run.gateway.lines().until("handed over", succeeded).await?;
        }
        run.load.until_sent(requests * number / hand_overs).await?;
    }
    let verdict = run.end().await?;
    println!("{succeeded} hand-overs, {failed} failed: {verdict}");
    ensure!(verdict.is_exactly_once(), "{verdict}");
    Ok(())
}

#[tokio::test]
async fn a_killed_process_loses_its_own_exchanges_only() -> Result<()> {
    let run = ExactlyOnceRun::start(Launch::default()).await?;
    let (kills, requests) = (size(4, 20), size(20_000, 1_000_000));
    for number in 1..=kills {
        let victim = *run.gateway.children()?.first().context("no gateway process")?;
        kill_process(victim, Signal::KILL)?;
        within("a new gateway process", async {
            while run.gateway.children()?.first().is_none_or(|child| *child == victim) {
                tokio::task::yield_now().await;
            }
            anyhow::Ok(())
        })
        .await??;
        run.load.until_sent(requests * number / kills).await?;
        if kills > 5 {
            // The parent process delays the restart of a process that crashes five times in ten seconds.
            elapse(Duration::from_millis(2500), "the pace that causes no delay").await;
        }
    }
    let verdict = run.end().await?;
    println!("{kills} kills: {verdict}");
    ensure!(verdict.has_no_corruption(), "{verdict}");
    ensure!(verdict.count(eddy_e2e::journal::RequestOutcome::Refused) == 0, "refused: {verdict}");
    // Each connection has one exchange at a time, so each kill can fail one exchange per connection.
    let most = kills * u64::from(CONNECTIONS);
    ensure!(verdict.failures() <= most, "{} failures of at most {most}: {verdict}", verdict.failures());
    Ok(())
}
