//! Access log settings under a plan.

use eddy_config::{AccessLogConfig, LogFormat, RecordedMetadata};
use eddy_ids::Shared;
use jiff::tz::TimeZone;

use crate::plan::log_service::ServicePlan;

/// Access log settings under a plan.
#[derive(Debug)]
pub(crate) struct AccessPlan {
    /// Whether entries contain the precedence step by which the rule won.
    pub(crate) has_step: bool,
    /// Filter metadata that entries contain.
    pub(crate) metadata: Vec<RecordedMetadata>,
    /// Settings of the access log service, if one is configured.
    pub(crate) service: Option<ServicePlan>,
    /// Whether entries are written as lines.
    pub(crate) has_lines: bool,
    pub(crate) format: LogFormat,
    pub(crate) zone: TimeZone,
    pub(crate) zone_name: Shared<str>,
}

impl AccessPlan {
    /// Creates the settings from a configuration. An unknown time zone, which the configuration check rejects, becomes
    /// UTC.
    pub(crate) fn new(config: &AccessLogConfig) -> Self {
        let zone = TimeZone::get(&config.time_zone).unwrap_or(TimeZone::UTC);
        Self {
            has_step: config.has_step,
            metadata: config.metadata.clone(),
            service: config.service.as_ref().map(ServicePlan::new),
            has_lines: config.target.is_some(),
            format: config.format,
            zone,
            zone_name: Shared::clone(&config.time_zone),
        }
    }
}
