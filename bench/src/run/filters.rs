//! Measurement of filter costs: every target is one process with a bare listener and a listener per scenario, and the
//! load alternates between the two of a pair.

use anyhow::{Result, bail};
use clap::Args;

use super::pairs;
use super::semantics;
use super::session::Session;
use crate::filters::{FilterLanguage, FilterScenario, FilterTarget, TARGETS};
use crate::measure::machine;
use crate::peers::{GatewayKind, TargetInstance};
use crate::report::results::Results;
use crate::settings::BenchSettings;

/// Options of a filter run.
#[derive(Args, Clone, Debug)]
#[command(mut_arg("seconds", |seconds| seconds.default_value("1")))]
pub struct FilterOptions {
    /// Name of the results.
    #[arg(long, env = "NAME", default_value = "filters")]
    pub name: String,
    /// Pairs of windows at saturation; the order of targets and within a pair changes from round to round.
    #[arg(long, env = "ROUNDS", default_value_t = 30)]
    pub rounds: usize,
    /// Targets, separated by commas; all by default.
    #[arg(long, env = "TARGETS", value_delimiter = ',')]
    pub targets: Vec<String>,
    /// Fixed rates in requests per second at which latency is measured too.
    #[arg(long, env = "RATES", value_delimiter = ',', default_value = "100,1000")]
    pub rates: Vec<String>,
    /// Pairs of windows at each of these rates.
    #[arg(long, env = "RATE_ROUNDS", default_value_t = 12)]
    pub rate_rounds: usize,
    /// 1: a missing target is a failure.
    #[arg(long, env = "EDDY_REQUIRE_PEERS", default_value = "")]
    pub require_peers: String,
    /// Options of all runs.
    #[command(flatten)]
    pub settings: BenchSettings,
}

/// A running target.
#[derive(Debug)]
struct RunningTarget {
    target: FilterTarget,
    instance: TargetInstance,
}

/// Measures every scenario of every target and returns the results.
///
/// # Errors
/// Returns an error if nothing can be measured, or a required target is missing.
pub fn run_filters(options: FilterOptions) -> Result<Results> {
    let FilterOptions { name, rounds, targets, rates, rate_rounds, require_peers, settings } = options;
    let scenarios = FilterScenario::named(&settings.scenarios)?;
    let chosen = chosen(&targets)?;
    let rates = parse_rates(&rates)?;
    settings.window()?;
    if rounds == 0 || settings.connections == 0 {
        bail!("nothing to measure: rounds and connections must not be 0");
    }
    let files_max = machine::raise_files_max();
    let (peers, libraries) = (settings.peers(), settings.libraries());
    let (mut found, mut absent) = (Vec::new(), Vec::new());
    for target in chosen {
        match libraries.complete(target, &peers) {
            Ok(complete) => found.push((target, complete)),
            Err(error) => absent.push(format!("{error:#}")),
        }
    }
    if !absent.is_empty() && !matches!(require_peers.as_str(), "" | "0") {
        bail!("{}", absent.join("; "));
    }
    if found.is_empty() {
        bail!("no target is available: {}", absent.join("; "));
    }
    let facts = found.iter().map(|(_, complete)| complete.clone()).collect();
    let mut session = Session::new(settings, rounds, facts, files_max)?;
    session.site.templates.push("filters");
    for text in absent {
        session.progress.say(&format!("ABSENT {text}"));
        session.notes.push(text);
    }
    let mut running = Vec::new();
    for (target, complete) in found {
        session.progress.step(&format!("starting {}", target.name));
        match TargetInstance::start(&complete, target.setup(), &mut session.site) {
            Ok(instance) => running.push(RunningTarget { target, instance }),
            Err(error) => session.add_fault(&format!("{}: {error:#}", target.name)),
        }
    }
    for note in running.iter().filter_map(|one| caveat(one.target)) {
        if !session.notes.iter().any(|known| known == note) {
            session.notes.push(note.to_owned());
        }
    }
    for scenario in &scenarios {
        run_scenario(&mut session, scenario, &running, &rates, rate_rounds);
    }
    for RunningTarget { target, instance } in running {
        session.stop(target.setup(), instance);
    }
    session.progress.say("done");
    Ok(session.finish(&name, ""))
}

fn run_scenario(
    session: &mut Session,
    scenario: &FilterScenario,
    running: &[RunningTarget],
    rates: &[f64],
    rate_rounds: usize,
) {
    let mut healthy = Vec::new();
    for one in running.iter().filter(|one| one.target.has(scenario)) {
        match semantics::check(&one.instance, scenario) {
            Ok(()) => healthy.push(&one.instance),
            Err(error) => session.add_fault(&format!("not measured: {error:#}")),
        }
    }
    for round in 0..session.rounds {
        let order = Session::order(round, healthy.len());
        let mut texts: Vec<String> = Vec::new();
        for instance in order.into_iter().filter_map(|index| healthy.get(index)) {
            texts.push(pairs::saturate(session, instance, scenario, round));
        }
        texts.sort();
        let text = format!("{} {}/{}: {}", scenario.name, round + 1, session.rounds, texts.join(", "));
        session.progress.step(&text);
    }
    for &rate in rates.iter().filter(|_| scenario.is_paced) {
        for round in 0..rate_rounds {
            session.progress.step(&format!("{} at {rate}/s {}/{rate_rounds}", scenario.name, round + 1));
            let order = Session::order(round, healthy.len());
            for instance in order.into_iter().filter_map(|index| healthy.get(index)) {
                pairs::pace(session, instance, scenario, round, rate);
            }
        }
    }
}

/// Returns the targets of these names, in the order of tables; all of them if `names` is empty.
fn chosen(names: &[String]) -> Result<Vec<FilterTarget>> {
    let names: Vec<&String> = names.iter().filter(|name| !name.is_empty()).collect();
    for name in &names {
        FilterTarget::named(name)?;
    }
    let is_wanted =
        |target: &&FilterTarget| names.is_empty() || names.iter().any(|name| *name == target.name);
    Ok(TARGETS.iter().filter(is_wanted).copied().collect())
}

fn parse_rates(texts: &[String]) -> Result<Vec<f64>> {
    let mut rates = Vec::new();
    for text in texts.iter().map(|text| text.trim()).filter(|text| !text.is_empty()) {
        match text.parse() {
            Ok(rate) if (1.0..=1e6).contains(&rate) => rates.push(rate),
            _ => bail!("`{text}` is not a rate: use 1 to 1000000 requests per second"),
        }
    }
    Ok(rates)
}

/// Returns a note about a target that readers of its figures need.
fn caveat(target: FilterTarget) -> Option<&'static str> {
    match (target.kind, target.tongue) {
        (GatewayKind::Envoy, FilterLanguage::Go) => Some(
            "`envoy-go`: its Go SDK is of 23 April 2026, older than the Envoy that runs it; Envoy accepts it",
        ),
        (GatewayKind::Eddy, FilterLanguage::Wasm | FilterLanguage::WasmGo) => Some(
            "responses behind a Wasm module leave eddy chunked, because a module that reads bodies might \
             change them",
        ),
        (GatewayKind::Eddy, FilterLanguage::GoEnvoy) => Some(
            "responses of `body-10k` behind a filter for Envoy's Go API leave eddy chunked, because the \
             filter might change them",
        ),
        (GatewayKind::Envoy, FilterLanguage::Builtin) => Some(
            "`envoy-builtin`: basic authentication compares a SHA-1 of the password, the only format that \
             Envoy supports",
        ),
        (GatewayKind::Nginx, FilterLanguage::Builtin) => {
            Some("`nginx-builtin`: nginx opens and reads its password file for every request")
        }
        (GatewayKind::Nginx, FilterLanguage::Lua) => Some(
            "`nginx-lua`: the functions of a chain are called from one hook per phase, because nginx has \
                  one",
        ),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_chosen_by_name_in_the_order_of_tables() {
        let names = ["nginx-lua".to_owned(), "eddy".to_owned()];
        let found: Vec<&str> = chosen(&names).unwrap().iter().map(|target| target.name).collect();
        assert_eq!(found, ["eddy", "nginx-lua"]);
        assert_eq!(chosen(&[]).unwrap().len(), TARGETS.len());
        assert!(chosen(&["apache".to_owned()]).is_err());
    }

    #[test]
    fn rates_are_read() {
        let read = |text: &str| parse_rates(&[text.to_owned()]);
        assert_eq!(read(" 100").unwrap(), [100.0]);
        assert!(read("").unwrap().is_empty());
        assert!(read("0").is_err() && read("fast").is_err());
    }
}
