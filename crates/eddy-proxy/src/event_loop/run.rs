//! Worker thread: builds its event loop, accepts connections, and carries out the gateway's commands.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use eddy_ids::Millis;
use eddy_io::monotonic_time;
use eddy_upstream::health::UnhealthySet;
use eddy_upstream::{EndpointSet, Rng};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::mpsc::{Receiver, UnboundedSender};
use tokio::sync::watch;
use tokio::task::{AbortHandle, unconstrained};

use crate::error::ProxyError;
use crate::event_loop::accept::{AcceptSource, accept};
use crate::event_loop::sockets::Sockets;
use crate::event_loop::state::{Loop, ServedListener};
use crate::event_loop::tick::tick;
use crate::host::WorkerMessage;
use crate::outbound;
use crate::plan::GatewayPlan;
use crate::report::{ClusterView, view};
use crate::resolved::{Resolution, RetiredParts, WorkerShare};
use crate::runtime::{Slice, step_in_slices};
use crate::session::take_datagrams;
use crate::stats::PlanSeries;
use crate::upstream::{EndpointSets, WorkerCluster};
use crate::worker::{Worker, WorkerParts};

/// Parameters of a worker's thread.
pub(crate) struct Start {
    pub(crate) parts: WorkerParts,
    pub(crate) first: Apply,
    pub(crate) commands: Receiver<WorkerCommand>,
    /// Takes plans that are not used any more.
    pub(crate) plans: UnboundedSender<Arc<GatewayPlan>>,
}

/// A plan to apply, and the sockets that go with it.
pub(crate) struct Apply {
    pub(crate) plan: Arc<GatewayPlan>,
    pub(crate) series: PlanSeries,
    pub(crate) sockets: Arc<Sockets>,
    /// Endpoints of each cluster, with updates.
    pub(crate) endpoints: EndpointSets,
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
pub(crate) fn run(start: Start) -> io::Result<()> {
    let runtime =
        Builder::new_current_thread().enable_io().enable_time().build_local(LocalOptions::default())?;
    runtime.block_on(serve(start));
    Ok(())
}

async fn serve(start: Start) {
    let Start { parts, first, mut commands, plans } = start;
    let mut rng = Rng::from_entropy();
    let retired = RetiredParts::new(plans);
    let Apply { plan, series, sockets, endpoints, unhealthy, done } = first;
    let idle_watch = Arc::clone(&parts.services.idle_watch);
    let share = WorkerShare { series, endpoints, idle_watch, retired: Rc::clone(&retired) };
    // Not kept here: the first plan is freed with its last exchange, like every later one.
    let (plan, endpoints) = Resolution::begin(plan, share, None).finish(&mut rng);
    let worker = Worker::new(parts, Rc::new(plan), rng, monotonic_time());
    let state = Rc::new(Loop {
        worker,
        sockets: RefCell::new(sockets),
        listeners: RefCell::default(),
        drained: RefCell::default(),
        accepting: RefCell::default(),
        taking: RefCell::default(),
        following: RefCell::default(),
        retired,
    });
    tokio::task::spawn_local(tick(Rc::clone(&state)));
    tokio::task::spawn_local(receive_filter_messages(Rc::clone(&state.worker)));
    tokio::task::spawn_local(outbound::ship(Rc::clone(&state.worker)));
    tokio::task::spawn_local(admit(Rc::clone(&state.worker)));
    // All idle links are checked in one turn.
    tokio::task::spawn_local(unconstrained(watch_idle_links(Rc::clone(&state.worker))));
    // The gateway may have given up waiting; the plan is in force all the same.
    let _ = done.send(state.listen());
    tokio::task::spawn_local(free_retired(Rc::clone(&state)));
    state.follow_endpoints(endpoints, unhealthy).await;
    while let Some(command) = commands.recv().await {
        if let WorkerCommand::Stop = command {
            break;
        }
        state.handle_command(command).await;
    }
    state.worker.access.borrow_mut().flush(&state.worker.series);
    let unsent = state.worker.records.waiting();
    if unsent > 0 {
        tracing::warn!(records = unsent, "the last entries were not sent to the access log service");
    }
}

/// Puts the settings of a cluster in force, and returns the tasks that apply updates to it.
fn follow(
    cluster: &Rc<WorkerCluster>,
    mut endpoints: watch::Receiver<Arc<EndpointSet>>,
    mut unhealthy: watch::Receiver<Arc<UnhealthySet>>,
) -> impl Iterator<Item = AbortHandle> {
    cluster.settle();
    cluster.set_unhealthy(Arc::clone(&unhealthy.borrow_and_update()));
    let by_health = cluster.config.health.is_some().then(|| {
        let cluster = Rc::clone(cluster);
        tokio::task::spawn_local(async move {
            while unhealthy.changed().await.is_ok() {
                cluster.set_unhealthy(Arc::clone(&unhealthy.borrow_and_update()));
            }
        })
    });
    let by_name = cluster.config.has_names().then(|| {
        let cluster = Rc::clone(cluster);
        tokio::task::spawn_local(async move {
            while endpoints.changed().await.is_ok() {
                cluster.update(Arc::clone(&endpoints.borrow_and_update()));
            }
        })
    });
    [by_health, by_name].into_iter().flatten().map(|task| task.abort_handle())
}

/// Closes idle upstream connections as soon as their endpoints do, until the worker's event loop ends.
async fn watch_idle_links(worker: Rc<Worker>) {
    loop {
        worker.idle_watch.notified().await;
        worker.plan().clusters.iter().for_each(|cluster| cluster.close_unusable());
    }
}

/// Frees parts of plans that are not used any more, until the worker's event loop ends.
async fn free_retired(state: Rc<Loop>) {
    loop {
        state.retired.wake.notified().await;
        step_in_slices(&state.worker.series, || state.retired.free_one()).await;
    }
}

/// Reports the clusters of the plan in force, slice by slice.
async fn report(worker: Rc<Worker>, reply: Sender<Vec<ClusterView>>) {
    let (plan, now) = (worker.plan(), monotonic_time());
    let mut views = Vec::with_capacity(plan.clusters.len());
    let mut clusters = plan.clusters.iter();
    step_in_slices(&worker.series, || {
        clusters.next().map(|cluster| views.push(view(cluster, now))).is_some()
    })
    .await;
    // The gateway may have given up waiting.
    let _ = reply.send(views);
}

/// Delivers messages that filters send from other threads, until the worker's event loop ends.
async fn receive_filter_messages(worker: Rc<Worker>) {
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
                WorkerMessage::Ordered(order) => match order.upload.clone() {
                    Some(upload) => {
                        tokio::task::spawn_local(outbound::serve_stream(Rc::clone(&worker), order, upload));
                    }
                    None => {
                        tokio::task::spawn_local(outbound::serve(Rc::clone(&worker), order));
                    }
                },
                WorkerMessage::Wake(wake) => {
                    tokio::task::spawn_local(outbound::wake(Rc::clone(&worker), wake));
                }
            }
        }
    }
}

impl Loop {
    async fn handle_command(self: &Rc<Self>, command: WorkerCommand) {
        let worker = &self.worker;
        match command {
            WorkerCommand::Apply(apply) => self.adopt(apply).await,
            WorkerCommand::Drain(done) => {
                worker.is_draining.set(true);
                // The accepting tasks take the connections that already wait, and then close their sockets.
                worker.lifecycle_changed.notify_waiters();
                self.close_listeners();
                self.sockets.replace(Arc::default());
                self.drained.replace(Some(done));
            }
            WorkerCommand::CloseIdle => {
                worker.timers.shed(usize::MAX, Millis::ZERO);
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

    /// Puts a plan in force: it is resolved in slices beside the plan before, takes its place in one turn, and its
    /// clusters then follow their endpoints.
    async fn adopt(self: &Rc<Self>, apply: Apply) {
        let worker = &self.worker;
        let Apply { plan, series, sockets, endpoints, unhealthy, done } = apply;
        let share = WorkerShare {
            series,
            endpoints,
            idle_watch: Arc::clone(&worker.idle_watch),
            retired: Rc::clone(&self.retired),
        };
        let mut resolution = Resolution::begin(plan, share, Some(worker.plan()));
        step_in_slices(&worker.series, || resolution.step(&mut worker.rng.borrow_mut())).await;
        let (result, endpoints) = Slice::run(&worker.series, |_| {
            let (next, endpoints) = resolution.finish(&mut worker.rng.borrow_mut());
            worker.follow(Rc::new(next));
            self.sockets.replace(sockets);
            let result = self.listen();
            worker.lifecycle_changed.notify_waiters();
            (result, endpoints)
        });
        // The gateway may have given up waiting; the plan is in force all the same.
        let _ = done.send(result);
        self.follow_endpoints(endpoints, unhealthy).await;
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

    /// Applies updates of each cluster's endpoints and of their health from now on.
    async fn follow_endpoints(
        &self,
        endpoints: EndpointSets,
        unhealthy: Vec<watch::Receiver<Arc<UnhealthySet>>>,
    ) {
        let worker = &self.worker;
        let plan = worker.plan();
        step_in_slices(&worker.series, || {
            let task = self.following.borrow_mut().pop();
            task.inspect(AbortHandle::abort).is_some()
        })
        .await;
        let mut parts = plan.clusters.iter().zip(endpoints).zip(unhealthy);
        step_in_slices(&worker.series, || {
            let Some(((cluster, endpoints), unhealthy)) = parts.next() else { return false };
            self.following.borrow_mut().extend(follow(cluster, endpoints, unhealthy));
            true
        })
        .await;
    }

    fn stop_accepting(&self) {
        self.accepting.borrow_mut().drain(..).for_each(|task| task.abort());
        self.close_listeners();
    }

    fn close_listeners(&self) {
        self.taking.borrow_mut().drain(..).for_each(|task| task.abort());
    }
}

/// Admits waiting requests, round after round of the event loop.
async fn admit(worker: Rc<Worker>) {
    loop {
        worker.admission.stirred.notified().await;
        while worker.admission.admit_round() > 0 {
            // The loop returns to this task when the admitted requests, and all other ready tasks, have had their turn.
            tokio::task::yield_now().await;
        }
    }
}
