//! The running gateway: start, reload, drain.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use eddy_config::{GatewayConfig, ListenAddress};
use eddy_filter::HostApi as _;
use eddy_ids::Shared;
use eddy_io::{SharedPage, SharedPipes, WORKERS_MAX, descriptors_max};
use eddy_upstream::resolve::Resolver;
use tokio::sync::mpsc::{Sender, UnboundedSender, channel as command_channel, unbounded_channel};
use tokio::sync::oneshot;

use crate::access::{AccessLogSink, AccessWriter};
use crate::control::{CheckedCluster, ClusterResolver, HealthChecks, watch};
use crate::error::ProxyError;
use crate::event_loop::{Apply, Sockets, Start, WorkerCommand, run};
use crate::host::{FilterHost, note_worker};
use crate::plan::{GatewayPlan, PlanView, Ready};
use crate::report::ClusterReport;
use crate::runtime::{Pressure, Room, ServiceParts};
use crate::session::DRAIN_IDLE_TIMEOUT;
use crate::stats::Stats;
use crate::worker::WorkerParts;

/// Time that a worker has to follow a command.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
/// Time that the end of a drain waits for access log entries to be written.
const ACCESS_LOG_FLUSH_TIME_MAX: Duration = Duration::from_secs(2);
/// Maximum number of commands queued for a worker.
const COMMANDS_MAX: usize = 64;
/// File descriptors reserved for other uses than traffic: logs, admin interface, libraries.
const DESCRIPTORS_RESERVED: u64 = 64;

/// A running gateway: its workers and its control thread.
///
/// Every method blocks as documented; do not call one from an asynchronous runtime's thread that has other work to do.
pub struct Gateway {
    stats: Arc<Stats>,
    workers: Vec<WorkerHandle>,
    /// Taken by `drop` only.
    sink: Option<AccessLogSink>,
    host: Arc<FilterHost>,
    pipes: Arc<SharedPipes>,
    room: Arc<Room>,
    memory_percent_max: Arc<AtomicU8>,
    /// Locked during a change, so that changes are serialised.
    state: Mutex<GatewayState>,
    /// Takes plans that workers do not use any more; the control thread frees them.
    retired: UnboundedSender<Arc<GatewayPlan>>,
    /// Ends the control thread when dropped.
    _control_stop: oneshot::Sender<()>,
}

struct GatewayState {
    config: Arc<GatewayConfig>,
    plan: Arc<GatewayPlan>,
    sockets: Arc<Sockets>,
    names: ClusterResolver,
    health: HealthChecks,
}

struct WorkerHandle {
    index: usize,
    commands: Sender<WorkerCommand>,
    thread: JoinHandle<()>,
}

impl Gateway {
    /// Starts as many workers as `host` has and returns when each of them accepts connections.
    ///
    /// `ready` holds the resources that the configuration names; its filters are created with `host`.
    ///
    /// # Errors
    /// Any [`ProxyError`]; nothing is left running then.
    pub fn start(
        config: Arc<GatewayConfig>,
        ready: &Ready,
        host: Arc<FilterHost>,
        sockets: Sockets,
        page: Arc<SharedPage>,
    ) -> Result<Self, ProxyError> {
        let stats = Arc::new(Stats::new(host.workers()));
        let plan = Arc::new(GatewayPlan::build(Arc::clone(&config), ready, None)?);
        let pressure = Arc::<Pressure>::default();
        let memory_percent_max = Arc::new(AtomicU8::new(config.settings.limits.memory_percent_max));
        let control = start_control(&pressure, &memory_percent_max)?;
        let health = HealthChecks::new(control.handle.clone());
        let names = ClusterResolver::new(control.resolver, control.handle);
        let sockets = Arc::new(Sockets::default().succeed(&config.listeners, sockets)?);
        let sink = AccessLogSink::start(Arc::clone(&stats.sink)).map_err(ProxyError::Control)?;
        let mut gateway = Self {
            stats,
            workers: Vec::new(),
            sink: Some(sink),
            host,
            pipes: Arc::default(),
            room: Arc::new(Room::new(connections_max())),
            memory_percent_max,
            state: Mutex::new(GatewayState {
                config: Arc::clone(&config),
                plan: Arc::clone(&plan),
                sockets,
                names,
                health,
            }),
            retired: control.retired,
            _control_stop: control.stop,
        };
        gateway.direct_records(&config);
        let (applies, replies) = gateway.prepare(&plan, &mut gateway.lock());
        for (index, first) in applies.into_iter().enumerate() {
            let worker = gateway.spawn(index, first, &page, &pressure)?;
            gateway.workers.push(worker);
        }
        await_replies(replies)?;
        Ok(gateway)
    }

    /// Puts another configuration in force and returns when every worker has applied it.
    ///
    /// `new_sockets` holds the sockets of new listener addresses. Exchanges end on the plan that they began with;
    /// connections stay open. The number of workers does not change until the next start.
    ///
    /// # Errors
    /// [`ProxyError::Routes`], [`ProxyError::SocketMissing`], [`ProxyError::Socket`]: the old plan stays in force.
    /// [`ProxyError::WorkerSilent`]: that worker applies the plan when it can.
    pub fn reload(
        &self,
        config: Arc<GatewayConfig>,
        ready: &Ready,
        new_sockets: Sockets,
    ) -> Result<(), ProxyError> {
        let mut state = self.lock();
        let plan = Arc::new(GatewayPlan::build(Arc::clone(&config), ready, Some(&state.plan))?);
        state.sockets = Arc::new(state.sockets.succeed(&config.listeners, new_sockets)?);
        state.config = Arc::clone(&config);
        state.plan = Arc::clone(&plan);
        self.memory_percent_max.store(config.settings.limits.memory_percent_max, Relaxed);
        self.direct_records(&config);
        self.apply(&plan, &mut state)
    }

    /// Accepts from listeners of the current configuration whose addresses could not be bound before.
    ///
    /// # Errors
    /// As [`Self::reload`].
    pub fn listen(&self, new_sockets: Sockets) -> Result<(), ProxyError> {
        let mut state = self.lock();
        state.sockets = Arc::new(state.sockets.succeed(&state.config.listeners, new_sockets)?);
        let plan = Arc::clone(&state.plan);
        self.apply(&plan, &mut state)
    }

    /// Makes every worker apply `plan`.
    fn apply(&self, plan: &Arc<GatewayPlan>, state: &mut GatewayState) -> Result<(), ProxyError> {
        let (applies, replies) = self.prepare(plan, state);
        for (worker, apply) in self.workers.iter().zip(applies) {
            worker.send(WorkerCommand::Apply(apply))?;
        }
        await_replies(replies)
    }

    /// Returns a view of the plan in force.
    pub fn plan(&self) -> PlanView {
        PlanView(Arc::clone(&self.lock().plan))
    }

    /// Returns duplicates of the sockets of a listener address, for a process that replaces this one.
    ///
    /// # Errors
    /// [`ProxyError::SocketMissing`] and [`ProxyError::Socket`].
    pub fn sockets(&self, address: &ListenAddress) -> Result<Vec<OwnedFd>, ProxyError> {
        self.lock().sockets.copies(address)
    }

    /// Stops accepting, finishes open exchanges, and returns when all have ended or `deadline` has passed.
    ///
    /// Connections that already wait in the accept queue are still accepted. Every response from now on ends its
    /// connection. Idle connections stay open for a moment, so that requests in flight are still answered, and are then
    /// closed.
    pub fn drain(&self, deadline: Duration) {
        let begun = Instant::now();
        let (done, drained) = channel();
        for worker in &self.workers {
            if let Err(error) = worker.send(WorkerCommand::Drain(done.clone())) {
                tracing::warn!(%error, "cannot send the drain command to a worker");
            }
        }
        drop(done);
        // Each worker closes its own sockets once its accept queue is empty; duplicates in another process stay open.
        self.lock().sockets = Arc::default();
        // Nothing is ever sent: the end of the channel is the message.
        let is_drained = |patience: Duration| {
            let left = patience.min(deadline.saturating_sub(begun.elapsed()));
            matches!(drained.recv_timeout(left), Err(RecvTimeoutError::Disconnected))
        };
        if !is_drained(DRAIN_IDLE_TIMEOUT) {
            for worker in &self.workers {
                if let Err(error) = worker.send(WorkerCommand::CloseIdle) {
                    tracing::warn!(%error, "cannot send the close-idle command to a worker");
                }
            }
            if !is_drained(deadline) {
                tracing::warn!("drain timeout reached; open exchanges are aborted");
            }
        }
        self.settle_records();
    }

    /// Flushes the workers' access log entries and waits for them to be written, as far as the target accepts them.
    fn settle_records(&self) {
        let (done, flushed) = channel();
        for worker in &self.workers {
            // A worker that does not respond keeps its entries.
            let _ = worker.send(WorkerCommand::FlushRecords(done.clone()));
        }
        drop(done);
        let _ = flushed.recv_timeout(ACCESS_LOG_FLUSH_TIME_MAX);
        self.sink().settle(ACCESS_LOG_FLUSH_TIME_MAX);
    }

    /// Reopens the access log, for example after log rotation.
    pub fn reopen_logs(&self) {
        self.sink().reopen();
    }

    /// Returns the counters.
    pub fn stats(&self) -> Arc<Stats> {
        Arc::clone(&self.stats)
    }

    /// Returns the configuration in force.
    pub fn config(&self) -> Arc<GatewayConfig> {
        Arc::clone(&self.lock().config)
    }

    /// Returns the state of the clusters. Workers that do not respond are left out.
    pub fn clusters(&self) -> ClusterReport {
        let requests = self.workers.iter().filter_map(|worker| {
            let (reply, response) = channel();
            worker.send(WorkerCommand::Report(reply)).ok().map(|()| response)
        });
        let responses: Vec<_> = requests.collect();
        let views = responses.into_iter().filter_map(|response| response.recv_timeout(REPLY_TIMEOUT).ok());
        ClusterReport::merge(views)
    }

    fn direct_records(&self, config: &GatewayConfig) {
        self.sink().set_target(config.settings.access_log.as_ref().and_then(|log| log.target.clone()));
    }

    fn sink(&self) -> &AccessLogSink {
        self.sink.as_ref().expect("the sink is taken only when the gateway is dropped")
    }

    /// Builds the command by which each worker applies `plan`, and the channel of its reply.
    fn prepare(&self, plan: &Arc<GatewayPlan>, state: &mut GatewayState) -> (Vec<Apply>, Vec<WorkerReply>) {
        let endpoints = state.names.follow(&plan.config.clusters);
        let parts = plan.config.clusters.iter().zip(&endpoints);
        let to_check = parts.map(|((id, cluster), sets)| CheckedCluster {
            cluster,
            tls: plan.cluster_tls.get(id),
            sets,
        });
        let unhealthy = state.health.follow(to_check);
        self.host.know(&plan.filters);
        self.host.set_clusters(
            plan.config.clusters.values().map(|cluster| Shared::clone(&cluster.name)).collect(),
        );
        let parts = self.stats.for_plan(plan).into_iter().enumerate();
        parts
            .map(|(index, series)| {
                let (done, result) = channel();
                let apply = Apply {
                    plan: Arc::clone(plan),
                    series,
                    sockets: Arc::clone(&state.sockets),
                    endpoints: endpoints.clone(),
                    unhealthy: unhealthy.clone(),
                    done,
                };
                (apply, WorkerReply { index, result })
            })
            .unzip()
    }

    fn spawn(
        &self,
        index: usize,
        first: Apply,
        page: &Arc<SharedPage>,
        pressure: &Arc<Pressure>,
    ) -> Result<WorkerHandle, ProxyError> {
        let (commands, receiver) = command_channel(COMMANDS_MAX);
        let parts = WorkerParts {
            services: ServiceParts {
                index,
                workers: self.host.workers(),
                page: Arc::clone(page),
                pressure: Arc::clone(pressure),
                room: Arc::clone(&self.room),
                series: self.stats.worker(index),
                pipes: Arc::clone(&self.pipes),
                idle_watch: Arc::default(),
            },
            access: AccessWriter::new(self.sink().sender.clone()),
            host: Arc::clone(&self.host),
        };
        let start = Start { parts, first, commands: receiver, plans: self.retired.clone() };
        let thread = std::thread::Builder::new().name(format!("eddy-worker-{index}")).spawn(move || {
            note_worker(&start.parts.services.page, index);
            if let Err(error) = run(start) {
                tracing::error!(index, %error, "a worker's event loop cannot be created");
            }
        });
        let thread = thread.map_err(|source| ProxyError::Worker { index, source })?;
        Ok(WorkerHandle { index, commands, thread })
    }

    fn lock(&self) -> MutexGuard<'_, GatewayState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        for worker in &self.workers {
            // A worker that has ended needs no command.
            let _ = worker.send(WorkerCommand::Stop);
        }
        for worker in self.workers.drain(..) {
            if worker.thread.join().is_err() {
                tracing::error!("a worker thread panicked");
            }
        }
        if let Some(sink) = self.sink.take() {
            sink.finish();
        }
    }
}

impl WorkerHandle {
    fn send(&self, command: WorkerCommand) -> Result<(), ProxyError> {
        self.commands.try_send(command).map_err(|_| ProxyError::WorkerSilent { index: self.index })
    }
}

/// Channel on which a worker reports whether it has applied a plan.
struct WorkerReply {
    index: usize,
    result: Receiver<Result<(), ProxyError>>,
}

fn await_replies(replies: Vec<WorkerReply>) -> Result<(), ProxyError> {
    for WorkerReply { index, result } in replies {
        result.recv_timeout(REPLY_TIMEOUT).map_err(|_| ProxyError::WorkerSilent { index })??;
    }
    Ok(())
}

/// Control thread, for work beside the workers.
struct Control {
    resolver: Resolver,
    handle: tokio::runtime::Handle,
    /// Frees the plans that it is given.
    retired: UnboundedSender<Arc<GatewayPlan>>,
    stop: oneshot::Sender<()>,
}

fn start_control(pressure: &Arc<Pressure>, percent_max: &Arc<AtomicU8>) -> Result<Control, ProxyError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ProxyError::Control)?;
    let handle = runtime.handle().clone();
    let resolver = Resolver::from_system()?;
    let (stop, stopped) = oneshot::channel::<()>();
    let (retired, mut plans) = unbounded_channel();
    let watching = watch(Arc::clone(pressure), Arc::clone(percent_max));
    std::thread::Builder::new()
        .name("eddy-control".to_owned())
        .spawn(move || {
            runtime.block_on(async move {
                tokio::spawn(watching);
                tokio::spawn(async move { while plans.recv().await.is_some() {} });
                // Ends when the gateway drops its side.
                let _ = stopped.await;
            });
        })
        .map_err(ProxyError::Control)?;
    Ok(Control { resolver, handle, retired, stop })
}

/// Returns the number of workers: as configured, or one per core.
pub fn worker_count(config: &GatewayConfig) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    config.settings.workers.map_or(cores, usize::from).clamp(1, WORKERS_MAX)
}

/// Returns the maximum number of downstream connections of all workers, derived from the descriptor limit. A quarter of
/// the descriptors is left for upstream connections.
fn connections_max() -> u32 {
    let usable = descriptors_max().saturating_sub(DESCRIPTORS_RESERVED).max(8);
    u32::try_from(usable / 4 * 3).unwrap_or(u32::MAX)
}
