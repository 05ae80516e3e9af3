//! Test support: views built from text, a recording host, in-memory files.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use eddy_filter::{
    DynamicMetadata, EditLog, ExchangeFacts, ExchangeInfo, ExchangeView, FilterEdit, FilterInfo,
    FilterInvocation, FilterLibrary, FilterLogLevel, Handle, HostApi, HostError, LibraryCall, MetricRegistry,
    Phase, RequestView, ResponseView, Verdict,
};
use eddy_http::{Fields, HeadLimits, Method, RequestHead, ResponseHead};
use eddy_ids::{Millis, WorkerTime};

use crate::{BuiltinConfig, BuiltinContext, Services, make};

/// Exchange to be shown to filters.
pub(crate) struct TestExchange {
    pub(crate) now: WorkerTime,
    pub(crate) entropy: [u64; 2],
    pub(crate) peer: Option<IpAddr>,
    pub(crate) metadata: DynamicMetadata,
    pub(crate) is_end: bool,
    pub(crate) is_local: bool,
    pub(crate) worker: u16,
    pub(crate) state: u64,
    pub(crate) body: Vec<u8>,
    pub(crate) bytes_so_far: u64,
    pub(crate) exchange: u64,
    request: (RequestHead, Vec<u8>),
    response: Option<(ResponseHead, Vec<u8>)>,
    /// Trailers, stored as the headers of a head.
    trailers: Option<(ResponseHead, Vec<u8>)>,
}

/// Result of entering a filter.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TestFilterResult {
    pub(crate) verdict: Verdict,
    pub(crate) edits: Vec<String>,
    pub(crate) wait: Option<Millis>,
}

impl TestFilterResult {
    #[track_caller]
    pub(crate) fn assert_has(&self, edit: &str) {
        assert!(self.edits.iter().any(|own| own == edit), "{edit}: {self:?}");
    }
}

impl TestExchange {
    /// Creates an exchange from a request; lines end with LF here.
    pub(crate) fn request(text: &str) -> Self {
        let bytes = format!("{}\n\n", text.trim()).replace('\n', "\r\n").into_bytes();
        let mut head = RequestHead::new();
        head.parse(&bytes, &HeadLimits::default()).unwrap();
        Self {
            now: WorkerTime::from_millis(1_000_000),
            entropy: [3, 5],
            peer: Some("192.0.2.1".parse().unwrap()),
            metadata: DynamicMetadata::new(),
            is_end: false,
            is_local: false,
            worker: 0,
            state: 0,
            body: Vec::new(),
            bytes_so_far: 0,
            exchange: 1,
            request: (head, bytes),
            response: None,
            trailers: None,
        }
    }

    /// Sets the trailers.
    pub(crate) fn trailers(mut self, text: &str) -> Self {
        self.trailers = Some(response_head(&format!("HTTP/1.1 200 OK\n{text}")));
        self
    }

    /// Sets the response.
    pub(crate) fn response(mut self, text: &str) -> Self {
        self.response = Some(response_head(text));
        self
    }

    pub(crate) fn from(mut self, peer: &str) -> Self {
        self.peer = peer.parse().ok();
        self
    }

    /// Enters a filter with the exchange.
    pub(crate) fn enter(&mut self, library: &dyn FilterLibrary, phase: Phase) -> TestFilterResult {
        let mut edits = EditLog::new();
        let (verdict, wait) = self.run(library, phase, &mut edits);
        TestFilterResult { verdict, edits: spell(&edits), wait }
    }

    /// Enters a filter with the exchange; the filter writes its edits into `edits`.
    pub(crate) fn run(
        &mut self,
        library: &dyn FilterLibrary,
        phase: Phase,
        edits: &mut EditLog,
    ) -> (Verdict, Option<Millis>) {
        let (verdict, wait, state) = {
            let view = self.view(phase);
            let mut steps =
                [FilterInvocation { filter: 1, state: self.state, id: 9, ..FilterInvocation::default() }];
            let mut call = LibraryCall {
                worker: self.worker,
                exchange: Handle::from_number(self.exchange),
                turn: 7,
                is_sampled: false,
                view: Some(&view),
                steps: &mut steps,
                ended: &[],
                edits,
                stopped: 0,
                wait: None,
                current: &AtomicU32::new(0),
            };
            library.run(&mut call);
            let wait = call.wait;
            (steps[0].verdict, wait, steps[0].state)
        };
        self.state = state;
        (verdict, wait)
    }

    pub(crate) fn view(&self, phase: Phase) -> ExchangeView<'_> {
        let (head, bytes) = &self.request;
        let has_response = phase >= Phase::ResponseHead;
        let response = self.response.as_ref().filter(|_| has_response).map(|(head, bytes)| ResponseView {
            fields: head.fields(bytes),
            status: head.status,
            is_local: self.is_local,
        });
        ExchangeView {
            phase,
            is_end: self.is_end,
            is_buffered: false,
            request: RequestView {
                fields: head.fields(bytes),
                method: head.method,
                method_name: head.method_name(bytes),
                target: head.target.of(bytes),
                authority: head.authority.of(bytes),
                version: head.version,
                is_tls: false,
            },
            response,
            trailers: self.trailers.as_ref().map_or_else(Fields::default, |(head, bytes)| head.fields(bytes)),
            body: &self.body,
            facts: self,
        }
    }
}

impl ExchangeFacts for TestExchange {
    fn info(&self) -> ExchangeInfo<'_> {
        ExchangeInfo {
            peer: b"192.0.2.1:4711",
            peer_ip: self.peer,
            local: b"198.51.100.1:80",
            listener: b"public",
            rule: b"site/1",
            cluster: b"users",
            endpoint: if self.response.is_some() { b"127.0.0.1:9000" } else { b"" },
            request_id: b"id-1",
            metadata: Some(&self.metadata),
            started_unix_us: 1_700_000_000_123_456,
            now: self.now,
            entropy: self.entropy,
            request_bytes: self.bytes_so_far,
            response_bytes: self.bytes_so_far,
            ..ExchangeInfo::UNKNOWN
        }
    }
}

fn response_head(text: &str) -> (ResponseHead, Vec<u8>) {
    let bytes = format!("{}\n\n", text.trim()).replace('\n', "\r\n").into_bytes();
    let mut head = ResponseHead::new();
    head.parse(&bytes, &HeadLimits::default(), Method::Get).unwrap();
    (head, bytes)
}

/// Formats the edits of a log, one per line.
pub(crate) fn spell(edits: &EditLog) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let one = |edit: FilterEdit<'_>| match edit {
        FilterEdit::Set { name, value } => format!("set {}: {}", text(name), text(value)),
        FilterEdit::Add { name, value } => format!("add {}: {}", text(name), text(value)),
        FilterEdit::Remove { name } => format!("remove {}", text(name)),
        FilterEdit::Reply { status, details, .. } => format!("reply {status} {}", text(details)),
        FilterEdit::ReplyField { name, value } => format!("reply field {}: {}", text(name), text(value)),
        FilterEdit::Metadata { space, key, value } => {
            format!("metadata {}/{} {}", text(space), text(key), text(value))
        }
        FilterEdit::ReplyGrpc(status) => format!("grpc {status}"),
        FilterEdit::Trailer { .. } => format!("{edit:?}"),
        FilterEdit::Method(name) => format!("method {}", text(name)),
        FilterEdit::Target(target) => format!("target {}", text(target)),
        FilterEdit::Status(status) => format!("status {status}"),
        FilterEdit::BodySet(body) => format!("body {}", body.escape_ascii()),
        FilterEdit::Authority(_)
        | FilterEdit::BodyAppend(_)
        | FilterEdit::BodyPrepend(_)
        | FilterEdit::BodyDrain(_)
        | FilterEdit::ClearRoute
        | FilterEdit::Endpoint { .. }
        | FilterEdit::Fault(_)
        | FilterEdit::LimitFault { .. } => format!("{edit:?}"),
    };
    edits.records().map(|record| one(record.unwrap().edit)).collect()
}

/// Recorded call of `resume` for a paused exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResumeRecord {
    pub(crate) exchange: u64,
    pub(crate) turn: u32,
    pub(crate) verdict: Verdict,
    pub(crate) edits: Vec<String>,
}

/// Host that records calls.
pub(crate) struct TestHost {
    workers: usize,
    metrics: MetricRegistry,
    resumed: Mutex<Vec<ResumeRecord>>,
    changed: Condvar,
}

impl TestHost {
    /// Waits until `count` exchanges were resumed.
    pub(crate) fn resumed(&self, count: usize) -> Vec<ResumeRecord> {
        let resumed = self.resumed.lock().unwrap();
        let limit = Duration::from_secs(60);
        let few = |resumed: &mut Vec<ResumeRecord>| resumed.len() < count;
        let (resumed, late) = self.changed.wait_timeout_while(resumed, limit, few).unwrap();
        assert!(!late.timed_out(), "{} of {count} were resumed", resumed.len());
        resumed.clone()
    }

    /// Returns the value of a metric.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let views = self.metrics.views();
        views.iter().find(|view| &*view.name == name).map_or(0, |view| view.values[0])
    }
}

impl HostApi for TestHost {
    fn workers(&self) -> usize {
        self.workers
    }

    fn level(&self) -> FilterLogLevel {
        FilterLogLevel::Info
    }

    fn resume(&self, exchange: Handle, turn: u32, verdict: Verdict, edits: &[u8]) -> Result<(), HostError> {
        let mut log = EditLog::new();
        log.append(edits).unwrap();
        let resumed = ResumeRecord { exchange: exchange.number(), turn, verdict, edits: spell(&log) };
        self.resumed.lock().unwrap().push(resumed);
        self.changed.notify_all();
        Ok(())
    }

    fn metrics(&self) -> &MetricRegistry {
        &self.metrics
    }
}

/// In-memory files and real threads.
#[derive(Default)]
pub(crate) struct TestServices {
    pub(crate) files: HashMap<String, Vec<u8>>,
    pub(crate) has_no_threads: bool,
    /// Lock that tasks wait for before they run, if set.
    pub(crate) gate: Option<Arc<Mutex<()>>>,
}

impl TestServices {
    /// Creates services with one file.
    pub(crate) fn with_file(path: &str, bytes: &[u8]) -> Self {
        Self { files: [(path.to_owned(), bytes.to_vec())].into(), ..Self::default() }
    }
}

impl Services for TestServices {
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        self.files.get(&path.display().to_string()).cloned().ok_or_else(|| "there is no such file".to_owned())
    }

    fn spawn(&self, _name: &str, task: Box<dyn FnOnce() + Send>) -> Result<(), String> {
        if self.has_no_threads {
            return Err("none are left".to_owned());
        }
        let gate = self.gate.clone();
        std::thread::spawn(move || {
            if let Some(gate) = gate {
                drop(gate.lock());
            }
            task();
        });
        Ok(())
    }
}

/// Returns the environment for creating filters, for a number of workers.
pub(crate) fn context(workers: usize, services: TestServices) -> (BuiltinContext, Arc<TestHost>) {
    let host = Arc::new(TestHost {
        workers,
        metrics: MetricRegistry::new(workers),
        resumed: Mutex::default(),
        changed: Condvar::new(),
    });
    let context = BuiltinContext {
        id: 9,
        host: Arc::clone(&host) as Arc<dyn HostApi>,
        services: Arc::new(services),
        seed: [11, 22, 33, 44],
    };
    (context, host)
}

/// Creates a filter on a host with one worker.
pub(crate) fn made(config: &BuiltinConfig) -> (Arc<dyn FilterLibrary>, FilterInfo) {
    make(config, &context(1, TestServices::default()).0).unwrap()
}

/// Enters the filters of `library` in a body phase with one piece of the body.
pub(crate) fn enter_piece(
    stage: &mut TestExchange,
    library: &dyn FilterLibrary,
    phase: Phase,
    piece: &[u8],
    is_end: bool,
) -> TestFilterResult {
    stage.body = piece.to_vec();
    stage.is_end = is_end;
    stage.enter(library, phase)
}
