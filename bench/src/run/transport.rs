//! Transport scenarios: windows that alternate between the targets, each with a count and its CPU cost.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::session::Session;
use crate::load::{H2load, Shakers, Talk, Talkers, check_call, check_get, pull};
use crate::measure::cpu;
use crate::peers::{NAME, Setup, TargetInstance};
use crate::report::results::{SYSTEM_TICKS, USER_TICKS};
use crate::transport::{RequestProtocol, Shake, TransportScenario};

/// Measures the scenarios, with all targets running and windows in turn.
///
/// # Errors
/// Returns an error if the harness itself fails; errors of a target are recorded as faults.
pub(super) fn run(session: &mut Session, scenarios: &[(&'static str, TransportScenario)]) -> Result<()> {
    let setup = Setup { has_transports: true, ..Setup::default() };
    session.progress.step(&format!("starting targets with setup `{}`", setup.name()));
    let instances = session.start_all(setup);
    for (name, transport) in scenarios {
        let can = |instance: &&TargetInstance| {
            *transport != TransportScenario::Handshake(Shake::PostQuantum)
                || instance.target.kind.is_post_quantum()
        };
        let mut healthy = Vec::new();
        for instance in instances.iter().filter(can) {
            match check(session, instance, *transport) {
                Ok(()) => healthy.push(instance),
                Err(error) => session.add_fault(&format!("{name}, {}: {error:#}", instance.target.name)),
            }
        }
        for round in 0..session.rounds {
            let mut texts = Vec::new();
            for index in Session::order(round, healthy.len()) {
                let Some(instance) = healthy.get(index) else { continue };
                let figures = measure(session, instance, *transport);
                texts.push(record(session, name, &instance.target.name, *transport, figures));
            }
            texts.sort();
            let text = format!("{name} {}/{}: {}", round + 1, session.rounds, texts.join(", "));
            session.progress.step(&text);
        }
    }
    session.stop_all(setup, instances);
    Ok(())
}

/// Result of a window: CPU time of the target, the count of gigabytes, messages, requests or connections, and the
/// duration.
#[derive(Clone, Copy, Debug)]
struct TransportMeasurement {
    used: cpu::Used,
    count: f64,
    time: Duration,
}

/// Load generator of a transport.
enum Load {
    Pull(std::net::SocketAddr),
    Talk(Talkers),
    Requests(H2load),
    Shake(Shakers),
}

impl Load {
    /// Creates the load of `transport` on `instance`, with the configured number of connections where the transport
    /// has none.
    fn new(
        session: &Session,
        instance: &TargetInstance,
        transport: TransportScenario,
        connections: usize,
    ) -> Result<Self> {
        let h2load = &session.settings.h2load;
        Ok(match transport {
            TransportScenario::Bulk => Self::Pull(instance.stream),
            TransportScenario::Messages => {
                Self::Talk(Talkers::open(instance.stream, Talk::Echo, connections)?)
            }
            TransportScenario::WebSocket => {
                Self::Talk(Talkers::open(instance.address, Talk::WebSocket, connections)?)
            }
            TransportScenario::Requests { protocol, connections, streams } => {
                let target = match protocol {
                    RequestProtocol::Http2 => instance.http2,
                    RequestProtocol::Http2OverTls | RequestProtocol::Http1OverTls => instance.tls,
                };
                Self::Requests(H2load::get(h2load, target, protocol, connections, streams))
            }
            TransportScenario::Call => {
                Self::Requests(H2load::call(h2load, instance.http2, &session.site.work)?)
            }
            TransportScenario::Handshake(shake) => {
                let certificate = &session.site.identity.certificate;
                Self::Shake(Shakers::new(instance.tls, shake, certificate, NAME)?)
            }
        })
    }

    fn warm_up(&mut self) -> Result<()> {
        match self {
            Self::Pull(target) => pull(*target, WARM_UP_BYTES),
            Self::Talk(talkers) => talkers.run(WARM_UP).map(drop),
            Self::Requests(h2load) => h2load.warm_up(),
            Self::Shake(shakers) => shakers.warm_up(),
        }
    }

    /// Keeps the target busy for `window`, or with 1 GiB; returns the count and the duration.
    fn run(&mut self, window: Duration) -> Result<(f64, Duration)> {
        let begun = Instant::now();
        let count = match self {
            Self::Pull(target) => {
                pull(*target, BULK_BYTES)?;
                BULK_BYTES as f64 / GIGABYTE
            }
            Self::Talk(talkers) => talkers.run(window)? as f64,
            Self::Requests(h2load) => {
                // The startup of h2load is not counted as time of the target.
                let outcome = h2load.run(window)?;
                return Ok((outcome.requests as f64, outcome.time));
            }
            Self::Shake(shakers) => shakers.run(window)? as f64,
        };
        Ok((count, begun.elapsed()))
    }
}

/// Checks the target's responses, including the content where the load itself does not compare it.
fn check(session: &Session, instance: &TargetInstance, transport: TransportScenario) -> Result<()> {
    match transport {
        TransportScenario::Requests { protocol: RequestProtocol::Http2, .. } => check_get(instance.http2)?,
        TransportScenario::Call => check_call(instance.http2)?,
        TransportScenario::Bulk
        | TransportScenario::Messages
        | TransportScenario::WebSocket
        | TransportScenario::Requests { .. }
        | TransportScenario::Handshake(_) => {}
    }
    Load::new(session, instance, transport, CHECK_CONNECTIONS)?.warm_up()
}

fn measure(
    session: &Session,
    instance: &TargetInstance,
    transport: TransportScenario,
) -> Result<TransportMeasurement> {
    let mut load = Load::new(session, instance, transport, session.settings.connections)?;
    load.warm_up()?;
    crate::pause(SETTLE);
    let before = instance.cpu();
    let (count, time) = load.run(session.settings.window()?)?;
    crate::pause(SETTLE);
    let used = instance.cpu().since(&before);
    if count == 0.0 {
        bail!("no data arrived");
    }
    Ok(TransportMeasurement { used, count, time })
}

fn record(
    session: &mut Session,
    scenario: &str,
    target: &str,
    transport: TransportScenario,
    figures: Result<TransportMeasurement>,
) -> String {
    let figures = match figures.with_context(|| format!("{scenario}, {target}")) {
        Ok(figures) => Some(figures),
        Err(error) => {
            session.add_fault(&format!("{error:#}"));
            None
        }
    };
    let samples = &mut session.samples;
    let mut add = |figure: &str, of: fn(&TransportMeasurement) -> f64| {
        samples.add(scenario, target, figure, figures.as_ref().map(of));
    };
    let each: fn(&TransportMeasurement) -> f64 = |one| one.used.total.as_secs_f64() / one.count;
    let speed: fn(&TransportMeasurement) -> f64 = |one| one.count / one.time.as_secs_f64();
    if transport == TransportScenario::Bulk {
        add("cpu_s_per_gb", each);
        add("gb_per_s", speed);
    } else {
        add("cpu_us", |one| one.used.total.as_secs_f64() * 1e6 / one.count);
        add("rps", speed);
        add(USER_TICKS, |one| one.used.user_ticks as f64);
        add(SYSTEM_TICKS, |one| one.used.system_ticks as f64);
    }
    match figures {
        None => format!("{target} failed"),
        Some(one) if transport == TransportScenario::Bulk => format!("{target} {:.3} s per GB", each(&one)),
        Some(one) => format!("{target} {:.1} µs {:.0}/s", each(&one) * 1e6, speed(&one)),
    }
}

/// Bytes of a bulk window: 1 GiB.
const BULK_BYTES: u64 = 1 << 30;
const WARM_UP_BYTES: u64 = 16 << 20;
const GIGABYTE: f64 = 1e9;
const WARM_UP: Duration = Duration::from_millis(150);
/// Pause before CPU time is read: running threads are accounted only when they leave the CPU or at a tick.
const SETTLE: Duration = Duration::from_millis(30);
const CHECK_CONNECTIONS: usize = 4;
