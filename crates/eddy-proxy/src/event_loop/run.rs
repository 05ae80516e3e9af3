//! Worker thread: builds its event loop, accepts connections, and carries out the gateway's commands.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use eddy_io::monotonic_ms;
use eddy_upstream::health::UnhealthySet;
use eddy_upstream::{EndpointSet, Rng};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::mpsc::Receiver;
use tokio::sync::watch;
use tokio::task::unconstrained;

use crate::error::ProxyError;
use crate::event_loop::accept::{AcceptSource, accept};
use crate::event_loop::admit::admit;
use crate::event_loop::sockets::SocketTable;
use crate::event_loop::state::{Loop, ServedListener};
use crate::event_loop::tick::tick;
use crate::host::WorkerMessage;
use crate::outbound;
use crate::plan::GatewayPlan;
use crate::report::{ClusterView, view};
use crate::resolved::Resolution;
use crate::runtime::{Slice, run_in_slices};
use crate::session::take_datagrams;
use crate::stats::PlanSeries;
use crate::upstream::WorkerClusters;
use crate::worker::{Worker, WorkerParts};

/// Parameters of a worker's thread.
pub(crate) struct Start {
    pub(crate) parts: WorkerParts,
    pub(crate) first: Apply,
    pub(crate) commands: Receiver<WorkerCommand>,
}

/// A plan to apply, and the sockets that go with it.
pub(crate) struct Apply {
    pub(crate) plan: Arc<GatewayPlan>,
    pub(crate) series: PlanSeries,
    pub(crate) sockets: Arc<SocketTable>,
    /// Endpoints of each cluster, with updates.
    pub(crate) endpoints: Vec<watch::Receiver<Arc<EndpointSet>>>,
    /// Unhealthy endpoints of each cluster, with updates.
    pub(crate) unhealthy: Vec<watch::Receiver<Arc<UnhealthySet>>>,
    /// Result: whether the plan is in force.
    pub(crate) done: Sender<Result<(), ProxyError>>,
}

/// Command of the gateway to a worker.
pub(crate) enum WorkerCommand {
    /// Apply another plan.
    Apply(Apply),
    /// Stop accepting, announce the end of connections, and report when the last one has ended.
    Drain(Sender<()>),
    /// Close idle connections.
    CloseIdle,
    /// Pass the collected entries to the access log, and drop the sender when it has them.
    FlushRecords(Sender<()>),
    /// Report the state of the clusters on this worker.
    Report(Sender<Vec<ClusterView>>),
    /// End the thread.
    Stop,
}

/// Runs a worker until it receives the stop command.
///
/// # Errors
/// When the event loop cannot be created.
pub(crate) fn run(start: Start) -> io::Result<()> {
    let runtime =
        Builder::new_current_thread().enable_io().enable_time().build_local(LocalOptions::default())?;
    runtime.block_on(serve(start));
    Ok(())
}

async fn serve(start: Start) {
    let Start { parts, first, mut commands } = start;
    let mut rng = Rng::from_entropy();
    // Not kept here: the first plan is freed with its last exchange, like every later one.
    let idle_watch = &parts.services.idle_watch;
    let clusters =
        WorkerClusters::new(&first.plan, &first.series, &first.endpoints, None, idle_watch, &mut rng);
    let plan = Resolution::begin(first.plan, first.series, clusters).finish();
    let worker = Worker::new(parts, Rc::new(plan), rng, monotonic_ms());
    let state = Rc::new(Loop {
        worker,
        sockets: RefCell::new(first.sockets),
        listeners: RefCell::default(),
        drained: RefCell::default(),
        accepting: RefCell::default(),
        taking: RefCell::default(),
        following: RefCell::default(),
    });
    state.follow_endpoints(first.endpoints, first.unhealthy);
    tokio::task::spawn_local(tick(Rc::clone(&state)));
    tokio::task::spawn_local(hear_filters(Rc::clone(&state.worker)));
    tokio::task::spawn_local(outbound::ship(Rc::clone(&state.worker)));
    tokio::task::spawn_local(admit(Rc::clone(&state.worker)));
    // All idle links are checked in one turn.
    tokio::task::spawn_local(unconstrained(watch_idle_links(Rc::clone(&state.worker))));
    // The gateway may have given up waiting; the plan is in force all the same.
    let _ = first.done.send(state.listen());
    while let Some(command) = commands.recv().await {
        if let WorkerCommand::Stop = command {
            break;
        }
        state.handle_command(command);
    }
    state.worker.access.borrow_mut().flush(&state.worker.series);
    let unsent = state.worker.records.waiting();
    if unsent > 0 {
        tracing::warn!(records = unsent, "the last entries were not sent to the access log service");
    }
}

/// Closes idle upstream connections as soon as their endpoints do, until the worker's event loop ends.
async fn watch_idle_links(worker: Rc<Worker>) {
    loop {
        worker.idle_watch.notified().await;
        worker.plan().clusters.iter().for_each(|cluster| cluster.close_disturbed());
    }
}

/// Reports the clusters of the plan in force, slice by slice.
async fn report(worker: Rc<Worker>, reply: Sender<Vec<ClusterView>>) {
    let (plan, now_ms) = (worker.plan(), monotonic_ms());
    let mut views = Vec::with_capacity(plan.clusters.len());
    run_in_slices(&worker.series, |slice| {
        for cluster in plan.clusters.iter().skip(views.len()) {
            views.push(view(cluster, now_ms));
            if slice.is_over() {
                break;
            }
        }
        views.len() == plan.clusters.len()
    })
    .await;
    // The gateway may have given up waiting.
    let _ = reply.send(views);
}

/// Delivers messages that filters send from other threads, until the worker's event loop ends.
async fn hear_filters(worker: Rc<Worker>) {
    let Some(inbox) = worker.crossing.host.inbox(worker.index) else { return };
    let mut messages = Vec::new();
    loop {
        inbox.take(&mut messages).await;
        let mut slots = worker.crossing.slots.borrow_mut();
        for message in messages.drain(..) {
            match message {
                // An exchange that has ended in the meantime needs it no longer.
                WorkerMessage::Resumed(resumed) => {
                    slots.deliver(resumed);
                }
                WorkerMessage::Ordered(order) => {
                    tokio::task::spawn_local(outbound::serve(Rc::clone(&worker), order));
                }
                WorkerMessage::Wake(wake) => {
                    tokio::task::spawn_local(outbound::wake(Rc::clone(&worker), wake));
                }
            }
        }
    }
}

impl Loop {
    fn handle_command(self: &Rc<Self>, command: WorkerCommand) {
        let worker = &self.worker;
        match command {
            WorkerCommand::Apply(apply) => {
                Slice::run(&worker.series, |_| self.apply(apply));
            }
            WorkerCommand::Drain(done) => {
                worker.is_draining.set(true);
                // The accepting tasks take the connections that already wait, and then close their sockets.
                worker.turned.notify_waiters();
                self.stop_taking();
                self.sockets.replace(Arc::default());
                self.drained.replace(Some(done));
            }
            WorkerCommand::CloseIdle => {
                worker.timers.shed(usize::MAX, 0);
            }
            WorkerCommand::FlushRecords(done) => {
                worker.access.borrow_mut().flush(&worker.series);
                tokio::task::spawn_local(outbound::settle(Rc::clone(worker), done));
            }
            WorkerCommand::Report(reply) => {
                tokio::task::spawn_local(report(Rc::clone(worker), reply));
            }
            WorkerCommand::Stop => {}
        }
    }

    /// Puts a plan in force.
    fn apply(self: &Rc<Self>, apply: Apply) {
        let worker = &self.worker;
        let Apply { plan, series, sockets, endpoints, unhealthy, done } = apply;
        let previous = worker.plan();
        let mut rng = worker.rng.borrow_mut();
        let watch = &worker.idle_watch;
        let known = Some(&previous.clusters);
        let clusters = WorkerClusters::new(&plan, &series, &endpoints, known, watch, &mut rng);
        drop(rng);
        let next = Resolution::begin(plan, series, clusters).finish();
        worker.follow(Rc::new(next));
        self.follow_endpoints(endpoints, unhealthy);
        self.sockets.replace(sockets);
        let _ = done.send(self.listen());
        worker.turned.notify_waiters();
    }

    /// Aligns the accepting tasks with the plan: accepts from each listener, and lets the sessions of removed listeners
    /// finish.
    fn listen(self: &Rc<Self>) -> Result<(), ProxyError> {
        let worker = &self.worker;
        self.stop_accepting();
        if worker.is_draining.get() {
            return Ok(());
        }
        let plan = worker.plan();
        let mut served = self.listeners.borrow_mut();
        served.iter().for_each(|listener| listener.handle.follow(None));
        let mut result = Ok(());
        for current in &plan.listeners {
            let address = &current.config.address;
            let known = served.iter().position(|known| known.handle.address == *address);
            let place = known.unwrap_or_else(|| {
                served.push(ServedListener::new(address.clone()));
                served.len() - 1
            });
            let listener = &served[place];
            listener.handle.follow(Some(Rc::clone(current)));
            if let Err(error) = self.accept_from(listener) {
                result = Err(error);
            }
        }
        // Sessions keep the handle of a removed listener; the list need not.
        served.retain(|listener| {
            let is_served = listener.handle.is_served();
            if !is_served {
                listener.flows.iter().for_each(|flows| flows.close());
            }
            is_served
        });
        result
    }

    /// Begins to accept connections or datagrams of a listener.
    fn accept_from(&self, listener: &ServedListener) -> Result<(), ProxyError> {
        let worker = &self.worker;
        let sockets = self.sockets.borrow();
        let ServedListener { handle, flows } = listener;
        let Some(flows) = flows else {
            let listeners = sockets.listeners(&handle.address, worker.index, worker.workers)?;
            let tasks = listeners.into_iter().map(|listener| {
                let task = accept(Rc::clone(worker), Rc::clone(handle), listener, AcceptSource::Own);
                tokio::task::spawn_local(task).abort_handle()
            });
            self.accepting.borrow_mut().extend(tasks);
            return Ok(());
        };
        // The existing sockets are kept: a worker's sockets never change, and sessions send responses from them.
        let listen = || sockets.datagram_listeners(&handle.address, worker.index, worker.workers);
        let tasks = flows.sockets(listen)?.into_iter().map(|socket| {
            let task = take_datagrams(Rc::clone(worker), Rc::clone(handle), Rc::clone(flows), socket);
            tokio::task::spawn_local(task).abort_handle()
        });
        self.taking.borrow_mut().extend(tasks);
        Ok(())
    }

    /// Applies updates of each cluster's endpoints and of their health.
    fn follow_endpoints(
        &self,
        endpoints: Vec<watch::Receiver<Arc<EndpointSet>>>,
        unhealthy: Vec<watch::Receiver<Arc<UnhealthySet>>>,
    ) {
        let plan = self.worker.plan();
        let mut following = self.following.borrow_mut();
        following.drain(..).for_each(|task| task.abort());
        for (cluster, mut unhealthy) in plan.clusters.iter().map(Rc::clone).zip(unhealthy) {
            cluster.set_unhealthy(Arc::clone(&unhealthy.borrow_and_update()), monotonic_ms());
            if cluster.config.health.is_none() {
                continue;
            }
            let task = async move {
                while unhealthy.changed().await.is_ok() {
                    cluster.set_unhealthy(Arc::clone(&unhealthy.borrow_and_update()), monotonic_ms());
                }
            };
            following.push(tokio::task::spawn_local(task).abort_handle());
        }
        for (cluster, mut sets) in plan.clusters.iter().map(Rc::clone).zip(endpoints) {
            if !cluster.config.has_names() {
                continue;
            }
            let worker = Rc::clone(&self.worker);
            let task = async move {
                while sets.changed().await.is_ok() {
                    let set = Arc::clone(&sets.borrow_and_update());
                    cluster.update(set, monotonic_ms(), &mut worker.rng.borrow_mut());
                }
            };
            following.push(tokio::task::spawn_local(task).abort_handle());
        }
    }

    fn stop_accepting(&self) {
        self.accepting.borrow_mut().drain(..).for_each(|task| task.abort());
        self.stop_taking();
    }

    fn stop_taking(&self) {
        self.taking.borrow_mut().drain(..).for_each(|task| task.abort());
    }
}
