//! Time from the start of a target to its first response.

use anyhow::Result;

use super::session::Session;
use crate::peers::{Setup, TargetInstance};

/// Starts each target once per round and stops it again.
pub(super) fn run(session: &mut Session, scenario: &str) -> Result<()> {
    for round in 0..session.rounds {
        for index in Session::order(round, session.targets.len()) {
            let Some(target) = session.targets.get(index).cloned() else { continue };
            session.progress.step(&format!("{scenario} {}/{}: {}", round + 1, session.rounds, target.name));
            let milliseconds = match TargetInstance::start_timed(&target, Setup::default(), &mut session.site)
            {
                Ok((instance, time)) => {
                    instance.stop();
                    Some(time.as_secs_f64() * 1e3)
                }
                Err(error) => {
                    session.add_fault(&format!("{scenario}, {}: {error:#}", target.name));
                    None
                }
            };
            session.samples.add(scenario, &target.name, "start_ms", milliseconds);
        }
    }
    Ok(())
}
