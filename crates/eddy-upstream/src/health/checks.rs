//! Health check tasks of one cluster: one per endpoint.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use eddy_ids::Shared;
use eddy_model::{ClusterConfig, HealthConfig, LinkProtocol};
use eddy_tls::ClientTls;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::probe::ask;
use super::state::{Checkup, HealthChange, UnhealthySet};
use crate::endpoint::{ResolvedAddress, ResolvedEndpoint};
use crate::endpoint_set::EndpointSet;
use crate::rng::Rng;

/// Maximum endpoints of a cluster that are checked at the same time.
const CONCURRENT_CHECKS_MAX: usize = 64;

/// Running health checks of a cluster; they end on drop.
#[derive(Debug)]
pub struct Checks {
    unhealthy: watch::Receiver<Arc<UnhealthySet>>,
    _tasks: JoinSet<()>,
}

/// State shared by all health check tasks of a cluster.
struct HealthCheckContext {
    cluster: Shared<str>,
    config: HealthConfig,
    protocol: LinkProtocol,
    tls: Option<ClientTls>,
    unhealthy: watch::Sender<Arc<UnhealthySet>>,
    turns: Semaphore,
}

impl Checks {
    /// Starts checking the endpoints of `sets` as configured in `config`; `before` is the last known state.
    ///
    /// # Cost
    /// A task for each endpoint, and one that manages them.
    pub fn start(
        cluster: &ClusterConfig,
        config: &HealthConfig,
        tls: Option<ClientTls>,
        sets: watch::Receiver<Arc<EndpointSet>>,
        before: Arc<UnhealthySet>,
        handle: &Handle,
    ) -> Self {
        let (sender, unhealthy) = watch::channel(before);
        let shared = Arc::new(HealthCheckContext {
            cluster: Shared::clone(&cluster.name),
            config: config.clone(),
            protocol: cluster.protocol,
            tls,
            unhealthy: sender,
            turns: Semaphore::new(CONCURRENT_CHECKS_MAX),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn_on(follow(shared, sets), handle);
        Self { unhealthy, _tasks: tasks }
    }

    /// Returns a receiver that sees each change.
    pub fn subscribe(&self) -> watch::Receiver<Arc<UnhealthySet>> {
        self.unhealthy.clone()
    }
}

/// Keeps one task running for each endpoint of the current set, and for no other.
async fn follow(shared: Arc<HealthCheckContext>, mut sets: watch::Receiver<Arc<EndpointSet>>) {
    // Dropped with this task, which ends the health check tasks.
    let mut tasks = JoinSet::new();
    let mut asked: HashMap<ResolvedAddress, AbortHandle> = HashMap::new();
    loop {
        let set = Arc::clone(&sets.borrow_and_update());
        let known: HashSet<&ResolvedAddress> = set.members().iter().map(|member| &member.address).collect();
        asked.retain(|address, task| {
            let stays = known.contains(address);
            if !stays {
                task.abort();
            }
            stays
        });
        shared.forget(&known);
        for member in set.members() {
            if !asked.contains_key(&member.address) {
                let task = tasks.spawn(check_periodically(Arc::clone(&shared), member.clone()));
                asked.insert(member.address.clone(), task);
            }
        }
        if sets.changed().await.is_err() {
            // The set of endpoints does not change any more.
            std::future::pending::<()>().await;
        }
        while tasks.try_join_next().is_some() {}
    }
}

/// Checks one endpoint periodically.
async fn check_periodically(shared: Arc<HealthCheckContext>, endpoint: ResolvedEndpoint) {
    let was_unhealthy = shared.unhealthy.borrow().why(&endpoint.address).is_some();
    let mut checkup = Checkup::new(was_unhealthy);
    let mut rng = Rng::from_entropy();
    let HealthCheckContext { config, protocol, tls, turns, .. } = &*shared;
    loop {
        let answer = {
            // The semaphore is never closed.
            let _turn = turns.acquire().await;
            let asking = timeout(config.timeout, ask(&endpoint, &config.probe, *protocol, tls.as_ref()));
            asking.await.unwrap_or_else(|_| Err("no response in time".to_owned()))
        };
        let turn = checkup.on_answer(answer.is_ok(), config);
        shared.tell(&endpoint.address, turn, answer.err());
        #[expect(clippy::disallowed_methods, reason = "health checks have an interval")]
        sleep(jittered(config.interval, &mut rng)).await;
    }
}

impl HealthCheckContext {
    /// Removes endpoints that are no longer in the set.
    fn forget(&self, known: &HashSet<&ResolvedAddress>) {
        self.change(|unhealthy| unhealthy.retain(|address| known.contains(address)));
    }

    fn tell(&self, endpoint: &ResolvedAddress, turn: HealthChange, why: Option<String>) {
        let cluster = &*self.cluster;
        let why: Arc<str> = why.unwrap_or_default().into();
        match turn {
            HealthChange::None => {}
            HealthChange::Healthy => {
                tracing::info!(cluster, %endpoint, "health check: endpoint is healthy again");
                self.change(|unhealthy| unhealthy.remove(endpoint));
            }
            HealthChange::Unhealthy => {
                tracing::warn!(cluster, %endpoint, "health check: endpoint is unhealthy: {why}");
                self.change(|unhealthy| unhealthy.insert(endpoint.clone(), why));
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut UnhealthySet)) {
        self.unhealthy.send_if_modified(|current| {
            let mut next = UnhealthySet::clone(current);
            change(&mut next);
            let is_changed = next != **current;
            if is_changed {
                *current = Arc::new(next);
            }
            is_changed
        });
    }
}

/// Returns a duration up to a tenth longer or shorter, so that checks are not synchronized.
fn jittered(time: Duration, rng: &mut Rng) -> Duration {
    let fifth = u64::try_from(time.as_micros() / 5).unwrap_or(u64::MAX);
    time.mul_f64(0.9) + Duration::from_micros(rng.below(fifth))
}
