//! The probe process: creates the filters, reports problems, and exits.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use anyhow::{Context, bail};
use eddy_config::GatewayConfig;
use eddy_filter::{FilterLogLevel, HostApi, MetricRegistry};
use eddy_guest::ReclaimQueue;

use super::maker::FilterMaker;
use super::probe::ProbeMessage;
use crate::child::unpack;
use crate::control::{Channel, Received, read_memory_file};

/// Creates the filters of the configuration passed through standard input, and reports problems over the same socket.
pub(crate) fn run() -> u8 {
    // Guests are never entered on the main thread, neither here nor in the gateway.
    let made = thread::Builder::new().name("eddy-config".to_owned()).spawn(|| match try_out() {
        Ok(()) => eddy_guest::exit_now(0),
        Err(_) => eddy_guest::exit_now(70),
    });
    let _ = made.map(thread::JoinHandle::join);
    process::abort()
}

fn try_out() -> anyhow::Result<()> {
    let channel = Arc::new(Channel::from_stdin().context("this command is internal to eddy")?);
    let Received::Message((), descriptors) = channel.receive()? else { bail!("no configuration received") };
    let texts = read_memory_file(descriptors.first().context("no configuration received")?)?;
    let loaded = unpack(&texts).context("the configuration is malformed")?;
    let (reports, compilers, warnings) = (Arc::clone(&channel), Arc::clone(&channel), Arc::clone(&channel));
    let ids = AtomicU32::new(1);
    let maker = FilterMaker {
        host: Arc::new(NoGateway::new(&loaded.config)),
        number: Box::new(move |_| ids.fetch_add(1, Ordering::Relaxed)),
        reclaim_queue: ReclaimQueue::new(|| ()),
        quarantined: Vec::new(),
        observe: Box::new(move |filter| {
            // Without a receiver the report is lost, which does no harm.
            let _ = reports.send(&ProbeMessage::Making(filter.to_owned()), &[]);
        }),
        observe_compiling: Box::new(move |filter| {
            let _ = compilers.send(&ProbeMessage::Compiling(filter.to_owned()), &[]);
        }),
        warn: Box::new(move |problem| {
            let _ = warnings.send(&ProbeMessage::Wrong(problem), &[]);
        }),
        is_trial: true,
    };
    // The filters are kept to the end: dropping them is not part of the probe.
    let made = maker.make(&loaded.config);
    for problem in made.as_ref().err().into_iter().flatten() {
        channel.send(&ProbeMessage::Wrong(problem.clone()), &[])?;
    }
    channel.send(&ProbeMessage::Done, &[])?;
    Ok(())
}

/// Host of filters that see no traffic.
struct NoGateway {
    workers: usize,
    metrics: MetricRegistry,
}

impl NoGateway {
    fn new(config: &GatewayConfig) -> Self {
        let workers = config.settings.workers.map_or(1, usize::from);
        Self { workers, metrics: MetricRegistry::new(workers) }
    }
}

impl HostApi for NoGateway {
    fn workers(&self) -> usize {
        self.workers
    }

    fn level(&self) -> FilterLogLevel {
        FilterLogLevel::Error
    }

    fn metrics(&self) -> &MetricRegistry {
        &self.metrics
    }
}
