//! Takes an exchange through its phases.

use std::rc::Rc;

use eddy_config::Action;

use crate::exchange::phase::ExchangePhase;
use crate::exchange::state::Exchange;
use crate::exchange::{attempt, filter, finish, head, reply, route, rules, transfer, tunnel, upload_wait};
use crate::plan::ListenerPlan;
use crate::session::Downstream;
use crate::worker::{ListenerHandle, Worker, WorkerPlan};

/// What becomes of the client's connection after an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionDisposition {
    /// Another request may follow.
    KeepAlive,
    /// Nothing more comes from either side.
    Close,
    /// Nothing more comes from us, but the client may still be sending.
    Linger,
    /// The answer is incomplete, and the client must not take it for a whole one.
    Abort,
}

/// What every phase works with.
pub(crate) struct ExchangeCx<'a> {
    pub(crate) worker: &'a Rc<Worker>,
    pub(crate) down: &'a mut Downstream,
    pub(crate) exchange: &'a mut Exchange,
    /// The plan the exchange began with and ends on.
    pub(crate) plan: Rc<WorkerPlan>,
    /// The listener's index in that plan.
    pub(crate) index: usize,
}

impl ExchangeCx<'_> {
    /// The listener in the exchange's plan.
    pub(crate) fn listener(&self) -> &ListenerPlan {
        self.plan.listener(self.index).expect("the index was found in this plan, and a plan never changes")
    }

    /// What the winning rule does; nothing before there is one, and for the demo endpoint.
    pub(crate) fn action(&self) -> Option<&Action> {
        self.plan.plan.action(self.exchange.action)
    }
}

/// Takes an exchange from its first byte to its record.
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
                // The client left between two requests; there is no exchange to tell of.
                None => return ConnectionDisposition::Close,
            },
            ExchangePhase::Rules => rules::apply(&mut ctx),
            ExchangePhase::Route => route::choose(&mut ctx),
            ExchangePhase::Filter => filter::request(&mut ctx).await,
            ExchangePhase::Endpoint => attempt::choose(&mut ctx),
            // Apart, so that exchanges that need not wait have no room for it.
            ExchangePhase::Upload => Box::pin(upload_wait::wait(&mut ctx)).await,
            ExchangePhase::Link => attempt::link(&mut ctx).await,
            ExchangePhase::Transfer => transfer::run(&mut ctx).await,
            ExchangePhase::Tunnel => {
                // It may last for days and asks for little: connections count it, not exchanges.
                drop(count.take());
                // Apart, so that exchanges that don't end so have no room for it.
                Box::pin(tunnel::pass(&mut ctx)).await
            }
            ExchangePhase::Reply => reply::send(&mut ctx).await,
            ExchangePhase::Finish => return finish::finish(&mut ctx),
        };
    }
}

/// Counts an exchange while it goes on.
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
