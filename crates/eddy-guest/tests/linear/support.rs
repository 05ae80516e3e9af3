//! Test module of the SDK, and a recording host.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use eddy_filter::{
    EditLog, EndedExchange, ExchangeView, FilterInvocation, FilterLibrary, FilterLogLevel,
    FilterOutboundRequest, Handle, HandleTable, HostApi, HostError, LibraryCall, MetricRegistry, Verdict,
};
use eddy_guest::{CreatedFilter, Guest, LinearLibrary, LinearLimits, LinearModule, ReclaimQueue};

use super::build::{Into, build};

/// Host that records calls.
pub(crate) struct FakeLinearHost {
    pub(crate) handles: HandleTable,
    pub(crate) metrics: MetricRegistry,
    pub(crate) said: Mutex<Vec<String>>,
    pub(crate) sent: Mutex<Vec<(u64, String)>>,
    pub(crate) resumed: Mutex<Vec<(Verdict, Vec<u8>)>>,
    /// Time for which `send` blocks its thread.
    pub(crate) held_up: Mutex<Duration>,
}

impl HostApi for FakeLinearHost {
    fn workers(&self) -> usize {
        2
    }

    fn level(&self) -> FilterLogLevel {
        FilterLogLevel::Info
    }

    fn resume(&self, exchange: Handle, turn: u32, verdict: Verdict, edits: &[u8]) -> Result<(), HostError> {
        self.handles.claim(exchange, turn)?;
        self.resumed.lock().unwrap().push((verdict, edits.to_vec()));
        Ok(())
    }

    fn log(&self, filter: u32, _: FilterLogLevel, text: &[u8]) -> Result<(), HostError> {
        self.said.lock().unwrap().push(format!("{filter}: {}", String::from_utf8_lossy(text)));
        Ok(())
    }

    fn metrics(&self) -> &MetricRegistry {
        &self.metrics
    }

    fn send(&self, request: &FilterOutboundRequest<'_>) -> Result<(), HostError> {
        let held_up = *self.held_up.lock().unwrap();
        let (_sender, receiver) = channel::<()>();
        assert!(receiver.recv_timeout(held_up).is_err());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let fields: Vec<String> =
            request.fields.iter().map(|(name, value)| format!("{}: {}", text(name), text(value))).collect();
        let said = format!(
            "{} {} {} {:?} {}",
            request.cluster,
            text(request.method),
            text(request.target),
            fields,
            text(request.body)
        );
        self.sent.lock().unwrap().push((request.token, said));
        Ok(())
    }
}

/// Library with a host of its own.
pub(crate) struct LinearTestBench {
    pub(crate) host: Arc<FakeLinearHost>,
    pub(crate) library: LinearLibrary,
    next_turn: AtomicU32,
}

impl LinearTestBench {
    /// Starts the module; `None` if Go is not installed.
    pub(crate) fn start() -> Option<Self> {
        let module = MODULE.as_ref()?;
        let host = Arc::new(FakeLinearHost {
            handles: HandleTable::new(2, 1024),
            metrics: MetricRegistry::new(2),
            said: Mutex::default(),
            sent: Mutex::default(),
            resumed: Mutex::default(),
            held_up: Mutex::default(),
        });
        let shown: Arc<dyn HostApi> = host.clone();
        let library = LinearLibrary::open(module, &shown).unwrap();
        Some(Self { host, library, next_turn: AtomicU32::new(1) })
    }

    /// Creates a filter of the module.
    pub(crate) fn made(&self, name: &str, config: &str) -> (CreatedFilter, FilterInvocation) {
        static IDS: AtomicU32 = AtomicU32::new(1);
        let id = IDS.fetch_add(1, Ordering::Relaxed);
        let made = self.library.filter(name, config, id, &ReclaimQueue::new(|| ())).unwrap();
        let step = FilterInvocation { filter: made.number, id, ..FilterInvocation::default() };
        (made, step)
    }

    /// Opens an exchange on the second worker.
    pub(crate) fn exchange(&self, slot: usize) -> Handle {
        self.host.handles.open(1, slot).unwrap()
    }

    /// Enters steps for an exchange.
    pub(crate) fn run(
        &self,
        exchange: Handle,
        steps: &mut [FilterInvocation],
        view: Option<&ExchangeView<'_>>,
        ended: &[EndedExchange],
    ) -> LinearTestOutcome {
        let turn = self.next_turn.fetch_add(1, Ordering::Relaxed);
        self.host.handles.announce(exchange, eddy_filter::Direction::Request, turn);
        let mut edits = EditLog::new();
        let current = AtomicU32::new(0);
        let mut call = LibraryCall {
            worker: 1,
            exchange,
            turn,
            is_sampled: false,
            view,
            steps,
            ended,
            edits: &mut edits,
            stopped: 0,
            wait: None,
            current: &current,
        };
        self.library.run(&mut call);
        let stopped = call.stopped;
        LinearTestOutcome { stopped, steps: steps.to_vec(), edits, current: current.load(Ordering::Relaxed) }
    }
}

/// Outcome of a call.
pub(crate) struct LinearTestOutcome {
    pub(crate) stopped: usize,
    pub(crate) steps: Vec<FilterInvocation>,
    pub(crate) edits: EditLog,
    pub(crate) current: u32,
}

impl LinearTestOutcome {
    /// Returns the edits as text.
    pub(crate) fn shown(&self) -> Vec<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.edits
            .records()
            .map(|record| {
                let edit = record.unwrap().edit;
                if let eddy_filter::FilterEdit::Set { name, value } = edit {
                    format!("{}={}", text(name), text(value))
                } else if let eddy_filter::FilterEdit::Fault(why)
                | eddy_filter::FilterEdit::LimitFault { why, .. } = edit
                {
                    format!("fault: {}", text(why))
                } else {
                    format!("{edit:?}")
                }
            })
            .collect()
    }
}

/// Maximum CPU time of a call of the module.
pub(crate) const CALL_TIME_MAX: Duration = Duration::from_millis(500);

/// Module, built and compiled once for all tests of the process.
static MODULE: LazyLock<Option<LinearModule>> = LazyLock::new(|| {
    let path = build("sdk/go", "./internal/linear/testmodule", Into::Module, "gotest.wasm")?;
    let limits =
        LinearLimits { memory_bytes_max: 64 << 20, call_time_max: CALL_TIME_MAX, ..LinearLimits::default() };
    let bytes = std::fs::read(&path).unwrap();
    assert!(LinearModule::speaks(&bytes));
    let kept = path.with_file_name("modules");
    Some(LinearModule::compile("test.wasm", &bytes, limits, Some(&kept)).unwrap())
});
