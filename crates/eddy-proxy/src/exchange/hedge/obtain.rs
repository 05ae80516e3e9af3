//! Links for attempts that race: whose comes first is at hand first.

use std::future::poll_fn;
use std::task::{Context, Poll};

use crate::exchange::attempt::note_failure_at;
use crate::exchange::drive::Drive;
use crate::exchange::due::Due;
use crate::exchange::hedge::begin::begin_due;
use crate::exchange::hedge::state::{Coming, Entry, Rival};
use crate::exchange::watch::{Watch, poll_patience, until_linked};
use crate::fault::Fault;
use crate::link::Upstream;
use crate::worker::Stay;

/// What has come of an attempt that waited for its link.
pub(crate) enum Came {
    /// The link.
    Linked(Box<Rival>),
    /// None.
    Failed(Stay, Fault),
}

/// Obtains a link for the attempt that begins, or for another that is sent meanwhile; its stay is the exchange's then.
///
/// # Errors
/// Why no attempt got one: what befell the last.
pub(crate) async fn obtain(drive: &mut Drive<'_>) -> Result<Upstream, Fault> {
    let exchange = &mut *drive.exchange;
    if let (Some(hedge), Some(stay)) = (&mut exchange.hedge, exchange.stay.take()) {
        let entry = Entry { due_ms: exchange.attempt_due_ms, source: hedge.source };
        hedge.coming.push(Coming::begin(drive.worker, stay, entry));
    }
    let mut watch = until_linked(exchange);
    poll_fn(|cx| poll_obtain(drive, cx, &mut watch)).await
}

fn poll_obtain(
    drive: &mut Drive<'_>,
    cx: &mut Context<'_>,
    watch: &mut Option<Watch>,
) -> Poll<Result<Upstream, Fault>> {
    begin_due(drive);
    while let Poll::Ready(came) = poll_coming(drive, cx) {
        let exchange = &mut *drive.exchange;
        let Some(hedge) = &mut exchange.hedge else { return Poll::Ready(Err(Fault::NoEndpoint)) };
        match came {
            Came::Linked(rival) => {
                let Rival { stay, upstream, due_ms, source, .. } = *rival;
                hedge.source = source;
                exchange.attempt_due_ms = due_ms;
                exchange.endpoint = Some(stay.address.clone());
                exchange.stay = Some(stay);
                return Poll::Ready(Ok(upstream));
            }
            Came::Failed(stay, fault) if hedge.is_coming() => {
                note_failure_at(&stay, fault, drive.worker.timers.now_ms());
            }
            Came::Failed(stay, fault) => {
                exchange.stay = Some(stay);
                return Poll::Ready(Err(fault));
            }
        }
    }
    let due = Due { at_ms: drive.exchange.due_ms, fault: Fault::ExchangeTimeout };
    let wakes_ms = drive.exchange.hedge.as_ref().map_or(u64::MAX, |hedge| hedge.due_ms);
    let ended = poll_patience(cx, drive.down, drive.worker, watch, due, wakes_ms);
    ended.map(Err)
}

/// Waits for the first of the attempts that have no link yet to get one, or not to.
pub(crate) fn poll_coming(drive: &mut Drive<'_>, cx: &mut Context<'_>) -> Poll<Came> {
    let Some(hedge) = &mut drive.exchange.hedge else { return Poll::Pending };
    for index in 0..hedge.coming.len() {
        let Some(coming) = hedge.coming.get_mut(index) else { break };
        if let Poll::Ready((entry, stay, link)) = coming.poll(cx) {
            hedge.coming.swap_remove(index);
            let now_ms = drive.worker.timers.now_ms();
            return Poll::Ready(match link {
                Ok(upstream) => Came::Linked(Box::new(Rival::new(entry, stay, upstream, now_ms))),
                Err(fault) => Came::Failed(stay, fault),
            });
        }
    }
    Poll::Pending
}
