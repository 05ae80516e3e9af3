//! Events of filters outside of exchanges: results of their own requests, and wake-ups.

use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use eddy_filter::{CallBond, EventKind, FilterEvent, FilterLibrary, Wake};
use eddy_http::Fields;
use eddy_ids::Millis;
use eddy_upstream::client::WholeResponse;
use tokio::time::{sleep, timeout};

use crate::host::OutboundOrder;
use crate::outbound::fetch::{Reason, fetch};
use crate::worker::Worker;

/// Executes an order and reports its result, unless the filter has cancelled it.
pub(crate) async fn serve(worker: Rc<Worker>, order: OutboundOrder) {
    let library = worker.crossing.host.library(order.filter);
    let limit = order.timeout.as_duration();
    let given_up = Arc::clone(&order.given_up);
    let ended = {
        let mut fetching = pin!(timeout(limit, fetch(&worker, &order)));
        let mut leaving = pin!(given_up.notified());
        loop {
            tokio::select! {
                answer = &mut fetching => break answer.unwrap_or(Err("timeout")),
                () = &mut leaving => return,
                () = worker.ticked.notified() => {
                    if let Some(why) = abandoned(&worker, &order) {
                        break Err(why);
                    }
                }
            }
        }
    };
    // A filter that cancels at this moment gets no further event; otherwise this is the only report of the end.
    if !worker.crossing.host.orders.end(order.filter, order.token) {
        return;
    }
    let Some(library) = library else { return };
    report(&worker, &*library, &order, &ended);
}

/// Returns the reason why the end of its exchange ends an order, if it does.
pub(super) fn abandoned(worker: &Worker, order: &OutboundOrder) -> Option<Reason> {
    let host = &worker.crossing.host;
    if order.exchange.is_none_or(|exchange| host.table.is_open(exchange)) {
        return None;
    }
    match order.bond {
        CallBond::Awaited => Some("exchange_over"),
        CallBond::Lasting => (!host.outlives(order)).then_some("too_many_background_calls"),
        CallBond::Background => None,
    }
}

fn report(
    worker: &Worker,
    library: &dyn FilterLibrary,
    order: &OutboundOrder,
    ended: &Result<WholeResponse, Reason>,
) {
    let event = FilterEvent {
        kind: EventKind::Response,
        filter: order.filter,
        token: order.token,
        worker: worker.number(),
        status: 0,
        fields: Fields::default(),
        body: &[],
    };
    match ended {
        Ok(answer) => {
            let fields = answer.head.fields(&answer.head_bytes);
            library.event(&FilterEvent { status: answer.head.status, fields, body: &answer.body, ..event });
        }
        Err(reason) => {
            library.event(&FilterEvent { kind: EventKind::Failed, body: reason.as_bytes(), ..event })
        }
    }
}

/// Wakes a library after the requested time, if it is still in use then.
pub(crate) async fn wake(worker: Rc<Worker>, wake: Wake) {
    if wake.after > Millis::ZERO {
        #[expect(
            clippy::disallowed_methods,
            reason = "the filter has requested to be woken after this time"
        )]
        sleep(wake.after.as_duration()).await;
    }
    let Some(library) = wake.library.upgrade() else { return };
    // Marks the filter as running, so that a hang can be attributed to it.
    let current = &worker.page.worker(worker.index).filter;
    current.store(wake.filter, Relaxed);
    library.event(&FilterEvent {
        kind: EventKind::Woken,
        filter: wake.filter,
        token: wake.token,
        worker: wake.worker,
        status: 0,
        fields: Fields::default(),
        body: &[],
    });
    current.store(0, Relaxed);
}
