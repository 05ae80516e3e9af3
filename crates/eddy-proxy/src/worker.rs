//! State owned by one worker; nothing in it is shared on the request path.

use std::cell::RefCell;
use std::ops::Deref;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use eddy_ids::WorkerTime;
use eddy_upstream::Rng;

use crate::access::{AccessWriter, RecordQueue, SessionRecord};
use crate::host::{FilterHost, WorkerFilterState};
use crate::resolved::WorkerPlan;
use crate::runtime::{ReleaseIdle, ServiceParts, WorkerServices};

/// One worker: its services, its plan, and what it needs to log and to call filters.
pub(crate) struct Worker {
    services: Rc<WorkerServices>,
    pub(crate) access: RefCell<AccessWriter>,
    /// Access log entries queued for the log service.
    pub(crate) records: RecordQueue,
    pub(crate) crossing: WorkerFilterState,
    plan: RefCell<Rc<WorkerPlan>>,
}

/// Parts from which a worker is created.
pub(crate) struct WorkerParts {
    pub(crate) services: ServiceParts,
    pub(crate) access: AccessWriter,
    pub(crate) host: Arc<FilterHost>,
}

impl Worker {
    /// Creates a worker that runs on `plan`.
    pub(crate) fn new(parts: WorkerParts, plan: Rc<WorkerPlan>, rng: Rng, now: WorkerTime) -> Rc<Self> {
        Rc::new(Self {
            services: WorkerServices::new(parts.services, idle_links(&plan), rng, now),
            access: RefCell::new(parts.access),
            records: RecordQueue::default(),
            crossing: WorkerFilterState::new(parts.host),
            plan: RefCell::new(plan),
        })
    }

    /// Returns the plan in force.
    pub(crate) fn plan(&self) -> Rc<WorkerPlan> {
        Rc::clone(&self.plan.borrow())
    }

    /// Puts another plan in force.
    pub(crate) fn follow(&self, plan: Rc<WorkerPlan>) {
        self.services.idle_links.replace(idle_links(&plan));
        self.plan.replace(plan);
    }

    /// Writes the access log entry of a forwarded connection or session.
    pub(crate) fn log_session(&self, passage: &SessionRecord<'_>) {
        passage.write(&self.plan().plan, &mut self.access.borrow_mut(), &self.series);
    }

    /// Whether another exchange may begin.
    pub(crate) fn admits(&self, plan: &WorkerPlan) -> bool {
        let exchanges_max = self.share_of(plan.plan.config.settings.limits.exchanges_max);
        self.series.exchanges.value() <= exchanges_max.into() && !self.pressure.is_high()
    }
}

impl Deref for Worker {
    type Target = Rc<WorkerServices>;

    fn deref(&self) -> &Rc<WorkerServices> {
        &self.services
    }
}

fn idle_links(plan: &Rc<WorkerPlan>) -> Weak<dyn ReleaseIdle> {
    let plan: Weak<WorkerPlan> = Rc::downgrade(plan);
    plan
}
