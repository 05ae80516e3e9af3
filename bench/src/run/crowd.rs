//! Many connections that are all busy, on an idle machine or beside other work.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use super::check::check;
use super::session::Session;
use crate::load::{Generator, LoadStats, ScenarioRequest};
use crate::peers::{ProcessTree, Setup, TargetInstance};
use crate::scenario::Crowd;

/// Measures each scenario, with all targets running.
pub(super) fn run(session: &mut Session, scenarios: &[(&'static str, Crowd)]) -> Result<()> {
    let setup = Setup::default();
    session.progress.step("starting targets for many busy connections");
    let instances = session.start_all(setup);
    let request = ScenarioRequest::Get { prefix: String::new(), bytes: RESPONSE_BYTES };
    let mut healthy = Vec::new();
    for instance in &instances {
        match check(instance, &request, "crowd") {
            Ok(()) => healthy.push(instance),
            Err(error) => session.add_fault(&format!("{error:#}")),
        }
    }
    for (name, crowd) in scenarios {
        let needed = crowd.connections as u64 * FILES_PER_CONNECTION;
        if session.site.files_max < needed {
            let text = format!("`{name}` needs {needed} open files; the limit is {}", session.site.files_max);
            session.progress.say(&format!("ABSENT {text}"));
            session.notes.push(text);
            continue;
        }
        let _neighbours = CompetingPrograms::start(crowd.competing_programs)?;
        for round in 0..session.rounds {
            for index in Session::order(round, healthy.len()) {
                let instance = healthy[index];
                session.progress.step(&format!(
                    "{name} {}/{}: {}",
                    round + 1,
                    session.rounds,
                    instance.target.name
                ));
                let outcome = saturate(session, &request, instance, crowd.connections);
                record(session, name, &instance.target.name, outcome);
            }
        }
    }
    session.stop_all(setup, instances);
    Ok(())
}

/// Keeps all connections busy for a window, after each of them has been served.
fn saturate(
    session: &Session,
    request: &ScenarioRequest,
    instance: &TargetInstance,
    connections: usize,
) -> Result<LoadStats> {
    let exchange = request.exchange(instance.address);
    let mut generator = Generator::new(instance.address, &exchange, connections)?;
    generator.run_closed(WARM_UP)?;
    generator.run_closed(session.settings.window()?)
}

fn record(session: &mut Session, scenario: &str, target: &str, outcome: Result<LoadStats>) {
    let tally = match outcome {
        Ok(tally) => Some(tally),
        Err(error) => {
            session.add_fault(&format!("{scenario}, {target}: {error:#}"));
            None
        }
    };
    if let Some(tally) = tally.as_ref().filter(|tally| tally.error_count() > 0) {
        let text = format!("{} of {} requests: {}", tally.error_count(), tally.requests, tally.error_text());
        session.add_fault(&format!("{scenario}, {target}: {text}"));
    }
    let micros = |time: Option<Duration>| time.map(|time| time.as_secs_f64() * 1e6);
    let tally = tally.as_ref();
    let samples = &mut session.samples;
    samples.add(scenario, target, "rps", tally.map(LoadStats::rate));
    samples.add(scenario, target, "crowd_p50_us", tally.and_then(|tally| micros(tally.latency(0.5))));
    samples.add(scenario, target, "crowd_p99_us", tally.and_then(|tally| micros(tally.latency(0.99))));
    samples.add(scenario, target, "errors", tally.map(|tally| tally.error_count() as f64));
}

/// Programs that take all the CPU time they can get; they are stopped on drop.
struct CompetingPrograms {
    _processes: Vec<ProcessTree>,
}

impl CompetingPrograms {
    fn start(count: usize) -> Result<Self> {
        let program = std::env::current_exe().context("cannot find the path of this program")?;
        let start = |_| {
            let mut command = Command::new(&program);
            command.args(["spin", &std::process::id().to_string()]).stdin(Stdio::null());
            ProcessTree::start(&mut command)
        };
        let processes = (0..count).map(start).collect::<Result<_>>()?;
        Ok(Self { _processes: processes })
    }
}

const RESPONSE_BYTES: usize = 128;
/// Time to open the connections and serve each once before anything is measured.
const WARM_UP: Duration = Duration::from_millis(500);
/// One to the client and one to the origin, and one more for targets whose workers have unequal shares.
const FILES_PER_CONNECTION: u64 = 3;
