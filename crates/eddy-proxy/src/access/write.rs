//! Buffer of one worker's access log entries, passed on in chunks.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError};

use eddy_config::LogFormat;
use eddy_ids::Shared;
use jiff::Timestamp;

use crate::access::sink::RecordChunk;
use crate::plan::AccessPlan;
use crate::stats::WorkerSeries;

/// Buffer size at which a chunk is passed on without waiting for the tick.
const CHUNK_BYTES: usize = 32 * 1024;

/// Formats of an entry.
pub(crate) trait AccessLogEntry {
    /// Appends the entry as a human-readable line; `time` is written unchanged.
    fn write_text(&self, out: &mut Vec<u8>, time: &str);

    /// Appends the entry as a JSON object on its own line.
    fn write_json(&self, out: &mut Vec<u8>, time: &str);
}

/// Collects the entries of one worker.
#[derive(Debug)]
pub(crate) struct AccessWriter {
    sink: SyncSender<RecordChunk>,
    /// Emptied buffers.
    spare: Receiver<Vec<u8>>,
    back: std::sync::mpsc::Sender<Vec<u8>>,
    buffer: Vec<u8>,
    records: u64,
    clock: TimestampCache,
}

/// The current second as text.
#[derive(Debug, Default)]
struct TimestampCache {
    second: i64,
    zone_name: Shared<str>,
    date: String,
    offset: String,
    text: String,
}

impl AccessWriter {
    /// Creates a writer that passes its chunks to `sink`.
    pub(crate) fn new(sink: SyncSender<RecordChunk>) -> Self {
        let (back, spare) = std::sync::mpsc::channel();
        Self { sink, spare, back, buffer: Vec::new(), records: 0, clock: TimestampCache::default() }
    }

    /// Adds an entry.
    ///
    /// # Cost
    /// At most one system call per 32 KiB, and none that blocks.
    pub(crate) fn write(&mut self, record: &impl AccessLogEntry, plan: &AccessPlan, series: &WorkerSeries) {
        let time = self.clock.text(plan);
        match plan.config.format {
            LogFormat::Text => record.write_text(&mut self.buffer, time),
            LogFormat::Json => record.write_json(&mut self.buffer, time),
        }
        self.records += 1;
        if self.buffer.len() >= CHUNK_BYTES {
            self.flush(series);
        }
    }

    /// Passes on the buffered entries; when the sink is full, they are dropped and counted.
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
        if now.as_second() != self.second || self.zone_name != plan.config.time_zone {
            self.second = now.as_second();
            if self.zone_name != plan.config.time_zone {
                self.zone_name = Shared::clone(&plan.config.time_zone);
            }
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
