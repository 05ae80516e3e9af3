//! Driver of an exchange: runs it through its phases.

use std::rc::Rc;

use eddy_config::Action;

use crate::exchange::phase::ExchangePhase;
use crate::exchange::state::Exchange;
use crate::exchange::{attempt, filter, finish, head, reply, route, rules, transfer, tunnel, upload_wait};
use crate::plan::ListenerPlan;
use crate::session::Downstream;
use crate::worker::{ListenerHandle, Worker, WorkerPlan};

/// Fate of the client's connection after an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionDisposition {
    /// Another request may follow.
    KeepAlive,
    /// Neither side sends anything more.
    Close,
    /// eddy sends nothing more, but the client may still be sending.
    Linger,
    /// The response is incomplete, and the client must not mistake it for a complete one.
    Abort,
}

/// Context of every phase.
pub(crate) struct ExchangeCx<'a> {
    pub(crate) worker: &'a Rc<Worker>,
    pub(crate) down: &'a mut Downstream,
    pub(crate) exchange: &'a mut Exchange,
    /// Plan that the exchange began with and ends on.
    pub(crate) plan: Rc<WorkerPlan>,
    /// Index of the listener in that plan.
    pub(crate) index: usize,
}

impl ExchangeCx<'_> {
    /// Returns the listener in the exchange's plan.
    pub(crate) fn listener(&self) -> &ListenerPlan {
        self.plan.listener(self.index).expect("the index was found in this plan, and a plan never changes")
    }

    /// Returns the action of the matching rule; `None` before a rule is found, and for the demo endpoint.
    pub(crate) fn action(&self) -> Option<&Action> {
        self.plan.plan.action(self.exchange.action)
    }
}

/// Runs an exchange from its first byte to its access log entry.
pub(crate) async fn run_exchange(
    worker: &Rc<Worker>,
    handle: &ListenerHandle,
    down: &mut Downstream,
    exchange: &mut Exchange,
) -> ConnectionDisposition {
    let plan = worker.plan();
    let Some(index) = handle.index.get() else { return ConnectionDisposition::Close };
    let mut count = Some(ExchangeCountGuard::begin(worker));
    down.requests += 1;
    let mut ctx = ExchangeCx { worker, down, exchange, plan, index };
    let mut phase = ExchangePhase::Head;
    loop {
        phase = match phase {
            ExchangePhase::Head => match head::read(&mut ctx).await {
                Some(phase) => phase,
                // The client closed the connection between two requests; there is no exchange to log.
                None => return ConnectionDisposition::Close,
            },
            ExchangePhase::Rules => rules::apply(&mut ctx),
            ExchangePhase::Route => route::choose(&mut ctx),
            ExchangePhase::Filter => filter::request(&mut ctx).await,
            ExchangePhase::Endpoint => attempt::choose(&mut ctx),
            // Boxed, so that exchanges that need not wait reserve no space for it.
            ExchangePhase::Upload => Box::pin(upload_wait::wait(&mut ctx)).await,
            ExchangePhase::Link => attempt::link(&mut ctx).await,
            ExchangePhase::Transfer => transfer::run(&mut ctx).await,
            ExchangePhase::Tunnel => {
                // A tunnel may last for days and needs few resources: it counts as a connection, not as an exchange.
                drop(count.take());
                // Boxed, so that exchanges without a tunnel reserve no space for it.
                Box::pin(tunnel::pass(&mut ctx)).await
            }
            ExchangePhase::Reply => reply::send(&mut ctx).await,
            ExchangePhase::Finish => return finish::finish(&mut ctx),
        };
    }
}

/// Counts an exchange until dropped.
struct ExchangeCountGuard<'a>(&'a Worker);

impl<'a> ExchangeCountGuard<'a> {
    fn begin(worker: &'a Worker) -> Self {
        worker.exchanges.set(worker.exchanges.get() + 1);
        worker.series.exchanges.increment();
        Self(worker)
    }
}

impl Drop for ExchangeCountGuard<'_> {
    fn drop(&mut self) {
        self.0.exchanges.set(self.0.exchanges.get() - 1);
        self.0.series.exchanges.decrement();
    }
}
