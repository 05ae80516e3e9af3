//! The idle links that one worker keeps for the endpoints of a cluster.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Wake, Waker};

use tokio::sync::Notify;

use crate::config::PoolConfig;
use crate::endpoint::EndpointId;
use crate::link::{Link, LinkPlace, LinkPlaces, LinkQueue};

/// The pools of a cluster's endpoints.
#[derive(Debug, Default)]
pub struct LinkPools {
    /// Indexed by the slot of the endpoint's id.
    pools: Vec<(u32, LinkPool)>,
    /// How often endpoints have come to be spoken to in another way.
    era: u32,
    watch: Arc<IdleWatch>,
}

/// The waker of all idle links of a cluster: marks the cluster, and wakes the task that closes what its endpoints have closed.
#[derive(Debug, Default)]
struct IdleWatch {
    is_disturbed: AtomicBool,
    task: Arc<Notify>,
}

impl Wake for IdleWatch {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_disturbed.swap(true, Relaxed) {
            self.task.notify_one();
        }
    }
}

impl LinkPools {
    /// Pools that notify `task` when something happens on an idle link, to have [`Self::close_disturbed`] called.
    pub fn watched_by(task: Arc<Notify>) -> Self {
        let watch = Arc::new(IdleWatch { is_disturbed: AtomicBool::new(false), task });
        Self { watch, ..Self::default() }
    }

    /// Closes the idle links that their endpoints have closed, or on which they talk out of turn.
    ///
    /// # Cost
    /// Linear in the idle links where there is such a one, else a load. No system call but the closes; inside of TLS what has
    /// arrived is read.
    pub fn close_disturbed(&mut self) {
        if self.watch.is_disturbed.swap(false, Relaxed) {
            self.pools.iter_mut().for_each(|(_, pool)| pool.close_disturbed());
        }
    }

    /// The pool of an endpoint; that of an endpoint that has gone is emptied when its place is taken again.
    ///
    /// # Cost
    /// An index; allocates when an endpoint is seen for the first time.
    pub fn at(&mut self, id: EndpointId) -> &mut LinkPool {
        let slot = id.slot as usize;
        if self.pools.len() <= slot {
            let (era, watch) = (self.era, &self.watch);
            self.pools.resize_with(slot + 1, || (0, LinkPool::new(era, watch)));
        }
        let (generation, pool) = &mut self.pools[slot];
        if *generation != id.generation {
            *generation = id.generation;
            *pool = LinkPool::new(self.era, &self.watch);
        }
        pool
    }

    /// Sweeps every pool, see [`LinkPool::sweep`].
    pub fn sweep(&mut self, config: &PoolConfig, now_ms: u64) {
        self.pools.iter_mut().for_each(|(_, pool)| pool.sweep(config, now_ms));
    }

    /// Closes every idle link.
    pub fn clear(&mut self) {
        self.pools.iter_mut().for_each(|(_, pool)| pool.clear());
    }

    /// Closes the idle link that has waited for longest in one of the pools that have any; whether there was one.
    ///
    /// # Cost
    /// Linear in the pools.
    pub fn close_one(&mut self) -> bool {
        let first = |pool: &LinkPool| pool.idle.first().map(Link::idle_since_ms);
        let pools = self.pools.iter_mut().map(|(_, pool)| pool);
        let Some(pool) = pools.filter(|pool| !pool.idle.is_empty()).min_by_key(|pool| first(pool)) else {
            return false;
        };
        pool.close_oldest()
    }

    /// Closes every idle link, and each of the others when its exchange is over: endpoints are spoken to in another way
    /// from now on. Links of the era that is returned are kept again.
    pub fn renew(&mut self) -> u32 {
        self.era = self.era.wrapping_add(1);
        for (_, pool) in &mut self.pools {
            pool.clear();
            pool.era = self.era;
        }
        self.era
    }

    /// How many links are idle and how many there are in all.
    pub fn count(&self) -> LinkCount {
        self.pools.iter().fold(LinkCount::default(), |count, (_, pool)| LinkCount {
            idle: count.idle + pool.idle.len() as u64,
            open: count.open + u64::from(pool.places.open.get()),
        })
    }
}

/// How many links there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCount {
    /// Links waiting for an exchange.
    pub idle: u64,
    /// All links: idle, busy and being connected.
    pub open: u64,
}

/// Idle links, the most recently used on top, and the number of all links of the endpoint.
#[derive(Debug)]
pub struct LinkPool {
    idle: Vec<Link>,
    places: Rc<LinkPlaces>,
    /// Of which era links are kept.
    era: u32,
    /// Woken when something happens on an idle link.
    waker: Waker,
}

impl LinkPool {
    fn new(era: u32, watch: &Arc<IdleWatch>) -> Self {
        Self { idle: Vec::new(), places: Rc::default(), era, waker: Arc::clone(watch).into() }
    }

    /// The most recently used idle link on which nothing has happened since.
    ///
    /// Those found closed, talking out of turn or idle for too long are dropped on the way.
    pub fn take(&mut self, config: &PoolConfig, now_ms: u64) -> Option<Link> {
        while let Some(mut link) = self.idle.pop() {
            if !is_stale(&link, config, now_ms) && link.stream.is_quiet() {
                link.wake();
                return Some(link);
            }
        }
        None
    }

    /// Keeps a link that has carried an exchange to its end, unless none are kept, or it is of another era.
    ///
    /// One above `idle_max` is kept as well until a sweep finds that nobody took it for a while: when work comes in
    /// bursts, to close what the next burst connects again costs more than the work.
    pub fn put(&mut self, mut link: Link, config: &PoolConfig, now_ms: u64) {
        link.rest(now_ms);
        let is_worn = config.requests_max > 0 && link.requests() >= config.requests_max;
        if !is_worn && config.idle_max > 0 && link.era() == self.era {
            self.keep(link);
        }
    }

    /// Keeps a link that was just established, and carries nothing yet.
    pub fn put_fresh(&mut self, mut link: Link, now_ms: u64) {
        link.wait(now_ms);
        if link.era() == self.era {
            self.keep(link);
        }
    }

    /// Keeps a link unless something has happened on it; from now on that wakes the watch.
    fn keep(&mut self, mut link: Link) {
        let mut cx = Context::from_waker(&self.waker);
        if link.stream.poll_disturbed(&mut cx).is_pending() {
            self.idle.push(link);
            self.places.notify();
        }
    }

    /// Keeps a link without a look at it.
    #[cfg(test)]
    pub(crate) fn put_unwatched(&mut self, link: Link) {
        self.idle.push(link);
    }

    /// Closes the links on which something has happened, and goes on watching the others.
    fn close_disturbed(&mut self) {
        let mut cx = Context::from_waker(&self.waker);
        self.idle.retain_mut(|link| link.stream.poll_disturbed(&mut cx).is_pending());
    }

    /// A place for a new link of this era (see [`LinkPools::renew`]), if the endpoint has fewer than `links_max`.
    pub fn place(&self, links_max: u32, era: u32) -> Option<LinkPlace> {
        LinkPlace::take(&self.places, links_max, era)
    }

    /// Whether requests wait for a link of this endpoint.
    pub fn has_queue(&self) -> bool {
        self.places.has_queue()
    }

    /// Enters the queue of requests that wait for a link or a place.
    pub fn queue(&self) -> LinkQueue {
        LinkQueue::enter(&self.places)
    }

    /// Closes the idle link that has waited for longest; whether there was one.
    pub fn close_oldest(&mut self) -> bool {
        let has_idle = !self.idle.is_empty();
        self.idle.drain(..usize::from(has_idle));
        has_idle
    }

    /// Closes every idle link.
    pub fn clear(&mut self) {
        self.idle.clear();
    }

    /// Closes the links that have been idle for too long, and those above `idle_max` that no burst has needed.
    ///
    /// # Cost
    /// Linear in the idle links, no system call but the closes.
    pub fn sweep(&mut self, config: &PoolConfig, now_ms: u64) {
        self.idle.retain(|link| !is_stale(link, config, now_ms));
        // Those used longest ago are at the bottom.
        let excess = self.idle.len().saturating_sub(config.idle_max as usize);
        let is_unused = |link: &Link| now_ms.saturating_sub(link.idle_since_ms()) >= EXCESS_KEPT_MS;
        let unused = self.idle.iter().take(excess).take_while(|link| is_unused(link)).count();
        self.idle.drain(..unused);
    }
}

fn is_stale(link: &Link, config: &PoolConfig, now_ms: u64) -> bool {
    u128::from(now_ms.saturating_sub(link.idle_since_ms())) >= config.idle_timeout.as_millis()
}

/// How long a link above `idle_max` is kept, milliseconds.
const EXCESS_KEPT_MS: u64 = 1_000;
