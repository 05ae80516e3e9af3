//! Endpoint of a datagram session: its selection, and whether it is still usable.

use std::io::ErrorKind;
use std::rc::Rc;

use eddy_io::{DatagramLink, Flow, PeerAddress};
use eddy_upstream::{LinkPermit, ResolvedAddress, TriedEndpoints};

use crate::runtime::is_shortage;
use crate::session::forward::{ATTEMPTS_MAX, choose};
use crate::stats::DatagramLoss;
use crate::upstream::{EndpointGuard, WorkerCluster};
use crate::worker::Worker;

/// An endpoint with a socket that is connected to it.
pub(super) struct ConnectedEndpoint {
    pub(super) guard: EndpointGuard,
    pub(super) link: DatagramLink,
    pub(super) link_permit: LinkPermit,
    pub(super) attempts: u8,
}

/// Selects an endpoint and connects to it; tries another one when the first is unreachable.
pub(super) fn reach(
    worker: &Worker,
    cluster: &Rc<WorkerCluster>,
    flow: Flow,
) -> Result<ConnectedEndpoint, DatagramLoss> {
    let mut tried = TriedEndpoints::default();
    let mut loss = DatagramLoss::NoEndpoint;
    for attempts in 1..=ATTEMPTS_MAX {
        let chosen = choose(cluster, PeerAddress::Tcp(flow.client), worker, &mut tried);
        let Some(guard) = chosen.map_err(|_| DatagramLoss::Overload)? else { break };
        // The configuration check has excluded other kinds of addresses.
        let ResolvedAddress::Tcp(address) = *guard.address else { continue };
        let Ok(link_permit) = guard.take_link_permit() else { continue };
        match DatagramLink::connect(address) {
            Ok(link) => {
                cluster.series.connects.increment();
                return Ok(ConnectedEndpoint { guard, link, link_permit, attempts });
            }
            // Shortage of descriptors, memory or ports: another endpoint would not help.
            Err(error) if is_shortage(&error) || error.kind() == ErrorKind::WouldBlock => {
                return Err(DatagramLoss::Overload);
            }
            Err(_) => {}
        }
        cluster.series.connects_failed.increment();
        cluster.series.failures.increment();
        guard.failed(worker.timers.now());
        loss = DatagramLoss::Refused;
    }
    Err(loss)
}

/// Whether an endpoint is healthy according to health checks, has none, or is used although it is unhealthy; `None` when
/// it has left its cluster.
pub(super) fn is_healthy(guard: &EndpointGuard) -> Option<bool> {
    let state = guard.cluster.state().borrow();
    state.endpoint(guard.lease().endpoint()).map(|endpoint| !endpoint.is_excluded())
}
