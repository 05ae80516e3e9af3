//! Driver of an exchange: runs it through its phases.

use std::rc::Rc;

use eddy_io::Pool;

use crate::downstream::Downstream;
use crate::exchange::context::ExchangeCx;
use crate::exchange::finish::ConnectionDisposition;
use crate::exchange::phase::ExchangePhase;
use crate::exchange::state::Exchange;
use crate::exchange::{attempt, filter, finish, head, reply, route, rules, transfer, tunnel, upload_wait};
use crate::resolved::{Route, WorkerListener};
use crate::worker::Worker;

/// Maximum number of exchanges kept for reuse by a worker, each some kilobytes.
const EXCHANGES_IDLE_MAX: usize = 256;

thread_local! {
    /// Memory of the exchanges that have ended on this thread. Boxed, as moving one would copy kilobytes.
    static EXCHANGES: Pool<Box<Exchange>, EXCHANGES_IDLE_MAX> = const { Pool::new() };
}

/// Runs an exchange from its first byte to its access log entry. `listener` is that of the plan in force.
pub(crate) async fn run_exchange(
    worker: &Rc<Worker>,
    listener: Rc<WorkerListener>,
    down: &mut Downstream,
) -> ConnectionDisposition {
    let mut exchange = EXCHANGES.with(Pool::take);
    down.requests += 1;
    let mut ctx = ExchangeCx {
        worker,
        down,
        exchange: &mut exchange,
        plan: worker.plan(),
        listener,
        route: Route::default(),
    };
    let next = run_phases(&mut ctx).await;
    drop(ctx);
    if let Some(handle) = exchange.filtering.handle.take() {
        // The session ended before the exchange did; no message may reach it any more.
        worker.crossing.slots.borrow_mut().close(&worker.crossing.host.table, handle);
    }
    worker.buffers.release(&mut exchange.response_input);
    EXCHANGES.with(|pool| pool.put(exchange));
    next
}

async fn run_phases(ctx: &mut ExchangeCx<'_>) -> ConnectionDisposition {
    let mut count = Some(ctx.worker.series.exchanges.hold());
    let mut phase = ExchangePhase::Head;
    loop {
        phase = match phase {
            ExchangePhase::Head => match head::read(ctx).await {
                Some(phase) => phase,
                // The client closed the connection between two requests; there is no exchange to log.
                None => return ConnectionDisposition::Close,
            },
            ExchangePhase::Rules => rules::apply(ctx),
            ExchangePhase::Route => route::choose(ctx),
            ExchangePhase::Filter => filter::request(ctx).await,
            ExchangePhase::Endpoint => attempt::choose(ctx),
            // Boxed, so that exchanges that need not wait reserve no space for it.
            ExchangePhase::Upload(cluster) => Box::pin(upload_wait::wait(ctx, cluster)).await,
            // Boxed: a link at hand is taken without waiting.
            ExchangePhase::Link(chosen) => Box::pin(attempt::link(ctx, *chosen)).await,
            ExchangePhase::HedgedLink => Box::pin(attempt::race(ctx)).await,
            ExchangePhase::Transfer(attempt) => transfer::run(ctx, attempt).await,
            ExchangePhase::Tunnel(attempt) => {
                // A tunnel may last for days and needs few resources: it counts as a connection, not as an exchange.
                drop(count.take());
                // Boxed, so that exchanges without a tunnel reserve no space for it.
                Box::pin(tunnel::pass(ctx, attempt)).await
            }
            ExchangePhase::Reply => reply::send(ctx).await,
            ExchangePhase::Finish => return finish::finish(ctx),
        };
    }
}
