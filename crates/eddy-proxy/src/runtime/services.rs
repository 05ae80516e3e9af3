//! Services of a worker for everything that runs on it: timers, buffers, counters, random numbers.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use eddy_http::{DATE_BYTES, Egress, format_date};
use eddy_ids::{Millis, WorkerTime};
use eddy_io::{BufferPool, PipePool, SharedPage, SharedPipes, Timers, unix_seconds};
use eddy_route::RouteScratch;
use eddy_upstream::Rng;
use tokio::sync::Notify;

use crate::runtime::admission::AdmissionQueue;
use crate::runtime::overload::{Pressure, Room};
use crate::stats::WorkerSeries;

/// Services of one worker. They know no plan, cluster or request.
pub(crate) struct WorkerServices {
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
    pub(crate) route: RefCell<RouteScratch>,
    pub(crate) egress: RefCell<Egress>,
    pub(crate) admission: AdmissionQueue,
    /// Notified at each tick, for tasks that wait for capacity.
    pub(crate) ticked: Notify,
    /// Notified when a drain begins or another plan is applied, for sessions that announce their end to clients.
    pub(crate) lifecycle_changed: Notify,
    /// Notified when something happens on an idle upstream connection.
    pub(crate) idle_watch: Arc<Notify>,
    /// Number of mirror copies in progress.
    pub(crate) mirrors: Cell<u32>,
    /// Whether the worker drains: responses announce the end of their connection, and nothing new is accepted.
    pub(crate) is_draining: Cell<bool>,
    /// A second since 1970, and its `Date`.
    date: Cell<(u64, [u8; DATE_BYTES])>,
    /// Owner of the idle upstream connections.
    pub(crate) idle_links: RefCell<Weak<dyn ReleaseIdle>>,
}

/// Owner of idle upstream connections, which can be closed without loss.
pub(crate) trait ReleaseIdle {
    /// Closes all of them.
    fn release_idle(&self);
}

/// Parts from which the services of a worker are created.
pub(crate) struct ServiceParts {
    pub(crate) index: usize,
    pub(crate) workers: usize,
    pub(crate) page: Arc<SharedPage>,
    pub(crate) pressure: Arc<Pressure>,
    pub(crate) room: Arc<Room>,
    pub(crate) series: Arc<WorkerSeries>,
    pub(crate) pipes: Arc<SharedPipes>,
    pub(crate) idle_watch: Arc<Notify>,
}

impl WorkerServices {
    /// Creates the services of a worker.
    pub(crate) fn new(
        parts: ServiceParts,
        idle_links: Weak<dyn ReleaseIdle>,
        rng: Rng,
        now: WorkerTime,
    ) -> Rc<Self> {
        Rc::new(Self {
            index: parts.index,
            workers: parts.workers,
            page: parts.page,
            pressure: parts.pressure,
            room: parts.room,
            series: parts.series,
            timers: Timers::new(now),
            buffers: BufferPool::default(),
            pipes: PipePool::new(parts.pipes),
            rng: RefCell::new(rng),
            route: RefCell::new(RouteScratch::new()),
            egress: RefCell::new(Egress::new()),
            admission: AdmissionQueue::default(),
            ticked: Notify::new(),
            lifecycle_changed: Notify::new(),
            idle_watch: parts.idle_watch,
            mirrors: Cell::new(0),
            is_draining: Cell::new(false),
            date: Cell::new((0, format_date(0))),
            idle_links: RefCell::new(idle_links),
        })
    }

    /// Returns the worker's index as filters see it.
    pub(crate) fn number(&self) -> u16 {
        u16::try_from(self.index).expect("there are at most 256 workers")
    }

    /// Returns this worker's share of a limit of the whole gateway; at least 1.
    pub(crate) fn share_of(&self, limit: u32) -> u32 {
        let workers = u32::try_from(self.workers).expect("there are at most 256 workers");
        limit.div_ceil(workers).max(1)
    }

    /// Returns the current `Date`.
    pub(crate) fn date(&self) -> [u8; DATE_BYTES] {
        let now = unix_seconds();
        let (second, date) = self.date.get();
        if second == now {
            return date;
        }
        let date = format_date(now);
        self.date.set((now, date));
        date
    }

    /// Frees descriptors that can be closed without loss: all idle links, and up to `connections` idle downstream
    /// connections.
    ///
    /// # Cost
    /// Linear in the connections of the worker.
    pub(crate) fn free_descriptors(&self, connections: usize) {
        let idle_links = self.idle_links.borrow().upgrade();
        if let Some(idle_links) = idle_links {
            idle_links.release_idle();
        }
        self.close_idle(connections, Millis::ZERO);
    }

    /// Closes up to `connections` connections that have been idle for `idle`, the longest idle first.
    ///
    /// # Cost
    /// Linear in the connections of the worker.
    pub(crate) fn close_idle(&self, connections: usize, idle: Millis) {
        self.series.idle_closed.add(self.timers.shed(connections, idle) as u64);
    }
}
