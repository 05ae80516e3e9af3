//! Functions of the fake host, and the data reported to them.
//!
//! The ABI passes them no context, so their data is global to the process, keyed by numbers that no two tests share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::crossing::{self, Written};
use super::library::Configured;
use super::message::TestFields;
use crate::abi;
use crate::log::Level;
use crate::overlay::OwnedHead;
use crate::view::list;

/// A request sent by a filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentRequest {
    /// Cluster name.
    pub cluster: String,
    /// Method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Header fields.
    pub fields: TestFields,
    /// Body.
    pub body: Vec<u8>,
    token: u64,
}

/// Continuation of a paused exchange.
#[derive(Clone, Debug)]
pub(super) struct FakeResume {
    pub(super) verdict: u8,
    pub(super) edits: Vec<u8>,
}

/// Data reported to the host.
#[derive(Default)]
struct FakeHostState {
    /// Exchanges in progress, with the turn they wait for and its result.
    exchanges: HashMap<u64, PendingResume>,
    logs: HashMap<u32, Vec<(u32, String)>>,
    metrics: HashMap<(u32, String), FakeMetricCells>,
    sent: HashMap<u32, Vec<SentRequest>>,
}

#[derive(Default)]
struct PendingResume {
    turn: u32,
    resumed: Option<FakeResume>,
    is_used: bool,
}

#[derive(Clone, Copy)]
struct FakeMetricCells {
    kind: u32,
    lane: usize,
    cells: &'static [AtomicU64],
}

static FAKE_HOST_STATE: LazyLock<Mutex<FakeHostState>> = LazyLock::new(Mutex::default);
static CHANGED: Condvar = Condvar::new();
static EXCHANGE: AtomicU64 = AtomicU64::new(1);
static FILTER: AtomicU32 = AtomicU32::new(1);

/// The function table.
pub(super) static HOST: abi::AbiHost = abi::AbiHost {
    abi: abi::ABI,
    size: {
        #[expect(clippy::cast_possible_truncation, reason = "the table is small")]
        let size = size_of::<abi::AbiHost>() as u32;
        size
    },
    workers: WORKERS,
    level: abi::TRACE,
    resume,
    edits_grow: crossing::edits_grow,
    log,
    metric,
    send,
    cancel,
    memory_soft_bytes: 0,
    about,
};

/// Calls of the fake host have the facts from the start.
unsafe extern "C" fn about(_: *mut abi::AbiCall) -> i32 {
    abi::OK
}

/// Returns the messages that the filter has logged so far.
#[must_use]
pub fn logged(filter: &Configured) -> Vec<(Level, String)> {
    let told = told();
    let records = told.logs.get(&filter.id()).map(Vec::as_slice).unwrap_or_default();
    records.iter().map(|(level, text)| (level_of(*level), text.clone())).collect()
}

/// Returns the cells of a metric of the filter, summed over all threads; empty if there is none.
#[must_use]
pub fn counted(filter: &Configured, name: &str) -> Vec<u64> {
    let told = told();
    let Some(metric) = told.metrics.get(&(filter.id(), name.to_owned())) else { return Vec::new() };
    let mut sums = vec![0_u64; metric.lane];
    for (place, cell) in metric.cells.iter().enumerate() {
        if let Some(sum) = sums.get_mut(place % metric.lane) {
            *sum = sum.wrapping_add(cell.load(Ordering::Relaxed));
        }
    }
    sums
}

/// Returns the requests that the filter has in flight.
#[must_use]
pub fn sent(filter: &Configured) -> Vec<SentRequest> {
    told().sent.get(&filter.id()).cloned().unwrap_or_default()
}

/// Ends a request that the filter sent: with a response, or with a word for the reason why there is none.
pub fn answer(filter: &Configured, sent: &SentRequest, answer: Result<super::Response, &str>) {
    if let Some(under_way) = told().sent.get_mut(&filter.id()) {
        under_way.retain(|other| other.token != sent.token);
    }
    let (kind, status, fields, body) = match answer {
        Ok(response) => {
            let body = response.whole_body();
            (abi::EVENT_RESPONSE, response.status, response.fields.to_owned_head(), body)
        }
        Err(word) => (abi::EVENT_FAILED, 0, OwnedHead::default(), word.as_bytes().to_vec()),
    };
    filter.library().event(&abi::AbiEvent {
        size: u32::try_from(size_of::<abi::AbiEvent>()).unwrap_or_default(),
        kind,
        token: sent.token,
        filter: filter.id(),
        worker: 0,
        status,
        head: fields.as_abi(),
        body: abi::AbiText::of(&body),
    });
}

/// An exchange whose crossings are made by the test itself.
#[derive(Debug)]
pub struct Turns {
    exchange: u64,
    turn: u32,
}

impl Turns {
    /// Begins an exchange.
    #[must_use]
    pub fn begin() -> Self {
        Self { exchange: begin(), turn: 0 }
    }

    /// Returns the number of the exchange, and the number of its next crossing.
    pub fn next_turn(&mut self) -> (u64, u32) {
        self.turn += 1;
        next_turn(self.exchange, self.turn);
        (self.exchange, self.turn)
    }

    /// Waits until a paused crossing is resumed, and returns its verdict and edits. `None` after a deadline of some
    /// seconds.
    #[must_use]
    pub fn resumed(&self) -> Option<(u8, Vec<Written>)> {
        wait(self.exchange).map(|resumed| (resumed.verdict, Written::all(&resumed.edits)))
    }
}

impl Drop for Turns {
    fn drop(&mut self) {
        end(self.exchange);
    }
}

/// Returns a new exchange number.
pub(super) fn begin() -> u64 {
    let exchange = EXCHANGE.fetch_add(1, Ordering::Relaxed);
    told().exchanges.insert(exchange, PendingResume::default());
    exchange
}

/// Makes the exchange wait for another turn.
pub(super) fn next_turn(exchange: u64, turn: u32) {
    told().exchanges.insert(exchange, PendingResume { turn, ..PendingResume::default() });
}

/// Ends the exchange.
pub(super) fn end(exchange: u64) {
    told().exchanges.remove(&exchange);
}

/// Waits until a paused exchange is resumed; `None` at the deadline.
pub(super) fn wait(exchange: u64) -> Option<FakeResume> {
    let is_waiting =
        |told: &mut FakeHostState| told.exchanges.get(&exchange).is_some_and(|own| own.resumed.is_none());
    let (mut told, _) =
        CHANGED.wait_timeout_while(told(), PAUSE_MAX, is_waiting).unwrap_or_else(PoisonError::into_inner);
    let waiting = told.exchanges.get_mut(&exchange)?;
    waiting.is_used = true;
    waiting.resumed.take()
}

/// Returns a new filter number.
pub(super) fn filter_id() -> u32 {
    FILTER.fetch_add(1, Ordering::Relaxed)
}

fn told() -> MutexGuard<'static, FakeHostState> {
    FAKE_HOST_STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn level_of(number: u32) -> Level {
    match number {
        abi::TRACE => Level::Trace,
        abi::DEBUG => Level::Debug,
        abi::INFO => Level::Info,
        abi::WARN => Level::Warn,
        _ => Level::Error,
    }
}

unsafe extern "C" fn resume(exchange: u64, turn: u32, verdict: u32, edits: *const u8, len: u32) -> i32 {
    let mut told = told();
    let Some(waiting) = told.exchanges.get_mut(&exchange) else { return abi::GONE };
    if waiting.turn != turn || waiting.is_used || waiting.resumed.is_some() {
        return abi::STALE;
    }
    let Ok(verdict) = u8::try_from(verdict) else { return abi::INVALID };
    // SAFETY: the library guarantees that many bytes there.
    let edits = unsafe { list(edits, len as usize) }.to_vec();
    waiting.resumed = Some(FakeResume { verdict, edits });
    drop(told);
    CHANGED.notify_all();
    abi::OK
}

unsafe extern "C" fn log(filter: u32, level: u32, text: *const u8, len: usize) -> i32 {
    // SAFETY: the library guarantees that many bytes there.
    let text = unsafe { list(text, len) };
    let text = String::from_utf8_lossy(text).into_owned();
    told().logs.entry(filter).or_default().push((level, text));
    abi::OK
}

unsafe extern "C" fn metric(
    filter: u32,
    kind: u32,
    name: *const u8,
    name_len: usize,
    _bounds: *const u64,
    bounds_len: u32,
    out: *mut abi::Metric,
) -> i32 {
    // SAFETY: the library guarantees that many bytes there.
    let name = String::from_utf8_lossy(unsafe { list(name, name_len) }).into_owned();
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_name || kind > abi::HISTOGRAM || bounds_len > 32 {
        return abi::INVALID;
    }
    let mut told = told();
    let of_filter = told.metrics.keys().filter(|(own, _)| *own == filter).count();
    if of_filter >= 64 {
        return abi::FULL;
    }
    let metric = *told.metrics.entry((filter, name)).or_insert_with(|| {
        let lane = if kind == abi::HISTOGRAM { bounds_len as usize + 2 } else { 1 };
        let cells: Vec<AtomicU64> = (0..lane * (WORKERS as usize + 1)).map(|_| AtomicU64::new(0)).collect();
        // The ABI requires that cells live as long as the process.
        FakeMetricCells { kind, lane, cells: cells.leak() }
    });
    if metric.kind != kind {
        return abi::INVALID;
    }
    let stride = u32::try_from(metric.lane).unwrap_or_default();
    let place = abi::Metric { cells: metric.cells.as_ptr().cast_mut().cast(), stride, reserved: 0 };
    // SAFETY: the library's location for the result.
    unsafe { out.write(place) };
    abi::OK
}

unsafe extern "C" fn send(request: *const abi::AbiOutbound) -> i32 {
    // SAFETY: the library's request, valid while this runs.
    let request = unsafe { &*request };
    let text = |text: abi::AbiText| {
        // SAFETY: the library guarantees that many bytes there.
        let bytes: &[u8] = unsafe { list(text.data, text.len) };
        bytes.to_vec()
    };
    let lossy = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    // SAFETY: the library guarantees that many pairs there.
    let pairs = unsafe { list(request.fields, 2 * request.fields_len as usize) };
    let mut fields = TestFields::default();
    for pair in pairs.as_chunks::<2>().0 {
        let [name, value] = *pair;
        fields.add(text(name), text(value));
    }
    let sent = SentRequest {
        cluster: lossy(text(request.cluster)),
        method: lossy(text(request.method)),
        target: lossy(text(request.target)),
        fields,
        body: text(request.body),
        token: request.token,
    };
    if sent.cluster == "unknown" {
        return abi::UNKNOWN;
    }
    told().sent.entry(request.filter).or_default().push(sent);
    abi::OK
}

unsafe extern "C" fn cancel(filter: u32, token: u64) -> i32 {
    let mut told = told();
    let Some(under_way) = told.sent.get_mut(&filter) else { return abi::UNKNOWN };
    let before = under_way.len();
    under_way.retain(|sent| sent.token != token);
    if under_way.len() < before { abi::OK } else { abi::UNKNOWN }
}

const WORKERS: u32 = 2;
/// Maximum duration of a pause.
const PAUSE_MAX: Duration = Duration::from_secs(10);
