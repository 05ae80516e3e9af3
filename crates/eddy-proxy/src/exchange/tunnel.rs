//! Relay between client and endpoint once their connections form a tunnel.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;

use eddy_ids::{Millis, WorkerTime};

use crate::downstream::{DuplexRelay, RelayDeadlines, RelayEnd};
use crate::exchange::attempt::{Attempt, PooledAttempt};
use crate::exchange::context::ExchangeCx;
use crate::exchange::phase::ExchangePhase;
use crate::fault::Fault;

/// Relays bytes until both sides have ended, one side breaks off, the tunnel is idle for too long, or its configuration
/// was replaced too long ago.
pub(crate) async fn pass(ctx: &mut ExchangeCx<'_>, attempt: PooledAttempt) -> ExchangePhase {
    let Attempt { mut upstream, guard, .. } = attempt.into_attempt();
    let timeouts = ctx.listener.config.timeouts;
    let action = ctx.route.action();
    let idle = action.and_then(|action| action.upgrades.idle_timeout).unwrap_or(timeouts.tunnel);
    let (idle_timeout, reload_timeout) = (Millis::of(idle), Millis::of(timeouts.tunnel_reload));
    let listener = Rc::clone(&ctx.listener);
    listener.series.tunnels_opened.increment();
    let _open = listener.series.tunnels.hold();
    let ExchangeCx { down, exchange, worker, plan, .. } = ctx;
    let mut relay = DuplexRelay::default();
    relay.up.buffer = std::mem::take(&mut down.input);
    relay.down.buffer = std::mem::take(&mut exchange.response_input);
    let (client, endpoint, timer) = (down.wire.duplex(), upstream.duplex(), &down.timer);
    let mut lifecycle_changed = pin!(worker.lifecycle_changed.notified());
    let mut deadline = WorkerTime::NEVER;
    let end = poll_fn(|cx| {
        while lifecycle_changed.as_mut().poll(cx).is_ready() {
            lifecycle_changed.set(worker.lifecycle_changed.notified());
        }
        if deadline == WorkerTime::NEVER && !Rc::ptr_eq(plan, &worker.plan()) {
            deadline = worker.timers.now() + reload_timeout;
        }
        relay.poll(cx, client, endpoint, worker, RelayDeadlines { timer, idle_timeout, deadline })
    });
    let end = end.await;
    exchange.upload.data_bytes += relay.up.moved;
    exchange.answer.written_bytes += relay.down.moved;
    exchange.fault = match end {
        RelayEnd::Complete => None,
        RelayEnd::ClientGone => Some(Fault::ClientGone),
        RelayEnd::UpstreamGone => Some(Fault::ResponseCut),
        RelayEnd::Idle => Some(Fault::TunnelIdle),
        RelayEnd::DeadlinePassed => Some(Fault::TunnelReload),
    };
    if exchange.fault.is_some() {
        // Neither side may mistake truncated data for complete data.
        upstream.duplex().cut();
        down.wire.duplex().cut();
    }
    drop((upstream, guard));
    exchange.end_attempts(&worker.buffers);
    ExchangePhase::Finish
}
