//! The endpoint of a session of datagrams: which one, and whether it is still one to have.

use std::io::ErrorKind;
use std::rc::Rc;

use eddy_io::{DatagramLink, Flow, Peer};
use eddy_upstream::{LinkPlace, ResolvedAddress, Tried};

use crate::session::forward::{ATTEMPTS_MAX, choose};
use crate::stats::DatagramLoss;
use crate::worker::{Stay, Worker, WorkerCluster, is_shortage};

/// An endpoint with a socket that is connected to it.
pub(super) struct Reached {
    pub(super) stay: Stay,
    pub(super) link: DatagramLink,
    pub(super) link_place: LinkPlace,
    pub(super) attempts: u8,
}

/// Chooses an endpoint; another one where there is no way to the first.
///
/// # Errors
/// Why there is none.
pub(super) fn reach(
    worker: &Worker,
    cluster: &Rc<WorkerCluster>,
    flow: Flow,
) -> Result<Reached, DatagramLoss> {
    let mut tried = Tried::default();
    let mut loss = DatagramLoss::NoEndpoint;
    for attempts in 1..=ATTEMPTS_MAX {
        let chosen = choose(cluster, Peer::Tcp(flow.client), worker, &mut tried);
        let Some(stay) = chosen.map_err(|_| DatagramLoss::Overload)? else { break };
        // Checked to be none in the configuration.
        let ResolvedAddress::Tcp(address) = stay.address else { continue };
        let Ok(link_place) = stay.take_place() else { continue };
        match DatagramLink::connect(address) {
            Ok(link) => {
                cluster.series.connects.increment();
                return Ok(Reached { stay, link, link_place, attempts });
            }
            // Of descriptors, memory or ports: no other endpoint helps.
            Err(error) if is_shortage(&error) || error.kind() == ErrorKind::WouldBlock => {
                return Err(DatagramLoss::Overload);
            }
            Err(_) => {}
        }
        cluster.series.connects_failed.increment();
        cluster.series.failures.increment();
        stay.failed(worker.timers.now_ms());
        loss = DatagramLoss::Refused;
    }
    Err(loss)
}

/// Whether health checks find an endpoint well, or nobody asks; `None` where it is no member any more.
pub(super) fn is_well(stay: &Stay) -> Option<bool> {
    let state = stay.cluster().state().borrow();
    state.endpoint(stay.lease().endpoint()).map(|endpoint| endpoint.unwell().is_none())
}
