//! A worker's side of the access log: a buffer of records, handed on whole.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

use eddy_config::{AccessLogConfig, LogFormat, RecordedMetadata};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::access::service::ServicePlan;
use crate::access::sink::RecordChunk;
use crate::stats::WorkerSeries;

/// A buffer this full is handed on without waiting for the tick.
const CHUNK_BYTES: usize = 32 * 1024;

/// How records are written under a plan.
#[derive(Debug)]
pub(crate) struct AccessPlan {
    /// Whether records name the step by which the rule won.
    pub(crate) has_step: bool,
    /// What filters have noted and records have.
    pub(crate) metadata: Vec<RecordedMetadata>,
    /// How records are sent to a service, if they are.
    pub(crate) service: Option<ServicePlan>,
    /// Whether records are written as lines.
    pub(crate) has_lines: bool,
    format: LogFormat,
    zone: TimeZone,
    zone_name: Arc<str>,
}

/// What a record is written as.
pub(crate) trait AccessLogEntry {
    /// Appends it as a line for people; `time` is written as it is.
    fn write_text(&self, out: &mut Vec<u8>, time: &str);

    /// Appends it as a JSON object on a line of its own.
    fn write_json(&self, out: &mut Vec<u8>, time: &str);
}

/// Collects the records of one worker.
#[derive(Debug)]
pub(crate) struct AccessWriter {
    sink: SyncSender<RecordChunk>,
    /// Buffers come back empty.
    spare: Receiver<Vec<u8>>,
    back: std::sync::mpsc::Sender<Vec<u8>>,
    buffer: Vec<u8>,
    records: u64,
    clock: TimestampCache,
}

/// The time of the current second as text.
#[derive(Debug, Default)]
struct TimestampCache {
    second: i64,
    zone_name: Arc<str>,
    date: String,
    offset: String,
    text: String,
}

impl AccessPlan {
    /// How a configuration wants records; UTC where the zone is not known, which checking has ruled out.
    pub(crate) fn new(config: &AccessLogConfig) -> Self {
        let zone = TimeZone::get(&config.time_zone).unwrap_or(TimeZone::UTC);
        Self {
            has_step: config.has_step,
            metadata: config.metadata.clone(),
            service: config.service.as_ref().map(ServicePlan::new),
            has_lines: config.target.is_some(),
            format: config.format,
            zone,
            zone_name: Arc::clone(&config.time_zone),
        }
    }
}

impl AccessWriter {
    /// A writer that hands its records to `sink`.
    pub(crate) fn new(sink: SyncSender<RecordChunk>) -> Self {
        let (back, spare) = std::sync::mpsc::channel();
        Self { sink, spare, back, buffer: Vec::new(), records: 0, clock: TimestampCache::default() }
    }

    /// Adds a record.
    ///
    /// # Cost
    /// No system call but once every 32 KiB, and none that waits.
    pub(crate) fn write(&mut self, record: &impl AccessLogEntry, plan: &AccessPlan, series: &WorkerSeries) {
        let time = self.clock.text(plan);
        match plan.format {
            LogFormat::Text => record.write_text(&mut self.buffer, time),
            LogFormat::Json => record.write_json(&mut self.buffer, time),
        }
        self.records += 1;
        if self.buffer.len() >= CHUNK_BYTES {
            self.flush(series);
        }
    }

    /// Hands on what there is; what the sink has no room for is dropped and counted.
    pub(crate) fn flush(&mut self, series: &WorkerSeries) {
        if self.buffer.is_empty() {
            return;
        }
        let records = std::mem::take(&mut self.records);
        let chunk = RecordChunk {
            bytes: std::mem::replace(&mut self.buffer, self.spare.try_recv().unwrap_or_default()),
            records,
            back: self.back.clone(),
        };
        if let Err(TrySendError::Full(chunk) | TrySendError::Disconnected(chunk)) = self.sink.try_send(chunk)
        {
            series.records_dropped.add(records);
            if self.buffer.capacity() == 0 {
                self.buffer = chunk.bytes;
                self.buffer.clear();
            }
        }
    }
}

impl TimestampCache {
    fn text(&mut self, plan: &AccessPlan) -> &str {
        let now = Timestamp::now();
        if now.as_second() != self.second || self.zone_name != plan.zone_name {
            self.second = now.as_second();
            self.zone_name = Arc::clone(&plan.zone_name);
            let local = now.to_zoned(plan.zone.clone());
            self.date = local.strftime("%Y-%m-%dT%H:%M:%S").to_string();
            self.offset = local.strftime("%:z").to_string();
        }
        self.text.clear();
        self.text.push_str(&self.date);
        let millis = now.subsec_millisecond().unsigned_abs();
        self.text.push('.');
        for digit in [millis / 100, millis / 10 % 10, millis % 10] {
            self.text.push(char::from_digit(digit, 10).unwrap_or('0'));
        }
        self.text.push_str(&self.offset);
        &self.text
    }
}
