//! Name resolution of one cluster: a task per name, and the resulting set of endpoints.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use eddy_ids::Shared;
use eddy_io::monotonic_time;
use eddy_model::{Balance, ClusterConfig, DnsConfig, EndpointAddress, EndpointConfig};
use hickory_resolver::net::NetError;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::lock::lock;
use super::name::{LastGoodAnswer, NameEvent, NameState};
use super::source::ClientSource;
use super::state::{ResolverState, client_of};
use crate::endpoint::{ResolvedAddress, ResolvedEndpoint};
use crate::endpoint_set::EndpointSet;
use crate::rng::Rng;

/// Running name resolution of a cluster; ends on drop.
#[derive(Debug)]
pub struct Resolution {
    sets: watch::Receiver<Arc<EndpointSet>>,
    waiting: watch::Receiver<usize>,
    members: Arc<Members>,
    _tasks: JoinSet<()>,
}

/// Resolution state of a name of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameReport {
    /// Name.
    pub host: Shared<str>,
    /// Number of its addresses in use.
    pub addresses: usize,
    /// Failed lookups since the last successful one.
    pub failures_in_row: u32,
    /// Reason of the last failure, if the last lookup failed.
    pub last_fault: Option<Arc<str>>,
}

impl Resolution {
    pub(super) fn start(shared: &Arc<ResolverState>, cluster: &ClusterConfig, handle: &Handle) -> Self {
        let mut names: Vec<(usize, Shared<str>)> =
            cluster.endpoints.iter().enumerate().filter_map(name_of).collect();
        let own = match own_client(cluster) {
            Ok(own) => own,
            Err(error) => {
                tracing::error!(cluster = &*cluster.name, %error, "the name servers of the cluster can't be used");
                names.clear();
                None
            }
        };
        let (set_sender, sets) = watch::channel(Arc::default());
        let (waiting_sender, waiting) = watch::channel(names.len());
        let members = Arc::new(Members {
            cluster: Shared::clone(&cluster.name),
            endpoints: cluster.endpoints.clone(),
            balance: Mutex::new(cluster.balance),
            names: Mutex::new(vec![NameAddresses::default(); cluster.endpoints.len()]),
            sets: set_sender,
            waiting: waiting_sender,
        });
        let mut tasks = JoinSet::new();
        for (place, host) in names {
            let remembered = shared.remember(&cluster.name_servers, &host);
            let state = NameState::new(cluster.dns, lock(&remembered).clone(), monotonic_time());
            members.set_name(place, &state, None, shared);
            let follower = NameLookupTask {
                shared: Arc::clone(shared),
                own: own.clone(),
                members: Arc::clone(&members),
                place,
                host,
                dns: cluster.dns,
                remembered,
            };
            tasks.spawn_on(follower.run(state), handle);
        }
        members.publish();
        Self { sets, waiting, members, _tasks: tasks }
    }

    /// Returns the current endpoints.
    pub fn current(&self) -> Arc<EndpointSet> {
        Arc::clone(&self.sets.borrow())
    }

    /// Returns a receiver that sees each change of the endpoints.
    pub fn subscribe(&self) -> watch::Receiver<Arc<EndpointSet>> {
        self.sets.clone()
    }

    /// Sets the balancing kind for which the endpoint sets have tables, and publishes the set for it.
    pub fn set_balance(&self, balance: Balance) {
        if std::mem::replace(&mut *lock(&self.members.balance), balance) != balance {
            self.members.publish();
        }
    }

    /// Waits until every name has been looked up once, with or without success, but no longer than `patience`.
    ///
    /// Returns whether every name has been looked up.
    pub async fn settled(&self, patience: Duration) -> bool {
        let mut waiting = self.waiting.clone();
        let all = waiting.wait_for(|count| *count == 0);
        tokio::time::timeout(patience, all).await.is_ok_and(|outcome| outcome.is_ok())
    }

    /// Returns the state of each name, in the order of the configuration.
    pub fn names(&self) -> Vec<NameReport> {
        let names = lock(&self.members.names);
        let places = self.members.endpoints.iter().enumerate().filter_map(name_of);
        places
            .filter_map(|(place, host)| {
                let name = names.get(place)?;
                Some(NameReport {
                    host,
                    addresses: name.addresses.len(),
                    failures_in_row: name.failures_in_row,
                    last_fault: name.last_fault.clone(),
                })
            })
            .collect()
    }
}

/// Output of the tasks of one cluster.
#[derive(Debug)]
struct Members {
    cluster: Shared<str>,
    endpoints: Vec<EndpointConfig>,
    /// Balancing kind for which the sets have tables.
    balance: Mutex<Balance>,
    /// By index of the endpoint; unused for endpoints without a name.
    names: Mutex<Vec<NameAddresses>>,
    sets: watch::Sender<Arc<EndpointSet>>,
    waiting: watch::Sender<usize>,
}

#[derive(Clone, Debug, Default)]
struct NameAddresses {
    addresses: Vec<IpAddr>,
    failures_in_row: u32,
    last_fault: Option<Arc<str>>,
}

impl Members {
    fn set_name(
        &self,
        place: usize,
        state: &NameState,
        last_fault: Option<Arc<str>>,
        shared: &ResolverState,
    ) {
        let addresses = shared.prefer_reachable(state.addresses());
        if let Some(name) = lock(&self.names).get_mut(place) {
            *name = NameAddresses { addresses, failures_in_row: state.failures_in_row(), last_fault };
        }
    }

    /// Builds the set from the addresses of each name, and publishes it to the workers when it differs.
    fn publish(&self) {
        let set = self.set();
        self.sets.send_if_modified(|current| {
            let is_changed = **current != set;
            if is_changed {
                *current = Arc::new(set.with_counts_of(current));
            }
            is_changed
        });
    }

    fn set(&self) -> EndpointSet {
        let names = lock(&self.names);
        let members = self.endpoints.iter().zip(names.iter()).flat_map(|(endpoint, name)| {
            let addresses: Vec<ResolvedAddress> = match &endpoint.address {
                EndpointAddress::Socket(address) => vec![ResolvedAddress::Tcp(*address)],
                EndpointAddress::Unix(path) => vec![ResolvedAddress::Unix(path.as_path().into())],
                EndpointAddress::Name { port, .. } => {
                    let socket = |ip: &IpAddr| ResolvedAddress::Tcp(SocketAddr::new(*ip, *port));
                    name.addresses.iter().map(socket).collect()
                }
            };
            let host = match &endpoint.address {
                EndpointAddress::Name { host, .. } => Some(Shared::clone(host)),
                EndpointAddress::Socket(_) | EndpointAddress::Unix(_) => None,
            };
            addresses.into_iter().map(move |address| ResolvedEndpoint {
                address,
                weight: endpoint.weight,
                terms: endpoint.terms.clone(),
                host: host.clone(),
            })
        });
        EndpointSet::new(members, *lock(&self.balance))
    }
}

/// Task of one name.
struct NameLookupTask {
    shared: Arc<ResolverState>,
    /// Client for the cluster's own name servers, if it has any.
    own: Option<Arc<ClientSource>>,
    members: Arc<Members>,
    place: usize,
    host: Shared<str>,
    dns: DnsConfig,
    remembered: Arc<Mutex<LastGoodAnswer>>,
}

impl NameLookupTask {
    async fn run(self, mut state: NameState) {
        let mut rng = Rng::from_entropy();
        let mut is_first = true;
        loop {
            let answers = self.shared.look_up(self.own.as_deref(), &self.host, &self.dns).await;
            let step = state.handle_answers(monotonic_time(), answers, &mut rng);
            if step.fault.is_none() {
                lock(&self.remembered).clone_from(state.known());
            }
            let fault: Option<Arc<str>> = step.fault.map(|fault| fault.to_string().into());
            self.tell(step.news, fault.as_deref().unwrap_or_default(), &state);
            self.members.set_name(self.place, &state, fault, &self.shared);
            self.members.publish();
            if is_first {
                self.members.waiting.send_modify(|count| *count = count.saturating_sub(1));
                is_first = false;
            }
            #[expect(
                clippy::disallowed_methods,
                reason = "a name is resolved again when its time to live has passed"
            )]
            tokio::time::sleep(step.delay).await;
        }
    }
    fn tell(&self, news: Option<NameEvent>, fault: &str, state: &NameState) {
        let (cluster, host, addresses) = (&*self.members.cluster, &*self.host, state.addresses().len());
        match news {
            Some(NameEvent::Failing) if addresses == 0 => {
                tracing::warn!(
                    cluster,
                    host,
                    fault,
                    "DNS lookup failed; the name has no addresses until a lookup succeeds"
                );
            }
            Some(NameEvent::Failing) => {
                tracing::warn!(
                    cluster,
                    host,
                    fault,
                    addresses,
                    "DNS lookup failed; using the last known addresses"
                );
            }
            Some(NameEvent::Dropped) => {
                tracing::error!(
                    cluster,
                    host,
                    fault,
                    "DNS lookups have failed for too long; the addresses are dropped"
                );
            }
            Some(NameEvent::Recovered) => tracing::info!(cluster, host, addresses, "DNS lookups work again"),
            None => {}
        }
    }
}

/// Creates the client for the cluster's own name servers, if it has any.
fn own_client(cluster: &ClusterConfig) -> Result<Option<Arc<ClientSource>>, NetError> {
    if cluster.name_servers.is_empty() || !cluster.has_names() {
        return Ok(None);
    }
    client_of(&cluster.name_servers).map(|client| Some(Arc::new(client)))
}

/// Returns the index and host of an endpoint that is configured by name.
fn name_of((place, endpoint): (usize, &EndpointConfig)) -> Option<(usize, Shared<str>)> {
    match &endpoint.address {
        EndpointAddress::Name { host, .. } => Some((place, Shared::clone(host))),
        EndpointAddress::Socket(_) | EndpointAddress::Unix(_) => None,
    }
}
