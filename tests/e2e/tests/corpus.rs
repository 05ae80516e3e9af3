//! The framing corpus through the real binary: every case, every cut, every parser.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use eddy_e2e::corpus::{Expect, FramingCase, FramingCaseKind, eddy_case_files, read_cases};
use eddy_e2e::differential::Panel;
use eddy_e2e::drive::{
    Cuts, Exceptions, LANES, OriginLane, RequestCasePlan, RequestDriver, ResponseDriver, judge_requests,
    lanes_config,
};
use eddy_e2e::gateway::TestGateway;
use eddy_e2e::origin::TapOrigin;
use eddy_e2e::place;
use eddy_e2e::site::QUICK_START;

fn corpus() -> PathBuf {
    place::tree().join("tests/corpus")
}

/// Returns eddy's own cases and those of the folders in `EDDY_CORPUS`, with the exceptions applied.
fn cases(kind: FramingCaseKind) -> Result<Vec<FramingCase>> {
    let mut cases = read_cases(&corpus())?;
    for folder in
        place::variable("EDDY_CORPUS").unwrap_or_default().split(':').filter(|folder| !folder.is_empty())
    {
        let more = read_cases(folder.as_ref())?;
        let with_host: Vec<FramingCase> = more.iter().filter_map(FramingCase::with_host).collect();
        cases.extend(more.into_iter().chain(with_host));
    }
    Exceptions::read(&corpus().join("exceptions.txt"))?.apply(&mut cases);
    cases.retain(|case| case.kind == kind);
    if let Some(word) = place::variable("EDDY_CASES") {
        cases.retain(|case| case.name().contains(&word));
    }
    Ok(cases)
}

#[test]
fn the_corpus_files_are_up_to_date() -> Result<()> {
    for shelf in eddy_case_files() {
        let path = corpus().join(shelf.name).with_extension("jsonl");
        let file = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        ensure!(
            file == shelf.to_lines()?,
            "{} is stale: run `cargo run --bin eddy-corpus tests/corpus`",
            path.display()
        );
    }
    Ok(())
}

#[test]
fn a_strict_reader_agrees_with_the_expectations() -> Result<()> {
    for shelf in eddy_case_files() {
        for case in shelf.cases.iter().filter(|case| case.kind == FramingCaseKind::Request) {
            let plan = RequestCasePlan::of(case);
            let is_whole = !plan.is_invalid && !plan.is_cut;
            ensure!(case.expect != Expect::Accept || is_whole, "{}: accepted, yet not whole", case.name());
            ensure!(!case.why.is_empty(), "{}: no reason", case.name());
            ensure!(plan.messages.len() >= case.before, "{}: {} before", case.name(), plan.messages.len());
        }
    }
    Ok(())
}

#[tokio::test]
async fn all_parsers_read_requests_alike() -> Result<()> {
    let mut panel = Panel::start().await?;
    println!("{}", panel.describe());
    let (address, log) = TapOrigin::on_thread()?;
    // A busy machine must not make the gateway shed requests.
    let config = format!("{QUICK_START}limits: {{queue_delay: 0s}}\n");
    // The other parsers support HTTP/1 only, and reject the beginning of an HTTP/2 connection.
    let config = config.replacen("routes: site}", "routes: site, http2: {cleartext: false}}", 1);
    // Upgrades are off: after an upgrade request some parsers read no further requests, and eddy forwards none before
    // the upgrade is answered. The tests of tunnels cover that.
    let config = config.replacen("cluster: origin}", "cluster: origin, upgrades: []}", 1);
    let gateway = TestGateway::start(&config, &[("ORIGIN", &address)]).await?;
    let driver = Arc::new(RequestDriver::new(gateway.address(), cases(FramingCaseKind::Request)?, Cuts::All));
    let attempts = match driver.run().await {
        Ok(attempts) => attempts,
        Err(error) => {
            // The gateway's output is the best hint at the cause.
            let metrics = gateway.admin("/metrics").await?.text();
            return Err(error.context(format!("{}\n{metrics}", gateway.lines().text())));
        }
    };
    let counted = gateway.metric("eddy_cluster_responses_total").await?;
    gateway.stop().await?;
    let report = judge_requests(&driver, &attempts, log.take(), &mut panel).await?;
    println!("{report}");
    println!("{} opinions of absent parsers are not recorded", panel.unrecorded());
    let is_own = place::variable("EDDY_CORPUS").is_none() && place::variable("EDDY_CASES").is_none();
    // Where a body was cut depends on timing; nearly all byte strings are the same in each run.
    ensure!(!is_own || panel.unrecorded() * 5 <= panel.judged(), "the record is stale: run with `UPDATE=1`");
    if place::variable("UPDATE").is_some() {
        panel.record()?;
    }
    // (b) The gateway counts the messages that reach the origin.
    ensure!(counted == report.forwarded as f64, "{counted} counted of {} forwarded", report.forwarded);
    ensure!(report.findings.is_empty(), "{} cases with divergences", report.findings.cases());
    Ok(())
}

#[tokio::test]
async fn responses_arrive_as_sent_or_not_at_all() -> Result<()> {
    let mut lanes = Vec::new();
    for number in 0..LANES {
        lanes.push(OriginLane::start(number).await?);
    }
    let gateway = TestGateway::start(&lanes_config(&lanes), &[]).await?;
    let report = ResponseDriver::new(cases(FramingCaseKind::Response)?, Cuts::All)
        .run(gateway.address(), lanes)
        .await?;
    gateway.stop().await?;
    println!("{report}");
    ensure!(report.findings.is_empty(), "{} cases with divergences", report.findings.cases());
    Ok(())
}
