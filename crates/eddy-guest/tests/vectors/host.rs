//! Host that records how exchanges are resumed.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, LazyLock, Mutex};
use std::time::Duration;

use eddy_filter::{FilterLogLevel, Handle, HostApi, HostError, MetricRegistry, Verdict};

/// Verdict and edits with which an exchange was resumed.
pub(crate) type ResumeEdits = (Verdict, Vec<u8>);

struct Keeper {
    metrics: MetricRegistry,
    resumed: Mutex<HashMap<(u64, u32), ResumeEdits>>,
    arrived: Condvar,
}

static KEEPER: LazyLock<Arc<Keeper>> = LazyLock::new(|| {
    Arc::new(Keeper { metrics: MetricRegistry::new(1), resumed: Mutex::default(), arrived: Condvar::new() })
});

/// Returns the host as passed to libraries.
pub(crate) fn host() -> Arc<dyn HostApi> {
    KEEPER.clone()
}

/// Waits for an exchange to be resumed.
pub(crate) fn resumed(exchange: u64, turn: u32) -> Option<ResumeEdits> {
    let resumed = KEEPER.resumed.lock().unwrap();
    let is_missing = |all: &mut HashMap<(u64, u32), ResumeEdits>| !all.contains_key(&(exchange, turn));
    let (mut resumed, _) = KEEPER.arrived.wait_timeout_while(resumed, PATIENCE, is_missing).unwrap();
    resumed.remove(&(exchange, turn))
}

impl HostApi for Keeper {
    fn workers(&self) -> usize {
        1
    }

    fn level(&self) -> FilterLogLevel {
        FilterLogLevel::Info
    }

    fn resume(&self, exchange: Handle, turn: u32, verdict: Verdict, edits: &[u8]) -> Result<(), HostError> {
        let before =
            self.resumed.lock().unwrap().insert((exchange.number(), turn), (verdict, edits.to_vec()));
        self.arrived.notify_all();
        assert!(before.is_none(), "an exchange is resumed once");
        Ok(())
    }

    fn metrics(&self) -> &MetricRegistry {
        &self.metrics
    }
}

const PATIENCE: Duration = Duration::from_secs(20);
