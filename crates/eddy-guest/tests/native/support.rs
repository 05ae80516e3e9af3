//! Libraries built for a test, and a recording host.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use eddy_filter::{
    EditLog, EndedExchange, ExchangeView, FilterEdit, FilterInvocation, FilterLibrary, FilterLogLevel,
    FilterOutboundRequest, Handle, HandleTable, HostApi, HostError, LibraryCall, MetricRegistry, Verdict,
};
use eddy_guest::{CreatedFilter, Guest, NativeLibrary, ReclaimQueue};

/// Host that records calls.
pub(crate) struct FakeNativeHost {
    pub(crate) handles: HandleTable,
    pub(crate) metrics: MetricRegistry,
    pub(crate) said: Mutex<Vec<(u32, FilterLogLevel, String)>>,
    pub(crate) sent: Mutex<Vec<String>>,
    pub(crate) resumed: AtomicU64,
}

/// Host of this process.
pub(crate) static HOST: LazyLock<Arc<FakeNativeHost>> = LazyLock::new(|| {
    Arc::new(FakeNativeHost {
        handles: HandleTable::new(2, 1024),
        metrics: MetricRegistry::new(2),
        said: Mutex::default(),
        sent: Mutex::default(),
        resumed: AtomicU64::new(0),
    })
});

impl HostApi for FakeNativeHost {
    fn workers(&self) -> usize {
        2
    }

    fn level(&self) -> FilterLogLevel {
        FilterLogLevel::Info
    }

    fn resume(&self, exchange: Handle, turn: u32, verdict: Verdict, _edits: &[u8]) -> Result<(), HostError> {
        if verdict == Verdict::Pause {
            return Err(HostError::Invalid);
        }
        self.handles.claim(exchange, turn)?;
        self.resumed.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn log(&self, filter: u32, level: FilterLogLevel, text: &[u8]) -> Result<(), HostError> {
        let text = String::from_utf8_lossy(text).into_owned();
        assert_ne!(text, "panic", "a host may be at fault too");
        self.said.lock().unwrap().push((filter, level, text));
        Ok(())
    }

    fn metrics(&self) -> &MetricRegistry {
        &self.metrics
    }

    fn send(&self, request: &FilterOutboundRequest<'_>) -> Result<(), HostError> {
        self.sent.lock().unwrap().push(format!("{request:?}"));
        Ok(())
    }

    fn cancel(&self, _filter: u32, token: u64) -> Result<(), HostError> {
        if token == 78 { Err(HostError::Unknown) } else { Ok(()) }
    }
}

impl FakeNativeHost {
    /// Returns the messages that a filter has logged so far.
    pub(crate) fn logged_by(&self, filter: u32) -> Vec<String> {
        let said = self.said.lock().unwrap();
        said.iter().filter(|(by, ..)| *by == filter).map(|(_, _, text)| text.clone()).collect()
    }
}

/// Returns the host as passed to libraries.
pub(crate) fn host() -> Arc<dyn HostApi> {
    HOST.clone()
}

/// Builds the test library with these flags, once for each name.
pub(crate) fn build(name: &str, flags: &[&str]) -> PathBuf {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _one = BUILDING.lock().unwrap();
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sanitizer = std::env::var_os(SANITIZER);
    let prefix = if sanitizer.is_some() { "checked-" } else { "" };
    let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{prefix}lib{name}.so"));
    let built = Command::new("cc")
        .args([
            "-std=gnu11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-infinite-recursion",
            "-g",
            "-fPIC",
            "-shared",
            "-pthread",
        ])
        .args(flags)
        .args(sanitizer)
        .arg("-I")
        .arg(manifest.join("../../abi"))
        .arg("-o")
        .arg(&library)
        .arg(manifest.join("tests/native/faults.c"))
        .status()
        .expect("eddy's tests need a C compiler by the name of cc");
    assert!(built.success(), "the library of faults does not compile");
    library
}

/// Environment variable with the compiler flag for a memory sanitizer.
pub(crate) const SANITIZER: &str = "EDDY_TEST_SANITIZER";

/// Opens the test library, built without flags.
pub(crate) fn faults() -> Arc<NativeLibrary> {
    static FAULTS: LazyLock<Arc<NativeLibrary>> =
        LazyLock::new(|| NativeLibrary::open(&build("faults", &[]), &host()).unwrap());
    FAULTS.clone()
}

/// Returns a reclaim queue without a wake-up function.
pub(crate) fn reclaim_queue() -> ReclaimQueue {
    ReclaimQueue::new(|| ())
}

/// Returns an ID that no other filter of this process has.
pub(crate) fn next_id() -> u32 {
    static IDS: AtomicU32 = AtomicU32::new(1);
    IDS.fetch_add(1, Ordering::Relaxed)
}

/// Creates a filter of the test library; returns it with its ID.
pub(crate) fn make(name: &str, config: &str) -> (CreatedFilter, u32) {
    let id = next_id();
    (faults().filter(name, config, id, &reclaim_queue()).unwrap(), id)
}

/// Outcome of a call.
pub(crate) struct NativeTestOutcome {
    pub(crate) stopped: usize,
    pub(crate) steps: Vec<FilterInvocation>,
    pub(crate) edits: EditLog,
    pub(crate) current: u32,
}

impl NativeTestOutcome {
    /// Returns the edits as text.
    pub(crate) fn shown(&self) -> Vec<String> {
        self.edits.records().map(|record| format!("{:?}", record.unwrap())).collect()
    }

    /// Returns the value that a header was set to.
    pub(crate) fn set(&self, wanted: &str) -> Option<String> {
        self.edits.records().find_map(|record| {
            let FilterEdit::Set { name, value } = record.unwrap().edit else { return None };
            (name == wanted.as_bytes()).then(|| String::from_utf8(value.to_vec()).unwrap())
        })
    }
}

/// Enters these filters of the test library.
pub(crate) fn enter(
    filters: &[(CreatedFilter, u32)],
    view: Option<&ExchangeView<'_>>,
    ended: &[EndedExchange],
) -> NativeTestOutcome {
    let mut steps: Vec<FilterInvocation> = filters
        .iter()
        .map(|(made, id)| FilterInvocation { filter: made.number, id: *id, ..FilterInvocation::default() })
        .collect();
    run(&mut steps, view, ended)
}

/// Enters these steps of the test library.
pub(crate) fn run(
    steps: &mut [FilterInvocation],
    view: Option<&ExchangeView<'_>>,
    ended: &[EndedExchange],
) -> NativeTestOutcome {
    run_in(&faults(), steps, view, ended)
}

/// Enters these steps of a library.
pub(crate) fn run_in(
    library: &NativeLibrary,
    steps: &mut [FilterInvocation],
    view: Option<&ExchangeView<'_>>,
    ended: &[EndedExchange],
) -> NativeTestOutcome {
    run_with(library, steps, view, ended, EditLog::new())
}

/// Enters these steps of a library with a log that was used before.
pub(crate) fn run_with(
    library: &NativeLibrary,
    steps: &mut [FilterInvocation],
    view: Option<&ExchangeView<'_>>,
    ended: &[EndedExchange],
    mut edits: EditLog,
) -> NativeTestOutcome {
    let current = AtomicU32::new(0);
    let mut call = LibraryCall {
        worker: 1,
        exchange: Handle::from_number(0x0100_0002_0000_0003),
        turn: 9,
        is_sampled: true,
        view,
        steps,
        ended,
        edits: &mut edits,
        stopped: 0,
        wait: None,
        current: &current,
    };
    library.run(&mut call);
    let stopped = call.stopped;
    NativeTestOutcome { stopped, steps: steps.to_vec(), edits, current: current.load(Ordering::Relaxed) }
}
