//! Host of the filters: implementation of the host API that all of them call.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock, Weak};

use eddy_filter::{
    CallBond, CallLimits, EDITS_BYTES_MAX, FilterLibrary, FilterLogLevel, FilterOutboundRequest, Handle,
    HandleTable, HostApi, HostError, MetricKind, MetricRegistry, StreamData, Verdict, Wake,
};
use eddy_ids::Shared;
use eddy_io::{SharedPage, monotonic_time};

use crate::control::limit_bytes;
use crate::host::inbox::{FilterResume, Inbox, WorkerMessage};
use crate::host::order::{OrderRefusal, Orders, OutboundOrder};
use crate::plan::FilterSet;

/// Maximum number of log records that one filter may write per second.
const RECORDS_A_SECOND_MAX: u64 = 1000;

/// Host API of the filters; lives as long as the process.
pub struct FilterHost {
    pub(crate) table: HandleTable,
    inboxes: Box<[Arc<Inbox>]>,
    metrics: MetricRegistry,
    level: FilterLogLevel,
    /// By filter number; locked for writing when filters are created.
    filters: RwLock<Vec<Arc<HostedFilter>>>,
    /// Log state for records that belong to no filter.
    unnamed: Arc<HostedFilter>,
    /// Names of the clusters that filters can send requests to; updated when a plan comes into force.
    clusters: RwLock<HashSet<Shared<str>>>,
    pub(crate) orders: Orders,
    memory_soft_bytes: AtomicU64,
    /// Worker that takes the next request that belongs to no exchange.
    next_worker: AtomicUsize,
}

/// Host state of a filter.
#[derive(Debug)]
struct HostedFilter {
    name: Arc<str>,
    /// Limits on its own requests in progress.
    calls: RwLock<CallLimits>,
    /// By reason, the second in which a refused request was last logged.
    refusal_logged: [AtomicU64; OrderRefusal::COUNT],
    /// Library that runs the filter, once a plan uses it; possibly of a plan that is no longer in force.
    library: RwLock<Option<Weak<dyn FilterLibrary>>>,
    /// The second that `records` counts.
    second: AtomicU64,
    records: AtomicU64,
    dropped: AtomicU64,
}

impl FilterHost {
    /// Creates a host for this many workers with this many exchanges each, which logs from `level` on.
    pub fn new(workers: usize, exchanges_max: usize, level: FilterLogLevel) -> Arc<Self> {
        Arc::new(Self {
            table: HandleTable::new(workers, exchanges_max),
            inboxes: (0..workers).map(|_| Arc::default()).collect(),
            metrics: MetricRegistry::new(workers),
            level,
            filters: RwLock::default(),
            unnamed: Arc::new(HostedFilter::new("-")),
            clusters: RwLock::default(),
            orders: Orders::default(),
            memory_soft_bytes: AtomicU64::new(0),
            next_worker: AtomicUsize::new(0),
        })
    }

    /// Sets the soft memory limit of runtimes in libraries that are opened from now on, in percent of the memory limit
    /// of the machine or control group.
    pub fn limit_memory(&self, percent: u8) {
        let there_is = limit_bytes().unwrap_or(0);
        self.memory_soft_bytes.store(there_is / 100 * u64::from(percent), Relaxed);
    }

    /// Assigns a number to a filter of this name, unique in this process. 0 stands for no filter.
    pub fn number(&self, name: &str) -> u32 {
        let mut filters = self.filters.write().unwrap_or_else(PoisonError::into_inner);
        filters.push(Arc::new(HostedFilter::new(name)));
        u32::try_from(filters.len()).unwrap_or(u32::MAX)
    }

    /// Returns the name of the filter with this number.
    pub fn name(&self, number: u32) -> Option<Arc<str>> {
        self.writer(number).map(|writer| Arc::clone(&writer.name))
    }

    /// Records the libraries that run these filters, so that results of their requests are delivered as long as the
    /// library is in use.
    pub(crate) fn know(&self, filters: &FilterSet) {
        for filter in filters.all() {
            if let Some(writer) = self.writer(filter.id) {
                let library = Some(Arc::downgrade(&filter.library));
                *writer.library.write().unwrap_or_else(PoisonError::into_inner) = library;
                *writer.calls.write().unwrap_or_else(PoisonError::into_inner) = filter.policy.calls;
            }
        }
    }

    /// Returns the library that runs the filter with this number.
    pub(crate) fn library(&self, number: u32) -> Option<Arc<dyn FilterLibrary>> {
        let writer = self.writer(number)?;
        let library = writer.library.read().unwrap_or_else(PoisonError::into_inner);
        library.as_ref()?.upgrade()
    }

    /// Sets the names of the existing clusters.
    pub(crate) fn set_clusters(&self, names: HashSet<Shared<str>>) {
        *self.clusters.write().unwrap_or_else(PoisonError::into_inner) = names;
    }

    pub(crate) fn inbox(&self, worker: usize) -> Option<Arc<Inbox>> {
        self.inboxes.get(worker).cloned()
    }

    /// Whether a request goes on as a background call now that its exchange is over.
    pub(crate) fn outlives(&self, order: &OutboundOrder) -> bool {
        let Some(writer) = self.writer(order.filter) else { return false };
        let may = self.orders.outlive(order.filter, order.token, writer.call_limits());
        if !may {
            self.note_refusal(&writer, order.filter, OrderRefusal::Background);
        }
        may
    }

    /// Counts a request that is refused, and logs it at most once per second and reason.
    #[cold]
    fn note_refusal(&self, writer: &HostedFilter, filter: u32, refusal: OrderRefusal) {
        let CallLimits { per_exchange, background } = writer.call_limits();
        let why = match refusal {
            // The filter's own mistake, which its call returns as an error.
            OrderRefusal::TokenInUse => return,
            OrderRefusal::Exchange => {
                format!("its exchange has {per_exchange} calls in progress (`calls_per_exchange`)")
            }
            OrderRefusal::Background => {
                format!("it has {background} background calls in progress (`background_calls`)")
            }
            OrderRefusal::Filter => "limit of calls per filter reached".to_owned(),
            OrderRefusal::Gateway => "limit of calls of all filters reached".to_owned(),
        };
        let defined = self.metrics.define(filter, MetricKind::Counter, REFUSED_CALLS, &[]);
        // Not counted for a filter that has used up its number of metrics.
        if let Ok(metric) = defined {
            metric.add(self.inboxes.len(), 1);
        }
        let second = monotonic_time().as_secs() + 1;
        if writer.refusal_logged[refusal as usize].swap(second, Relaxed) != second {
            tracing::warn!(filter = &*writer.name, "a filter's call to a cluster is refused: {why}");
        }
    }

    /// Validates a request of a filter, unless the exchange that waits for it is over.
    fn check_order(&self, request: &FilterOutboundRequest<'_>) -> Result<OutboundOrder, HostError> {
        let is_over = request.exchange.is_some_and(|exchange| !self.table.is_open(exchange));
        if is_over && request.bond == CallBond::Awaited {
            return Err(HostError::Gone);
        }
        let clusters = self.clusters.read().unwrap_or_else(PoisonError::into_inner);
        if !clusters.contains(request.cluster) {
            return Err(HostError::Unknown);
        }
        drop(clusters);
        let mut order = OutboundOrder::check(request)?;
        if is_over {
            order.exchange = None;
        }
        Ok(order)
    }

    /// Registers an order and passes it to a worker.
    fn leave_order(&self, order: OutboundOrder, worker: usize) -> Result<(), HostError> {
        let writer = self.writer(order.filter).ok_or(HostError::Unknown)?;
        let inbox = self.inboxes.get(worker).ok_or(HostError::Gone)?;
        if let Err(refusal) = self.orders.begin(&order, writer.call_limits()) {
            self.note_refusal(&writer, order.filter, refusal);
            return Err(refusal.error());
        }
        let (filter, token) = (order.filter, order.token);
        let left = inbox.leave(order.size(), || Ok(WorkerMessage::Ordered(order)));
        if left.is_err() {
            self.orders.end(filter, token);
        }
        left
    }

    fn writer(&self, number: u32) -> Option<Arc<HostedFilter>> {
        let filters = self.filters.read().unwrap_or_else(PoisonError::into_inner);
        filters.get(usize::try_from(number).ok()?.checked_sub(1)?).cloned()
    }
}

impl HostApi for FilterHost {
    fn workers(&self) -> usize {
        self.inboxes.len()
    }

    fn level(&self) -> FilterLogLevel {
        self.level
    }

    fn resume(&self, exchange: Handle, turn: u32, verdict: Verdict, edits: &[u8]) -> Result<(), HostError> {
        if edits.len() > EDITS_BYTES_MAX {
            return Err(HostError::TooLarge);
        }
        let inbox = self.inboxes.get(exchange.worker()).ok_or(HostError::Gone)?;
        inbox.leave(edits.len(), || {
            // A filter that stays paused sends data.
            let direction = match verdict {
                Verdict::Pause => self.table.claim_to_send(exchange, turn)?,
                Verdict::Continue
                | Verdict::Reply
                | Verdict::Buffer
                | Verdict::Fault
                | Verdict::Reset
                | Verdict::Hold => self.table.claim(exchange, turn)?,
            };
            Ok(WorkerMessage::Resumed(FilterResume {
                exchange,
                direction,
                turn,
                verdict,
                edits: edits.to_vec(),
            }))
        })
    }

    fn log(&self, filter: u32, level: FilterLogLevel, text: &[u8]) -> Result<(), HostError> {
        if level < self.level || level == FilterLogLevel::Off {
            return Ok(());
        }
        // Records that a library writes while one of its filters runs on a worker are attributed to that filter.
        let filter = if filter == 0 { entered() } else { filter };
        let writer = self.writer(filter).unwrap_or_else(|| Arc::clone(&self.unnamed));
        let name: &str = &writer.name;
        if !writer.may_write(monotonic_time().as_secs(), name) {
            return Err(HostError::Full);
        }
        let text = String::from_utf8_lossy(text.get(..RECORD_BYTES_MAX).unwrap_or(text));
        match level {
            FilterLogLevel::Trace => tracing::trace!(filter = name, "{text}"),
            FilterLogLevel::Debug => tracing::debug!(filter = name, "{text}"),
            FilterLogLevel::Info => tracing::info!(filter = name, "{text}"),
            FilterLogLevel::Warn => tracing::warn!(filter = name, "{text}"),
            FilterLogLevel::Error | FilterLogLevel::Off => tracing::error!(filter = name, "{text}"),
        }
        Ok(())
    }

    fn metrics(&self) -> &MetricRegistry {
        &self.metrics
    }

    fn memory_soft_bytes(&self) -> u64 {
        self.memory_soft_bytes.load(Relaxed)
    }

    fn send(&self, request: &FilterOutboundRequest<'_>) -> Result<(), HostError> {
        let order = self.check_order(request)?;
        let next = || self.next_worker.fetch_add(1, Relaxed) % self.inboxes.len().max(1);
        let worker = order.exchange.map_or_else(next, Handle::worker);
        self.leave_order(order, worker)
    }

    fn open_stream(&self, request: &FilterOutboundRequest<'_>, worker: u16) -> Result<(), HostError> {
        let order = self.check_order(request)?.streamed(request.timeout)?;
        self.leave_order(order, usize::from(worker))
    }

    fn send_data(&self, filter: u32, token: u64, data: StreamData<'_>) -> Result<(), HostError> {
        // The lock of the orders is released before data is copied.
        let upload = self.orders.upload(filter, token).ok_or(HostError::Unknown)?;
        upload.push(data)
    }

    fn cancel(&self, filter: u32, token: u64) -> Result<(), HostError> {
        if self.orders.end(filter, token) { Ok(()) } else { Err(HostError::Unknown) }
    }

    fn wake(&self, wake: Wake) -> Result<(), HostError> {
        let inbox = self.inboxes.get(usize::from(wake.worker)).ok_or(HostError::Unknown)?;
        inbox.leave(size_of::<Wake>(), || Ok(WorkerMessage::Wake(wake)))
    }
}

thread_local! {
    /// The worker that runs on this thread: the page that holds its current filter, and its index there.
    static WORKER: OnceCell<(Arc<SharedPage>, usize)> = const { OnceCell::new() };
}

/// Records that this thread is a worker.
pub(crate) fn note_worker(page: &Arc<SharedPage>, index: usize) {
    // A thread is the same worker throughout its life.
    WORKER.with(|worker| drop(worker.set((Arc::clone(page), index))));
}

/// Returns the filter that runs on this thread; 0 for none.
fn entered() -> u32 {
    WORKER.with(|worker| worker.get().map_or(0, |(page, index)| page.worker(*index).filter.load(Relaxed)))
}

impl HostedFilter {
    fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            calls: RwLock::default(),
            refusal_logged: Default::default(),
            library: RwLock::default(),
            second: AtomicU64::new(0),
            records: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
        }
    }

    fn call_limits(&self) -> CallLimits {
        *self.calls.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether another record may be written in this second. Concurrent threads may each write one too many.
    fn may_write(&self, second: u64, name: &str) -> bool {
        if self.second.swap(second, Relaxed) != second {
            self.records.store(0, Relaxed);
            let dropped = self.dropped.swap(0, Relaxed);
            if dropped > 0 {
                tracing::warn!(
                    filter = name,
                    dropped,
                    "the filter writes too many log entries; some were dropped"
                );
            }
        }
        let may = self.records.fetch_add(1, Relaxed) < RECORDS_A_SECOND_MAX;
        if !may {
            self.dropped.fetch_add(1, Relaxed);
        }
        may
    }
}

impl fmt::Debug for FilterHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilterHost").field("workers", &self.inboxes.len()).finish_non_exhaustive()
    }
}

/// Name of the metric that counts a filter's refused requests.
const REFUSED_CALLS: &str = "calls_refused_total";
/// Maximum length of a filter's log record in bytes; longer records are truncated.
const RECORD_BYTES_MAX: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use eddy_filter::Direction;

    #[test]
    fn a_paused_exchange_is_resumed_once() {
        let host = FilterHost::new(2, 16, FilterLogLevel::Info);
        let handle = host.table.open(1, 0).unwrap();
        host.table.announce(handle, Direction::Request, 3);
        // Data is sent one piece at a time; only the worker knows when it has left.
        assert_eq!(host.resume(handle, 3, Verdict::Pause, &[2]), Ok(()));
        assert_eq!(host.resume(handle, 3, Verdict::Pause, &[2]), Err(HostError::Full));
        assert_eq!(host.resume(handle, 3, Verdict::Continue, &[2]), Err(HostError::Full));
        host.table.announce(handle, Direction::Request, 3);
        assert_eq!(host.resume(handle, 2, Verdict::Continue, &[]), Err(HostError::Stale));
        assert_eq!(host.resume(handle, 3, Verdict::Continue, &[1]), Ok(()));
        assert_eq!(host.resume(handle, 3, Verdict::Reply, &[]), Err(HostError::Stale));
        host.table.close(handle);
        assert_eq!(host.resume(handle, 3, Verdict::Continue, &[]), Err(HostError::Gone));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut taken = Vec::new();
        runtime.block_on(host.inbox(1).unwrap().take(&mut taken));
        assert!(
            matches!(&taken[..], [WorkerMessage::Resumed(sent), WorkerMessage::Resumed(resumed)] if sent.edits == [2] && resumed.edits == [1] && resumed.turn == 3)
        );
    }

    #[test]
    fn log_output_of_a_filter_is_limited() {
        let host = FilterHost::new(1, 1, FilterLogLevel::Info);
        let number = host.number("loud");
        assert_eq!(host.name(number).as_deref(), Some("loud"));
        assert_eq!((host.name(0), host.name(number + 1)), (None, None));
        let writer = host.writer(number).unwrap();
        let written = (0..5000).filter(|_| writer.may_write(7, "loud")).count();
        assert_eq!(written, 1000);
        assert!(writer.may_write(8, "loud"));
        assert_eq!(host.log(number, FilterLogLevel::Debug, b"below the level"), Ok(()));
    }
    #[test]
    fn log_entries_without_a_filter_belong_to_the_running_filter() {
        let host = FilterHost::new(1, 1, FilterLogLevel::Info);
        let number = host.number("busy");
        let (page, _fd) = SharedPage::create().unwrap();
        let page = Arc::new(page);
        assert_eq!(entered(), 0);
        note_worker(&page, 0);
        assert_eq!(entered(), 0);
        page.worker(0).filter.store(number, Relaxed);
        assert_eq!(host.log(0, FilterLogLevel::Info, b"from a hook"), Ok(()));
        page.worker(0).filter.store(0, Relaxed);
        assert_eq!(host.log(0, FilterLogLevel::Info, b"from elsewhere"), Ok(()));
        let written = |writer: &HostedFilter| writer.records.load(Relaxed);
        assert_eq!((written(&host.writer(number).unwrap()), written(&host.unnamed)), (1, 1));
    }

    #[test]
    fn log_entries_without_a_filter_are_limited_as_well() {
        let host = FilterHost::new(1, 1, FilterLogLevel::Off);
        let full = (0..5000).filter(|_| !host.unnamed.may_write(7, "-")).count();
        assert_eq!(full, 4000);
    }
}
