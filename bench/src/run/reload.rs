//! Time until a changed configuration of 10,000 routes serves every new connection.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::session::Session;
use crate::peers::TargetInstance;
use crate::probe;
use crate::scenario::reload_setup;

/// Reloads each target once per round.
pub(super) fn run(session: &mut Session, scenario: &str) -> Result<()> {
    let setup = reload_setup();
    session.progress.step(&format!("{scenario}: starting the targets"));
    let mut instances = session.start_all(setup);
    for round in 0..session.rounds {
        for index in Session::order(round, instances.len()) {
            let Some(instance) = instances.get_mut(index) else { continue };
            let name = instance.target.name.clone();
            session.progress.step(&format!("{scenario} {}/{}: {name}", round + 1, session.rounds));
            let figures = match reload(instance) {
                Ok(figures) => Some(figures),
                Err(error) => {
                    session.add_fault(&format!("{scenario}, {name}: {error:#}"));
                    None
                }
            };
            let mut add = |figure: &str, of: fn(&ReloadMeasurement) -> f64| {
                session.samples.add(scenario, &name, figure, figures.as_ref().map(of));
            };
            add("reload_ms", |one| one.taken.as_secs_f64() * 1e3);
            add("reload_cpu_ms", |one| one.cpu.as_secs_f64() * 1e3);
            add("reload_refused", |one| f64::from(one.refused));
        }
    }
    session.stop_all(setup, instances);
    Ok(())
}

struct ReloadMeasurement {
    /// From the change until the last response of the old configuration, or the first of the new one if that is
    /// later.
    taken: Duration,
    cpu: Duration,
    /// Connections in between that got no response.
    refused: u32,
}

fn reload(instance: &mut TargetInstance) -> Result<ReloadMeasurement> {
    let before = instance.cpu();
    let begun = Instant::now();
    let generation = instance.reload()?.to_string();
    let (mut taken, mut refused, mut in_a_row) = (Duration::ZERO, 0, 0);
    while in_a_row < CONSECUTIVE_RESPONSES {
        let answer = probe::get(instance.address, "/generation");
        if answer.as_ref().is_ok_and(|answer| answer.body == generation.as_bytes()) {
            if in_a_row == 0 {
                taken = begun.elapsed();
            }
            in_a_row += 1;
        } else {
            refused += u32::from(answer.is_err());
            in_a_row = 0;
        }
        if begun.elapsed() > TIMEOUT {
            bail!("not every connection saw generation {generation} after {} s", TIMEOUT.as_secs());
        }
        crate::pause(PAUSE);
    }
    // Waits until old workers exit and files are closed: part of the cost of a reload.
    crate::pause(SETTLE);
    Ok(ReloadMeasurement { taken, cpu: instance.cpu().since(&before).total, refused })
}

/// Responses of the new configuration in a row, each on a new connection, that prove that no worker has the old one.
const CONSECUTIVE_RESPONSES: u32 = 40;
const PAUSE: Duration = Duration::from_millis(1);
const SETTLE: Duration = Duration::from_millis(500);
const TIMEOUT: Duration = Duration::from_secs(30);
