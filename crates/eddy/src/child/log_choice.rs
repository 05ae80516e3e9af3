//! Log level and format chosen on the command line.

use clap::Args;
use eddy_config::{LogConfig, LogFormat};
use tracing::level_filters::LevelFilter;

use crate::log::LogSettings;

/// Log settings of the command line; the configuration provides the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub(crate) struct LogChoice {
    /// Log this level and above, regardless of the configuration: error, warn, info, debug or trace
    #[arg(long = "log-level", value_name = "LEVEL")]
    pub(crate) level: Option<LevelFilter>,

    /// Log one JSON object per line instead of text
    #[arg(long = "json")]
    pub(crate) is_json: bool,
}

impl LogChoice {
    /// Returns the settings before any configuration is read.
    pub(crate) fn alone(self) -> LogSettings {
        LogSettings { level: self.level.unwrap_or(LevelFilter::INFO), is_json: self.is_json }
    }

    /// Returns the settings in combination with those of a configuration.
    pub(super) fn combined_with(self, config: &LogConfig) -> LogSettings {
        let configured = config.level.parse().unwrap_or(LevelFilter::INFO);
        LogSettings {
            level: self.level.unwrap_or(configured),
            is_json: self.is_json || config.format == LogFormat::Json,
        }
    }
}
