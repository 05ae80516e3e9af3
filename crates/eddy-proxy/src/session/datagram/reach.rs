//! The endpoint of a session of datagrams: which one, and whether it is still one to have.

use std::io::ErrorKind;
use std::rc::Rc;

use eddy_io::{DatagramLink, Flow, PeerAddress};
use eddy_upstream::{LinkPlace, ResolvedAddress, Tried};

use crate::session::forward::{ATTEMPTS_MAX, choose};
use crate::stats::DatagramLoss;
use crate::worker::{EndpointGuard, Worker, WorkerCluster, is_shortage};

/// An endpoint with a socket that is connected to it.
pub(super) struct Reached {
    pub(super) guard: EndpointGuard,
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
        let chosen = choose(cluster, PeerAddress::Tcp(flow.client), worker, &mut tried);
        let Some(guard) = chosen.map_err(|_| DatagramLoss::Overload)? else { break };
        // Checked to be none in the configuration.
        let ResolvedAddress::Tcp(address) = guard.address else { continue };
        let Ok(link_place) = guard.take_place() else { continue };
        match DatagramLink::connect(address) {
            Ok(link) => {
                cluster.series.connects.increment();
                return Ok(Reached { guard, link, link_place, attempts });
            }
            // Of descriptors, memory or ports: no other endpoint helps.
            Err(error) if is_shortage(&error) || error.kind() == ErrorKind::WouldBlock => {
                return Err(DatagramLoss::Overload);
            }
            Err(_) => {}
        }
        cluster.series.connects_failed.increment();
        cluster.series.failures.increment();
        guard.failed(worker.timers.now_ms());
        loss = DatagramLoss::Refused;
    }
    Err(loss)
}

/// Whether health checks find an endpoint well, or nobody asks; `None` where it is no member any more.
pub(super) fn is_well(guard: &EndpointGuard) -> Option<bool> {
    let state = guard.cluster().state().borrow();
    state.endpoint(guard.lease().endpoint()).map(|endpoint| endpoint.unwell().is_none())
}
