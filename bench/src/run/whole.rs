//! The whole comparison: every selected scenario with every available target.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;

use super::session::Session;
use super::traffic::{self, Traffic, Windows};
use super::{crowd, idle, reload, start, transport};
use crate::measure::machine;
use crate::peers::{BenchTarget, GatewayKind, Setup};
use crate::report::results::Results;
use crate::scenario::{Scenario, Work};
use crate::settings::BenchSettings;

/// Options of a whole run.
#[derive(Args, Clone, Debug)]
pub struct RunOptions {
    /// Name of the results.
    #[arg(long, env = "NAME", default_value = "latest")]
    pub name: String,
    /// Rounds; the order of targets changes from round to round.
    #[arg(long, env = "ROUNDS", default_value_t = 10)]
    pub rounds: usize,
    /// Targets, separated by commas.
    #[arg(long, env = "TARGETS", value_delimiter = ',', default_value = "eddy,nginx,haproxy,envoy")]
    pub targets: Vec<String>,
    /// 1: a missing target is a failure.
    #[arg(long, env = "EDDY_REQUIRE_PEERS", default_value = "")]
    pub require_peers: String,
    /// Options of all runs.
    #[command(flatten)]
    pub settings: BenchSettings,
}

/// Runs all scenarios and returns the results.
///
/// # Errors
/// Returns an error if nothing can be measured, or a required target is missing.
pub fn run_all_scenarios(options: RunOptions) -> Result<Results> {
    let RunOptions { name, rounds, targets, require_peers, settings } = options;
    let scenarios = settings.chosen()?;
    settings.window()?;
    if rounds == 0 || settings.connections == 0 {
        bail!("nothing to measure: rounds and connections must not be 0");
    }
    let files_max = machine::raise_files_max();
    let (found, mut absent) = find(&settings, &targets);
    absent.extend(lacking(&scenarios, &found));
    if !absent.is_empty() && !matches!(require_peers.as_str(), "" | "0") {
        bail!("{}", absent.join("; "));
    }
    let reference = found.iter().find(|target| target.kind == GatewayKind::Eddy).or_else(|| found.first());
    let nothing = || format!("no target is available: {}", absent.join("; "));
    let reference = reference.with_context(nothing)?.name.clone();
    let mut session = Session::new(settings, rounds, found, files_max)?;
    for text in absent {
        session.progress.say(&format!("ABSENT {text}"));
        session.notes.push(text);
    }
    measure(&mut session, &scenarios, Windows::Both)?;
    session.progress.say("done");
    Ok(session.finish(&name, &reference))
}

/// Measures the scenarios with the targets of the session; `windows` are those of traffic scenarios.
///
/// # Errors
/// Returns an error if the harness itself fails; errors of a target are recorded as faults.
pub(super) fn measure(session: &mut Session, scenarios: &[Scenario], windows: Windows) -> Result<()> {
    for (setup, group) in groups(scenarios) {
        traffic::run(session, setup, &group, windows)?;
    }
    let transports: Vec<_> = scenarios.iter().filter_map(Scenario::transport).collect();
    if !transports.is_empty() {
        transport::run(session, &transports)?;
    }
    let crowds: Vec<_> = scenarios.iter().filter_map(Scenario::crowd).collect();
    if !crowds.is_empty() {
        crowd::run(session, &crowds)?;
    }
    for scenario in scenarios {
        match scenario.work {
            Work::Traffic { .. } | Work::Transport(_) | Work::Crowd(_) => {}
            Work::Idle(version) => idle::run(session, scenario.name, version)?,
            Work::Start => start::run(session, scenario.name)?,
            Work::Reload => reload::run(session, scenario.name)?,
        }
    }
    Ok(())
}

/// Returns the folder that results are written to.
pub fn results_folder(settings: &BenchSettings) -> PathBuf {
    settings.folder.join("results")
}

fn find(settings: &BenchSettings, names: &[String]) -> (Vec<BenchTarget>, Vec<String>) {
    let peers = settings.peers();
    let (mut found, mut absent) = (Vec::new(), Vec::new());
    for name in names.iter().filter(|name| !name.is_empty()) {
        match peers.find(name) {
            Ok(target) => found.push(target),
            Err(error) => absent.push(format!("{error:#}")),
        }
    }
    (found, absent)
}

/// Returns, for each target that the scenarios cannot be measured with, why.
pub(super) fn lacking(scenarios: &[Scenario], targets: &[BenchTarget]) -> Vec<String> {
    let setup = Setup { has_transports: true, ..Setup::default() };
    let has_transports = scenarios.iter().any(Scenario::has_transports);
    targets.iter().filter(|_| has_transports).filter_map(|target| target.lacks(setup)).collect()
}

/// Groups traffic scenarios by setup, so that targets are started once per setup.
fn groups(scenarios: &[Scenario]) -> Vec<(Setup, Vec<Traffic>)> {
    let mut groups: Vec<(Setup, Vec<Traffic>)> = Vec::new();
    for scenario in scenarios {
        let Work::Traffic { setup, request } = &scenario.work else { continue };
        let traffic = Traffic { name: scenario.name, request: request.clone() };
        match groups.iter_mut().find(|(known, _)| known == setup) {
            Some((_, group)) => group.push(traffic),
            None => groups.push((*setup, vec![traffic])),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario;

    #[test]
    fn scenarios_of_one_setup_share_a_start() {
        let groups = groups(&scenario::all());
        let names = |index: usize| -> Vec<&str> { groups[index].1.iter().map(|one| one.name).collect() };
        assert_eq!(names(0), ["get", "get-10k", "get-1m", "post-64k", "churn"]);
        assert_eq!(groups.len(), 7);
    }
}
