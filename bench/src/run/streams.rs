//! Scenarios of tunnels: what is passed on costs, by the gigabyte and by the message.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::session::Session;
use crate::load::{Talk, Talkers, pull};
use crate::measure::cpu;
use crate::peers::{Instance, Setup};
use crate::report::results::{SYSTEM_TICKS, USER_TICKS};
use crate::scenario::Passage;

/// Measures the scenarios, with all targets kept up and windows in turn.
///
/// # Errors
/// When the harness itself fails; what a target does wrong is a fault of the run.
pub(super) fn run(session: &mut Session, scenarios: &[(&'static str, Passage)]) -> Result<()> {
    let setup = Setup { has_streams: true, ..Setup::default() };
    session.progress.step(&format!("starting targets with setup `{}`", setup.name()));
    let instances = session.start_all(setup);
    for (name, passage) in scenarios {
        let mut healthy = Vec::new();
        for instance in &instances {
            match warm_up(instance, *passage) {
                Ok(()) => healthy.push(instance),
                Err(error) => session.add_fault(&format!("{name}, {}: {error:#}", instance.target.name)),
            }
        }
        for round in 0..session.rounds {
            let mut texts = Vec::new();
            for index in Session::order(round, healthy.len()) {
                let Some(instance) = healthy.get(index) else { continue };
                let figures = measure(session, instance, *passage);
                texts.push(record(session, name, &instance.target.name, *passage, figures));
            }
            texts.sort();
            let text = format!("{name} {}/{}: {}", round + 1, session.rounds, texts.join(", "));
            session.progress.step(&text);
        }
    }
    session.stop_all(setup, instances);
    Ok(())
}

/// What a window found: CPU of the target for so many gigabytes or messages in so long.
#[derive(Clone, Copy, Debug)]
struct Figures {
    used: cpu::Used,
    count: f64,
    time: Duration,
}

fn address(instance: &Instance, passage: Passage) -> std::net::SocketAddr {
    match passage {
        Passage::Bulk | Passage::Messages => instance.stream,
        Passage::WebSocket => instance.address,
    }
}

fn talk(passage: Passage) -> Talk {
    match passage {
        Passage::Bulk | Passage::Messages => Talk::Echo,
        Passage::WebSocket => Talk::WebSocket,
    }
}

fn warm_up(instance: &Instance, passage: Passage) -> Result<()> {
    let target = address(instance, passage);
    match passage {
        Passage::Bulk => pull(target, WARM_UP_BYTES),
        Passage::Messages | Passage::WebSocket => {
            Talkers::open(target, talk(passage), 4)?.run(WARM_UP).map(drop)
        }
    }
}

fn measure(session: &Session, instance: &Instance, passage: Passage) -> Result<Figures> {
    let target = address(instance, passage);
    let settings = &session.settings;
    if passage == Passage::Bulk {
        crate::pause(SETTLE);
        let (before, begun) = (instance.cpu(), Instant::now());
        pull(target, BULK_BYTES)?;
        let time = begun.elapsed();
        crate::pause(SETTLE);
        let used = instance.cpu().since(&before);
        return Ok(Figures { used, count: BULK_BYTES as f64 / GIGABYTE, time });
    }
    let mut talkers = Talkers::open(target, talk(passage), settings.connections)?;
    talkers.run(WARM_UP)?;
    crate::pause(SETTLE);
    let (before, begun) = (instance.cpu(), Instant::now());
    let count = talkers.run(settings.window()?)?;
    let time = begun.elapsed();
    crate::pause(SETTLE);
    let used = instance.cpu().since(&before);
    if count == 0 {
        bail!("no message came back");
    }
    Ok(Figures { used, count: count as f64, time })
}

fn record(
    session: &mut Session,
    scenario: &str,
    target: &str,
    passage: Passage,
    figures: Result<Figures>,
) -> String {
    let figures = match figures.with_context(|| format!("{scenario}, {target}")) {
        Ok(figures) => Some(figures),
        Err(error) => {
            session.add_fault(&format!("{error:#}"));
            None
        }
    };
    let samples = &mut session.samples;
    let mut add = |figure: &str, of: fn(&Figures) -> f64| {
        samples.add(scenario, target, figure, figures.as_ref().map(of));
    };
    let each: fn(&Figures) -> f64 = |one| one.used.total.as_secs_f64() / one.count;
    let speed: fn(&Figures) -> f64 = |one| one.count / one.time.as_secs_f64();
    if passage == Passage::Bulk {
        add("cpu_s_per_gb", each);
        add("gb_per_s", speed);
    } else {
        add("cpu_us", |one| one.used.total.as_secs_f64() * 1e6 / one.count);
        add("rps", speed);
        add(USER_TICKS, |one| one.used.user_ticks as f64);
        add(SYSTEM_TICKS, |one| one.used.system_ticks as f64);
    }
    match (figures, passage) {
        (None, _) => format!("{target} failed"),
        (Some(one), Passage::Bulk) => format!("{target} {:.3} s a GB", each(&one)),
        (Some(one), Passage::Messages | Passage::WebSocket) => {
            format!("{target} {:.1} µs {:.0}/s", each(&one) * 1e6, speed(&one))
        }
    }
}

/// What a window of bulk is: 1 GiB.
const BULK_BYTES: u64 = 1 << 30;
const WARM_UP_BYTES: u64 = 16 << 20;
const GIGABYTE: f64 = 1e9;
const WARM_UP: Duration = Duration::from_millis(150);
/// Rest before CPU is read: running threads are counted only when they leave the CPU or at a tick.
const SETTLE: Duration = Duration::from_millis(30);
