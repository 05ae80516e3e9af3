//! Memory a connection: many connections that have each been served once and are kept open.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::session::Session;
use crate::load::{Generator, IdleConnections, Request};
use crate::measure::memory;
use crate::peers::{Instance, Setup};

/// Measures each target, freshly started each time: memory that was once grown is not given back.
pub(super) fn run(session: &mut Session, scenario: &str) -> Result<()> {
    let count = fitting(session.settings.idle_connections, session.site.files_max);
    if count < session.settings.idle_connections {
        session.notes.push(format!(
            "idle: {count} connections instead of {}, which is what {} open files a process allow",
            session.settings.idle_connections, session.site.files_max
        ));
    }
    let rounds = session.rounds.min(ROUNDS_MAX);
    for round in 0..rounds {
        for index in Session::order(round, session.targets.len()) {
            let Some(target) = session.targets.get(index).cloned() else { continue };
            session.progress.step(&format!("{scenario} {}/{rounds}: {}", round + 1, target.name));
            let outcome =
                Instance::start(&target, Setup::default(), &mut session.site).and_then(|instance| {
                    let figures = measure(&instance, session.settings.connections, count);
                    instance.stop();
                    figures
                });
            let figures = match outcome {
                Ok(figures) => Some(figures),
                Err(error) => {
                    session.add_fault(&format!("{scenario}, {}: {error:#}", target.name));
                    None
                }
            };
            let mut add = |figure: &str, of: fn(&Figures) -> f64| {
                session.samples.add(scenario, &target.name, figure, figures.as_ref().map(of));
            };
            add("connection_bytes", |one| one.connection_bytes);
            add("base_bytes", |one| one.base_bytes);
            add("idle_cpu_us_per_s", |one| one.idle_cpu_us_per_s);
            add("connections", |one| one.connections);
        }
    }
    Ok(())
}

struct Figures {
    connection_bytes: f64,
    base_bytes: f64,
    idle_cpu_us_per_s: f64,
    connections: f64,
}

fn measure(instance: &Instance, load_connections: usize, count: usize) -> Result<Figures> {
    let exchange = Request::Get { prefix: String::new(), bytes: 128 }.exchange(instance.address);
    // Pools and caches that any traffic fills are not the price of an idle connection.
    let mut generator = Generator::new(instance.address, &exchange, load_connections)?;
    generator.run_closed(WARM_UP)?;
    drop(generator);
    crate::pause(SETTLE);
    let base = memory::resident_bytes(&instance.members());
    let idle = IdleConnections::open(instance.address, &exchange, count)?;
    crate::pause(SETTLE);
    let full = memory::resident_bytes(&instance.members());
    let before = instance.cpu();
    crate::pause(WATCH);
    let used = instance.cpu().since(&before);
    let closed = idle.closed_count();
    if closed > 0 {
        bail!("{closed} of {count} idle connections were closed");
    }
    let grown = full.checked_sub(base).context("memory shrank")?;
    Ok(Figures {
        connection_bytes: grown as f64 / count as f64,
        base_bytes: base as f64,
        idle_cpu_us_per_s: used.total.as_secs_f64() * 1e6 / WATCH.as_secs_f64(),
        connections: count as f64,
    })
}

/// How many connections fit: some targets reserve two files for each, and we hold one.
fn fitting(wanted: usize, files_max: u64) -> usize {
    let possible = usize::try_from(files_max.saturating_sub(FILES_SPARE) / 2).unwrap_or(usize::MAX);
    wanted.min(possible)
}

const ROUNDS_MAX: usize = 3;
const WARM_UP: Duration = Duration::from_millis(500);
const SETTLE: Duration = Duration::from_millis(300);
const WATCH: Duration = Duration::from_secs(1);
/// More than what the targets are told to spare, so that a probe still gets through.
const FILES_SPARE: u64 = 600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_fit_the_limit() {
        assert_eq!(fitting(10_000, 65_536), 10_000);
        assert_eq!(fitting(10_000, 20_000), 9_700);
        assert_eq!(fitting(10_000, 100), 0);
    }
}
