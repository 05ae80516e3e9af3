//! What becomes of an attempt whose messages have been moved, or that has failed.

use crate::exchange::attempt::{note_failure, retry_or_fail};
use crate::exchange::filter;
use crate::exchange::phase;
use crate::exchange::transfer::race::give_up;
use crate::exchange::transfer::run::Transfer;
use crate::fault::Fault;
use crate::link::Upstream;

impl Transfer<'_, '_> {
    /// Gives the link back, has the tunnel begin, tries again, or answers the fault.
    pub(super) fn end(self, result: Result<(), Fault>) -> phase::Phase {
        let Self { drive, upstream, upstream_moved_ms, .. } = self;
        match result {
            Ok(()) if drive.exchange.upgrade.is_done() => {
                drive.exchange.upstream = Some(upstream);
                // A tunnel may last for days.
                drive.exchange.retry_place = None;
                phase::Phase::Tunnel
            }
            Ok(()) => {
                let exchange = &mut *drive.exchange;
                let is_clean = exchange.response.keep_alive
                    && exchange.upload.is_finished()
                    && !self.is_upload_broken
                    && exchange.response_input.is_empty();
                if let (true, Some(stay), Upstream::Link(link)) = (is_clean, &exchange.stay, upstream) {
                    let cluster = stay.cluster();
                    let id = stay.lease().endpoint();
                    let now_ms = drive.worker.timers.now_ms();
                    cluster.pools().borrow_mut().at(id).put(link, &cluster.config.pool, now_ms);
                }
                exchange.end_attempt(&drive.worker.buffers);
                phase::Phase::Finish
            }
            Err(Fault::FilterReply) => {
                drop(upstream);
                drive.exchange.end_attempt(&drive.worker.buffers);
                filter::answer(drive)
            }
            Err(fault) if drive.exchange.is_answered => {
                give_up(&upstream, fault, upstream_moved_ms);
                drive.exchange.fault = Some(fault);
                note_failure(drive, fault);
                drive.exchange.end_attempt(&drive.worker.buffers);
                phase::Phase::Finish
            }
            Err(fault) => {
                give_up(&upstream, fault, upstream_moved_ms);
                drop(upstream);
                let is_coming = drive.exchange.hedge.as_ref().is_some_and(|hedge| hedge.is_coming());
                if is_coming && fault.is_of_attempt() {
                    note_failure(drive, fault);
                    drive.exchange.leave_endpoint(&drive.worker.buffers);
                    return phase::Phase::Link;
                }
                retry_or_fail(drive, fault)
            }
        }
    }
}
