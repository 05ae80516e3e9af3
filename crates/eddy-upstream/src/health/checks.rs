//! The questions to the endpoints of one cluster: a task for each.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use eddy_tls::ClientTls;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::config::HealthConfig;
use super::probe::ask;
use super::state::{Checkup, HealthChange, UnhealthySet};
use crate::config::{ClusterConfig, LinkProtocol};
use crate::endpoint::{EndpointSet, ResolvedAddress, ResolvedEndpoint};
use crate::rng::Rng;

/// Most endpoints of a cluster that are asked at the same time.
const ASKED_AT_ONCE: usize = 64;

/// The endpoints of a cluster being asked how they are; ends when dropped.
#[derive(Debug)]
pub struct Checks {
    unwell: watch::Receiver<Arc<UnhealthySet>>,
    _tasks: JoinSet<()>,
}

/// What all tasks of a cluster go by.
struct HealthCheckContext {
    cluster: Arc<str>,
    config: HealthConfig,
    protocol: LinkProtocol,
    tls: Option<ClientTls>,
    unwell: watch::Sender<Arc<UnhealthySet>>,
    turns: Semaphore,
}

impl Checks {
    /// Begins to ask the endpoints of `sets` as `config` says; `before` is what is known of them.
    ///
    /// # Cost
    /// A task for each endpoint, and one beside them.
    pub fn start(
        cluster: &ClusterConfig,
        config: &HealthConfig,
        tls: Option<ClientTls>,
        sets: watch::Receiver<Arc<EndpointSet>>,
        before: Arc<UnhealthySet>,
        handle: &Handle,
    ) -> Self {
        let (sender, unwell) = watch::channel(before);
        let shared = Arc::new(HealthCheckContext {
            cluster: Arc::clone(&cluster.name),
            config: config.clone(),
            protocol: cluster.protocol,
            tls,
            unwell: sender,
            turns: Semaphore::new(ASKED_AT_ONCE),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn_on(follow(shared, sets), handle);
        Self { unwell, _tasks: tasks }
    }

    /// A receiver that sees each change.
    pub fn subscribe(&self) -> watch::Receiver<Arc<UnhealthySet>> {
        self.unwell.clone()
    }
}

/// Has each endpoint asked that there is, and no other.
async fn follow(shared: Arc<HealthCheckContext>, mut sets: watch::Receiver<Arc<EndpointSet>>) {
    // Dropped with this task, and they with it.
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
                let task = tasks.spawn(watch_over(Arc::clone(&shared), member.clone()));
                asked.insert(member.address.clone(), task);
            }
        }
        if sets.changed().await.is_err() {
            // The endpoints stay as they are.
            std::future::pending::<()>().await;
        }
        while tasks.try_join_next().is_some() {}
    }
}

/// Asks one endpoint again and again.
async fn watch_over(shared: Arc<HealthCheckContext>, endpoint: ResolvedEndpoint) {
    let was_unwell = shared.unwell.borrow().why(&endpoint.address).is_some();
    let mut checkup = Checkup::new(was_unwell);
    let mut rng = Rng::from_entropy();
    let HealthCheckContext { config, protocol, tls, turns, .. } = &*shared;
    loop {
        let answer = {
            // The semaphore is never closed.
            let _turn = turns.acquire().await;
            let asking = timeout(config.timeout, ask(&endpoint, &config.probe, *protocol, tls.as_ref()));
            asking.await.unwrap_or_else(|_| Err("no answer in time".to_owned()))
        };
        let turn = checkup.on_answer(answer.is_ok(), config);
        shared.tell(&endpoint.address, turn, answer.err());
        sleep(jittered(config.interval, &mut rng)).await;
    }
}

impl HealthCheckContext {
    /// Forgets endpoints that have gone.
    fn forget(&self, known: &HashSet<&ResolvedAddress>) {
        self.change(|unwell| unwell.retain(|address| known.contains(address)));
    }

    fn tell(&self, endpoint: &ResolvedAddress, turn: HealthChange, why: Option<String>) {
        let cluster = &*self.cluster;
        let why: Arc<str> = why.unwrap_or_default().into();
        match turn {
            HealthChange::None => {}
            HealthChange::Well => {
                tracing::info!(cluster, %endpoint, "a health check finds an endpoint well again");
                self.change(|unwell| unwell.remove(endpoint));
            }
            HealthChange::Unwell => {
                tracing::warn!(cluster, %endpoint, "a health check finds an endpoint not well: {why}");
                self.change(|unwell| unwell.insert(endpoint.clone(), why));
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut UnhealthySet)) {
        self.unwell.send_if_modified(|current| {
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

/// A time up to a tenth longer or shorter, so that not everybody asks at once.
fn jittered(time: Duration, rng: &mut Rng) -> Duration {
    let fifth = u64::try_from(time.as_micros() / 5).unwrap_or(u64::MAX);
    time.mul_f64(0.9) + Duration::from_micros(rng.below(fifth))
}
