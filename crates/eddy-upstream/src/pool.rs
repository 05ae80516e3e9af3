//! Idle connections that one worker keeps for the endpoints of a cluster.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Wake, Waker};

use eddy_ids::{Millis, WorkerTime};
use eddy_model::PoolConfig;
use tokio::sync::Notify;

use crate::endpoint::EndpointId;
use crate::link::{Link, LinkPermit, LinkPermits, LinkQueue};

/// The pools of a cluster's endpoints.
#[derive(Debug, Default)]
pub struct LinkPools {
    /// Indexed by the slot of the endpoint ID.
    pools: Vec<(u32, LinkPool)>,
    /// Number of changes to the way in which endpoints are connected, see [`Self::renew`].
    era: u32,
    watch: Arc<IdleWatch>,
}

/// Waker of all idle links of a cluster: marks the cluster, and wakes the task that closes links closed by endpoints.
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
    /// Creates pools that notify `task` of events on idle links, so that it calls [`Self::close_unusable`].
    pub fn watched_by(task: Arc<Notify>) -> Self {
        let watch = Arc::new(IdleWatch { is_disturbed: AtomicBool::new(false), task });
        Self { watch, ..Self::default() }
    }

    /// Closes the idle links that their endpoints have closed, or on which endpoints send unsolicited data.
    ///
    /// # Cost
    /// Linear in the idle links after an event, else one load. No system calls except `close`; for TLS links, reads the
    /// bytes that have arrived.
    pub fn close_unusable(&mut self) {
        if self.watch.is_disturbed.swap(false, Relaxed) {
            self.pools.iter_mut().for_each(|(_, pool)| pool.close_unusable());
        }
    }

    /// Returns the pool of an endpoint; the pool of a removed endpoint is emptied when its slot is reused.
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
    pub fn sweep(&mut self, config: &PoolConfig, now: WorkerTime) {
        self.pools.iter_mut().for_each(|(_, pool)| pool.sweep(config, now));
    }

    /// Closes all idle links.
    pub fn clear(&mut self) {
        self.pools.iter_mut().for_each(|(_, pool)| pool.clear());
    }

    /// Closes the longest-idle link of all pools; returns whether there was one.
    ///
    /// # Cost
    /// Linear in the pools.
    pub fn close_one(&mut self) -> bool {
        let first = |pool: &LinkPool| pool.idle.first().map(Link::idle_since);
        let pools = self.pools.iter_mut().map(|(_, pool)| pool);
        let Some(pool) = pools.filter(|pool| !pool.idle.is_empty()).min_by_key(|pool| first(pool)) else {
            return false;
        };
        pool.close_oldest()
    }

    /// Closes all idle links now, and the others when their exchanges end, because the way in which endpoints are
    /// connected has changed. Links of the returned era are kept again.
    pub fn renew(&mut self) -> u32 {
        self.era = self.era.wrapping_add(1);
        for (_, pool) in &mut self.pools {
            pool.clear();
            pool.era = self.era;
        }
        self.era
    }

    /// Counts idle links and all links.
    pub fn count(&self) -> LinkCount {
        self.pools.iter().fold(LinkCount::default(), |count, (_, pool)| LinkCount {
            idle: count.idle + pool.idle.len() as u64,
            open: count.open + u64::from(pool.places.open.get()),
        })
    }
}

/// Number of links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCount {
    /// Idle links.
    pub idle: u64,
    /// All links: idle, busy and being connected.
    pub open: u64,
}

/// Idle links, the most recently used on top, and the connection count of the endpoint.
#[derive(Debug)]
pub struct LinkPool {
    idle: Vec<Link>,
    places: Rc<LinkPermits>,
    /// Era of the links that are kept.
    era: u32,
    /// Woken by events on an idle link.
    waker: Waker,
}

impl LinkPool {
    fn new(era: u32, watch: &Arc<IdleWatch>) -> Self {
        Self { idle: Vec::new(), places: Rc::default(), era, waker: Arc::clone(watch).into() }
    }

    /// Returns the most recently used idle link without an event since.
    ///
    /// Links that are closed, have unsolicited data or were idle for too long are dropped on the way.
    pub fn take(&mut self, config: &PoolConfig, now: WorkerTime) -> Option<Link> {
        while let Some(mut link) = self.idle.pop() {
            if !is_stale(&link, config, now) && link.stream.is_quiet() {
                link.wake();
                return Some(link);
            }
        }
        None
    }

    /// Keeps a link after a complete exchange, unless pooling is off or the link is of another era.
    ///
    /// Links above `idle_max` are kept as well until a sweep finds that they were not used for a while: with bursts of
    /// requests, closing connections that the next burst establishes again costs more than the requests.
    pub fn put(&mut self, mut link: Link, config: &PoolConfig, now: WorkerTime) {
        link.rest(now);
        let is_worn = config.requests_max > 0 && link.requests() >= config.requests_max;
        if !is_worn && config.idle_max > 0 && link.era() == self.era {
            self.keep(link);
        }
    }

    /// Keeps a link that was just established and has carried no exchange yet.
    pub fn put_new(&mut self, mut link: Link, now: WorkerTime) {
        link.wait(now);
        if link.era() == self.era {
            self.keep(link);
        }
    }

    /// Keeps a link unless it has a pending event; later events wake the watch.
    fn keep(&mut self, mut link: Link) {
        let mut cx = Context::from_waker(&self.waker);
        if link.stream.poll_input_or_close(&mut cx).is_pending() {
            self.idle.push(link);
            self.places.notify();
        }
    }

    /// Keeps a link without checking it for events.
    #[cfg(test)]
    pub(crate) fn put_unwatched(&mut self, link: Link) {
        self.idle.push(link);
    }

    /// Closes the links with pending events, and continues to watch the others.
    fn close_unusable(&mut self) {
        let mut cx = Context::from_waker(&self.waker);
        self.idle.retain_mut(|link| link.stream.poll_input_or_close(&mut cx).is_pending());
    }

    /// Takes a place for a new link of `era` (see [`LinkPools::renew`]), if the endpoint has fewer than `links_max`.
    pub fn place(&self, links_max: u32, era: u32) -> Option<LinkPermit> {
        LinkPermit::take(&self.places, links_max, era)
    }

    /// Whether requests wait for a link of this endpoint.
    pub fn has_queue(&self) -> bool {
        self.places.has_queue()
    }

    /// Enters the queue of requests that wait for a link or a place.
    pub fn queue(&self) -> LinkQueue {
        LinkQueue::enter(&self.places)
    }

    /// Closes the longest-idle link; returns whether there was one.
    pub fn close_oldest(&mut self) -> bool {
        let has_idle = !self.idle.is_empty();
        self.idle.drain(..usize::from(has_idle));
        has_idle
    }

    /// Closes all idle links.
    pub fn clear(&mut self) {
        self.idle.clear();
    }

    /// Closes the links that were idle for too long, and those above `idle_max` that no burst has needed.
    ///
    /// # Cost
    /// Linear in the idle links, no system calls except `close`.
    pub fn sweep(&mut self, config: &PoolConfig, now: WorkerTime) {
        self.idle.retain(|link| !is_stale(link, config, now));
        // The least recently used links are at the bottom.
        let excess = self.idle.len().saturating_sub(config.idle_max as usize);
        let is_unused = |link: &Link| now - link.idle_since() >= EXCESS_IDLE_TIME;
        let unused = self.idle.iter().take(excess).take_while(|link| is_unused(link)).count();
        self.idle.drain(..unused);
    }
}

fn is_stale(link: &Link, config: &PoolConfig, now: WorkerTime) -> bool {
    now - link.idle_since() >= Millis::of(config.idle_timeout)
}

/// Time that a link above `idle_max` is kept.
const EXCESS_IDLE_TIME: Millis = Millis::new(1_000);
