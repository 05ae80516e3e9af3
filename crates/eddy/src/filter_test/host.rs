//! Mock host of a script under test: records the script's calls, and is answered by the spec.

use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use eddy_filter::{
    EditLog, FilterLogLevel, FilterOutboundRequest, Handle, HostApi, HostError, MetricRegistry, Verdict,
};

use super::message::{SpecField, SpecMessage};

/// Host with one worker.
pub(super) struct RehearsalHost {
    metrics: MetricRegistry,
    noted: Mutex<HostRecording>,
}

/// Calls recorded since they were last taken.
#[derive(Debug, Default)]
pub(super) struct HostRecording {
    /// Clusters that the spec defines.
    pub(super) clusters: Vec<Vec<u8>>,
    pub(super) records: Vec<ScriptLogRecord>,
    /// Requests of the script that are not answered yet.
    pub(super) sent: Vec<ScriptRequest>,
    pub(super) resumed: Option<ScriptResume>,
}

/// Log entry of a script.
#[derive(Debug)]
pub(super) struct ScriptLogRecord {
    pub(super) level: FilterLogLevel,
    pub(super) text: Vec<u8>,
}

/// Request sent by a script.
#[derive(Debug)]
pub(super) struct ScriptRequest {
    pub(super) cluster: String,
    pub(super) token: u64,
    /// Whether the exchange waits for the response.
    pub(super) is_awaited: bool,
    pub(super) request: SpecMessage,
}

/// Verdict and edits with which a paused exchange continues.
#[derive(Debug)]
pub(super) struct ScriptResume {
    pub(super) verdict: Verdict,
    pub(super) edits: EditLog,
}

impl RehearsalHost {
    /// Returns the host of all filters of the process, because shared libraries keep the first one that they see.
    pub(super) fn of_process() -> Arc<Self> {
        static HOST: LazyLock<Arc<RehearsalHost>> = LazyLock::new(|| {
            Arc::new(RehearsalHost { metrics: MetricRegistry::new(1), noted: Mutex::default() })
        });
        Arc::clone(&HOST)
    }

    pub(super) fn noted(&self) -> MutexGuard<'_, HostRecording> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HostApi for RehearsalHost {
    fn workers(&self) -> usize {
        1
    }

    fn level(&self) -> FilterLogLevel {
        FilterLogLevel::Trace
    }

    fn resume(&self, _: Handle, _: u32, verdict: Verdict, edits: &[u8]) -> Result<(), HostError> {
        let mut log = EditLog::new();
        log.append(edits).map_err(|_| HostError::TooLarge)?;
        self.noted().resumed = Some(ScriptResume { verdict, edits: log });
        Ok(())
    }

    fn log(&self, _: u32, level: FilterLogLevel, text: &[u8]) -> Result<(), HostError> {
        self.noted().records.push(ScriptLogRecord { level, text: text.to_vec() });
        Ok(())
    }

    fn metrics(&self) -> &MetricRegistry {
        &self.metrics
    }

    fn send(&self, request: &FilterOutboundRequest<'_>) -> Result<(), HostError> {
        let mut noted = self.noted();
        if !noted.clusters.iter().any(|known| known == request.cluster.as_bytes()) {
            return Err(HostError::Unknown);
        }
        let pieces = if request.body.is_empty() { Vec::new() } else { vec![request.body.to_vec()] };
        noted.sent.push(ScriptRequest {
            cluster: request.cluster.to_owned(),
            token: request.token,
            is_awaited: request.exchange.is_some(),
            request: SpecMessage {
                method: request.method.to_vec(),
                target: request.target.to_vec(),
                authority: request.authority.to_vec(),
                fields: request.fields.iter().map(|(name, value)| SpecField::new(name, value)).collect(),
                pieces,
                ..SpecMessage::default()
            },
        });
        Ok(())
    }
}
