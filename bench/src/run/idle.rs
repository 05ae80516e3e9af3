//! Memory per connection: many connections that have each been served once and are kept open.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::session::Session;
use crate::load::{Generator, H2load, IdleConnections, IdleHttp2, ScenarioRequest};
use crate::measure::memory;
use crate::peers::{Setup, TargetInstance};
use crate::scenario::ClientHttpVersion;
use crate::settings::BenchSettings;
use crate::transport::RequestProtocol;

/// Measures each target, freshly started each time: a process does not return memory that it once allocated.
pub(super) fn run(session: &mut Session, scenario: &str, version: ClientHttpVersion) -> Result<()> {
    let count = fitting(session.settings.idle_connections, session.site.files_max);
    if count < session.settings.idle_connections {
        session.notes.push(format!(
            "{scenario}: {count} connections instead of {}, because a process may have {} open files",
            session.settings.idle_connections, session.site.files_max
        ));
    }
    let setup = Setup { has_transports: version == ClientHttpVersion::Http2, ..Setup::default() };
    let rounds = session.rounds.min(ROUNDS_MAX);
    for round in 0..rounds {
        for index in Session::order(round, session.targets.len()) {
            let Some(target) = session.targets.get(index).cloned() else { continue };
            if target.lacks(setup).is_some() {
                continue;
            }
            session.progress.step(&format!("{scenario} {}/{rounds}: {}", round + 1, target.name));
            let outcome = TargetInstance::start(&target, setup, &mut session.site).and_then(|instance| {
                let figures = measure(&instance, &session.settings, version, count);
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
            let mut add = |figure: &str, of: fn(&IdleMeasurement) -> f64| {
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

struct IdleMeasurement {
    connection_bytes: f64,
    base_bytes: f64,
    idle_cpu_us_per_s: f64,
    connections: f64,
}

/// Connections that are held open.
enum IdleConnectionSet {
    Http1(IdleConnections),
    Http2(IdleHttp2),
}

impl IdleConnectionSet {
    fn open(instance: &TargetInstance, version: ClientHttpVersion, count: usize) -> Result<Self> {
        Ok(match version {
            ClientHttpVersion::Http1 => {
                let exchange = small_get().exchange(instance.address);
                Self::Http1(IdleConnections::open(instance.address, &exchange, count)?)
            }
            ClientHttpVersion::Http2 => Self::Http2(IdleHttp2::open(instance.http2, count)?),
        })
    }

    fn closed_count(&self) -> usize {
        match self {
            Self::Http1(held) => held.closed_count(),
            Self::Http2(held) => held.closed_count(),
        }
    }
}

fn small_get() -> ScenarioRequest {
    ScenarioRequest::Get { prefix: String::new(), bytes: 128 }
}

/// Fills pools and caches as any traffic does: they are not a cost of idle connections.
fn warm_up(instance: &TargetInstance, settings: &BenchSettings, version: ClientHttpVersion) -> Result<()> {
    match version {
        ClientHttpVersion::Http1 => {
            let exchange = small_get().exchange(instance.address);
            let mut generator = Generator::new(instance.address, &exchange, settings.connections)?;
            generator.run_closed(WARM_UP).map(drop)
        }
        ClientHttpVersion::Http2 => {
            let protocol = RequestProtocol::Http2;
            let mut h2load = H2load::get(&settings.h2load, instance.http2, protocol, settings.connections, 1);
            h2load.warm_up()?;
            h2load.run(WARM_UP).map(drop)
        }
    }
}

fn measure(
    instance: &TargetInstance,
    settings: &BenchSettings,
    version: ClientHttpVersion,
    count: usize,
) -> Result<IdleMeasurement> {
    warm_up(instance, settings, version)?;
    crate::pause(SETTLE);
    let base = memory::resident_bytes(&instance.members());
    let idle = IdleConnectionSet::open(instance, version, count)?;
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
    Ok(IdleMeasurement {
        connection_bytes: grown as f64 / count as f64,
        base_bytes: base as f64,
        idle_cpu_us_per_s: used.total.as_secs_f64() * 1e6 / WATCH.as_secs_f64(),
        connections: count as f64,
    })
}

/// Returns how many connections are possible: some targets reserve two files for each, and the harness holds one.
fn fitting(wanted: usize, files_max: u64) -> usize {
    let possible = usize::try_from(files_max.saturating_sub(FILES_SPARE) / 2).unwrap_or(usize::MAX);
    wanted.min(possible)
}

const ROUNDS_MAX: usize = 3;
const WARM_UP: Duration = Duration::from_millis(500);
const SETTLE: Duration = Duration::from_millis(300);
const WATCH: Duration = Duration::from_secs(1);
/// More files than the targets are configured to spare, so that a probe still succeeds.
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
