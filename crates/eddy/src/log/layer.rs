//! Receives events from `tracing`; level and format can change while the program runs.

use std::fs::File;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::Registry;

use super::record::{LogLineFormat, LogRecord};
use super::writer::LogWriter;

/// Log settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogSettings {
    /// Minimum level that is written.
    pub(crate) level: LevelFilter,
    /// Whether entries are JSON objects instead of text lines.
    pub(crate) is_json: bool,
}

/// Log of this process; clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Log {
    shared: Arc<LogLayerState>,
}

#[derive(Debug)]
struct LogLayerState {
    level: AtomicU8,
    is_json: AtomicBool,
    is_colourful: bool,
    process: &'static str,
    writer: LogWriter,
}

impl Log {
    /// Starts the log of this process, which has the name `process` in each entry. Only the first call takes effect.
    ///
    /// # Errors
    /// When the writer thread cannot be started.
    pub(crate) fn start(process: &'static str, settings: LogSettings) -> std::io::Result<Self> {
        let shared = Arc::new(LogLayerState {
            level: AtomicU8::new(0),
            is_json: AtomicBool::new(false),
            is_colourful: std::io::stderr().is_terminal()
                && std::env::var_os("NO_COLOR").is_none_or(|it| it.is_empty()),
            process,
            // Writes to its own descriptor: standard error may be redirected, to capture the output of others.
            writer: LogWriter::start(File::from(eddy_io::duplicate(std::io::stderr())?))?,
        });
        let log = Self { shared };
        log.set(settings);
        // A second log in one process takes no effect; the first one stays.
        let _ = tracing::subscriber::set_global_default(Registry::default().with(log.clone()));
        Ok(log)
    }

    /// Changes level and format of later entries.
    pub(crate) fn set(&self, settings: LogSettings) {
        self.shared.level.store(rank(settings.level), Ordering::Relaxed);
        self.shared.is_json.store(settings.is_json, Ordering::Relaxed);
        tracing::callsite::rebuild_interest_cache();
    }

    /// Waits until all entries so far are written, for one second at most.
    pub(crate) fn flush(&self) {
        self.shared.writer.flush();
    }

    fn level(&self) -> LevelFilter {
        let level = usize::from(self.shared.level.load(Ordering::Relaxed));
        LEVELS.get(level).copied().unwrap_or(LevelFilter::INFO)
    }
}

impl<S: Subscriber> Layer<S> for Log {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.level() >= *metadata.level() { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        self.level() >= *metadata.level()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level())
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let shared = &self.shared;
        let form = match (shared.is_json.load(Ordering::Relaxed), shared.is_colourful) {
            (true, _) => LogLineFormat::Json,
            (false, true) => LogLineFormat::Colour,
            (false, false) => LogLineFormat::Plain,
        };
        let mut record = LogRecord::new(*event.metadata().level(), shared.process);
        event.record(&mut record);
        shared.writer.write(record.line(form));
    }
}

fn rank(level: LevelFilter) -> u8 {
    let place = LEVELS.iter().position(|known| *known == level).unwrap_or(3);
    u8::try_from(place).unwrap_or(3)
}

const LEVELS: [LevelFilter; 6] = [
    LevelFilter::OFF,
    LevelFilter::ERROR,
    LevelFilter::WARN,
    LevelFilter::INFO,
    LevelFilter::DEBUG,
    LevelFilter::TRACE,
];
