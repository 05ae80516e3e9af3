//! State owned by one worker; nothing in it is shared on the request path.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use eddy_config::ListenAddress;
use eddy_http::{DATE_BYTES, Egress};
use eddy_io::{BufferPool, PipePool, SharedPage, SharedPipes, Timers, monotonic_ms, unix_seconds};
use eddy_route::RouteScratch;
use eddy_upstream::{EndpointSet, Rng};
use tokio::sync::{Notify, watch};

use crate::access::{AccessWriter, RecordQueue};
use crate::exchange::{Exchange, FilterChain, WorkerFilterState};
use crate::host::FilterHost;
use crate::plan::{GatewayPlan, ListenerPlan};
use crate::session::Flows;
use crate::stats::{PlanSeries, WorkerSeries};
use crate::worker::admission::AdmissionQueue;
use crate::worker::cluster::{ClusterParts, WorkerCluster};
use crate::worker::date::DateCache;
use crate::worker::overload::{Pressure, Room};

/// Maximum number of exchanges kept for reuse, each some kilobytes.
const EXCHANGES_IDLE_MAX: usize = 256;

/// One worker.
pub(crate) struct Worker {
    pub(crate) index: usize,
    pub(crate) workers: usize,
    pub(crate) page: Arc<SharedPage>,
    pub(crate) pressure: Arc<Pressure>,
    pub(crate) room: Arc<Room>,
    pub(crate) series: Arc<WorkerSeries>,
    pub(crate) timers: Rc<Timers>,
    pub(crate) buffers: BufferPool,
    pub(crate) pipes: Rc<PipePool>,
    pub(crate) rng: RefCell<Rng>,
    pub(crate) access: RefCell<AccessWriter>,
    /// Access log entries queued for the log service.
    pub(crate) records: RecordQueue,
    pub(crate) route: RefCell<RouteScratch>,
    pub(crate) egress: RefCell<Egress>,
    pub(crate) crossing: WorkerFilterState,
    pub(crate) admission: AdmissionQueue,
    /// Notified at each tick, for tasks that wait for capacity.
    pub(crate) ticked: Notify,
    /// Notified when a drain begins or another plan is applied, for sessions that announce their end to clients.
    pub(crate) turned: Notify,
    /// Notified when something happens on an idle upstream connection.
    pub(crate) idle_watch: Arc<Notify>,
    pub(crate) connections: Cell<u32>,
    pub(crate) exchanges: Cell<u32>,
    /// Number of mirror copies in progress.
    pub(crate) mirrors: Cell<u32>,
    /// Whether the worker drains: responses announce the end of their connection, and nothing new is accepted.
    pub(crate) is_draining: Cell<bool>,
    plan: RefCell<Rc<WorkerPlan>>,
    dates: RefCell<DateCache>,
    #[expect(clippy::vec_box, reason = "an exchange is handed out as a box; moving it would copy kilobytes")]
    exchanges_idle: RefCell<Vec<Box<Exchange>>>,
}

/// A plan with this worker's counters and clusters.
#[derive(Debug)]
pub(crate) struct WorkerPlan {
    pub(crate) plan: Arc<GatewayPlan>,
    pub(crate) series: PlanSeries,
    pub(crate) clusters: Vec<Rc<WorkerCluster>>,
    clusters_by_name: HashMap<Arc<str>, Rc<WorkerCluster>>,
}

/// A listener as its sessions see it. Sessions outlive plans and look up their listener in each new one.
#[derive(Debug)]
pub(crate) struct ListenerHandle {
    pub(crate) address: ListenAddress,
    /// Index in the current plan; `None` when the listener was removed.
    pub(crate) index: Cell<Option<usize>>,
    pub(crate) connections: Cell<u32>,
    /// Datagram sessions, if the listener receives datagrams.
    pub(crate) flows: Option<Rc<Flows>>,
}

/// Parts from which a worker is created.
pub(crate) struct WorkerParts {
    pub(crate) index: usize,
    pub(crate) workers: usize,
    pub(crate) page: Arc<SharedPage>,
    pub(crate) pressure: Arc<Pressure>,
    pub(crate) room: Arc<Room>,
    pub(crate) series: Arc<WorkerSeries>,
    pub(crate) access: AccessWriter,
    pub(crate) host: Arc<FilterHost>,
    pub(crate) pipes: Arc<SharedPipes>,
    pub(crate) idle_watch: Arc<Notify>,
}

impl Worker {
    /// Creates a worker that runs on `plan`.
    pub(crate) fn new(parts: WorkerParts, plan: Rc<WorkerPlan>, rng: Rng, now_ms: u64) -> Rc<Self> {
        Rc::new(Self {
            index: parts.index,
            workers: parts.workers,
            page: parts.page,
            pressure: parts.pressure,
            room: parts.room,
            series: parts.series,
            timers: Timers::new(now_ms),
            buffers: BufferPool::default(),
            pipes: PipePool::new(parts.pipes),
            rng: RefCell::new(rng),
            access: RefCell::new(parts.access),
            records: RecordQueue::default(),
            route: RefCell::new(RouteScratch::new()),
            egress: RefCell::new(Egress::new()),
            crossing: WorkerFilterState::new(parts.host),
            admission: AdmissionQueue::default(),
            ticked: Notify::new(),
            turned: Notify::new(),
            idle_watch: parts.idle_watch,
            connections: Cell::new(0),
            exchanges: Cell::new(0),
            mirrors: Cell::new(0),
            is_draining: Cell::new(false),
            plan: RefCell::new(plan),
            dates: RefCell::default(),
            exchanges_idle: RefCell::default(),
        })
    }

    /// Returns the plan in force.
    pub(crate) fn plan(&self) -> Rc<WorkerPlan> {
        Rc::clone(&self.plan.borrow())
    }

    /// Puts another plan in force.
    pub(crate) fn follow(&self, plan: Rc<WorkerPlan>) {
        self.plan.replace(plan);
    }

    /// Returns an exchange in its initial state.
    pub(crate) fn take_exchange(&self) -> Box<Exchange> {
        self.exchanges_idle.borrow_mut().pop().unwrap_or_default()
    }

    /// Takes an exchange back for reuse.
    pub(crate) fn put_exchange(&self, mut exchange: Box<Exchange>) {
        if let Some(handle) = exchange.filtering.handle.take() {
            // The session ended before the exchange did; no message may reach it any more.
            self.crossing.slots.borrow_mut().close(self.crossing.host.table(), handle);
        }
        let mut idle = self.exchanges_idle.borrow_mut();
        if idle.len() < EXCHANGES_IDLE_MAX {
            exchange.clear(&self.buffers);
            idle.push(exchange);
        }
    }

    /// Returns the current `Date`.
    pub(crate) fn date(&self) -> [u8; DATE_BYTES] {
        self.dates.borrow_mut().at(unix_seconds())
    }

    /// Whether another exchange may begin.
    pub(crate) fn admits(&self, plan: &WorkerPlan) -> bool {
        let exchanges_max = share(plan.plan.config.limits.exchanges_max, self.workers);
        self.exchanges.get() <= exchanges_max && !self.pressure.is_high()
    }

    /// Frees descriptors that can be closed without loss: all idle links, and up to `connections` idle downstream
    /// connections.
    ///
    /// # Cost
    /// Linear in the connections of the worker.
    pub(crate) fn free_descriptors(&self, connections: usize) {
        for cluster in &self.plan().clusters {
            cluster.clear_idle();
        }
        self.close_idle(connections, 0);
    }

    /// Closes up to `connections` connections that have been idle for `idle_ms`, the longest idle first.
    ///
    /// # Cost
    /// Linear in the connections of the worker.
    pub(crate) fn close_idle(&self, connections: usize, idle_ms: u64) {
        self.series.idle_closed.add(self.timers.shed(connections, idle_ms) as u64);
    }
}

impl WorkerPlan {
    /// Creates a worker's first plan, or the successor of `previous`, whose clusters are carried over by name.
    pub(crate) fn new(
        plan: Arc<GatewayPlan>,
        series: PlanSeries,
        endpoints: &[watch::Receiver<Arc<EndpointSet>>],
        previous: Option<&Self>,
        idle_watch: &Arc<Notify>,
        rng: &mut Rng,
    ) -> Self {
        let now_ms = monotonic_ms();
        let tls = plan.cluster_tls.iter().cloned();
        let parts = plan.clusters.iter().zip(tls).zip(&series.clusters).zip(&series.in_use).zip(endpoints);
        let clusters = parts.map(|((((config, tls), series), in_use), endpoints)| {
            let known = previous.and_then(|previous| previous.cluster_named(&config.name));
            let (series, in_use) = (Arc::clone(series), in_use.clone());
            let parts = ClusterParts { config: Arc::clone(config), tls, series, in_use };
            Rc::new(match known {
                Some(cluster) => {
                    let next = cluster.succeed(parts, now_ms, rng);
                    if cluster.config.endpoints != config.endpoints {
                        next.update(Arc::clone(&endpoints.borrow()), now_ms, rng);
                    }
                    next
                }
                None => {
                    let set = Arc::clone(&endpoints.borrow());
                    WorkerCluster::new(parts, set, Arc::clone(idle_watch), rng)
                }
            })
        });
        let clusters: Vec<_> = clusters.collect();
        let named = |cluster: &Rc<WorkerCluster>| (Arc::clone(&cluster.config.name), Rc::clone(cluster));
        let clusters_by_name = clusters.iter().map(named).collect();
        Self { plan, series, clusters, clusters_by_name }
    }

    /// Returns the cluster with this name.
    pub(crate) fn cluster_named(&self, name: &str) -> Option<&Rc<WorkerCluster>> {
        self.clusters_by_name.get(name)
    }

    /// Returns the listener with this index.
    pub(crate) fn listener(&self, index: usize) -> Option<&ListenerPlan> {
        self.plan.listeners.get(index)
    }

    /// Returns a filter chain of a listener; `None` when `chain` is `None`.
    #[inline]
    pub(crate) fn chain(&self, listener: usize, chain: Option<usize>) -> Option<&FilterChain> {
        self.listener(listener)?.chains.get(chain?)
    }
}

impl ListenerHandle {
    /// Creates a handle that is not part of a plan yet.
    pub(crate) fn new(address: ListenAddress) -> Self {
        let flows = matches!(address, ListenAddress::Udp(_)).then(Rc::default);
        Self { address, index: Cell::new(None), connections: Cell::new(0), flows }
    }
}

/// Returns one worker's share of a limit of the whole gateway; at least 1.
pub(crate) fn share(limit: u32, workers: usize) -> u32 {
    limit.div_ceil(u32::try_from(workers).unwrap_or(u32::MAX).max(1)).max(1)
}

/// Returns a time in whole milliseconds, as timers use it.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Converts milliseconds of the worker's clock to the type that eddy-upstream uses.
pub(crate) fn now(now_ms: u64) -> Duration {
    Duration::from_millis(now_ms)
}
