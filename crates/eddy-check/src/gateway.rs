//! Checks the settings of the gateway as a whole: admin listener, log, limits, quarantine.

use eddy_config::{AdminConfig, GatewayLimits, ListenAddress, LogConfig, QuarantineConfig};
use eddy_spec::problem::ProblemReport;
use eddy_spec::read::Spanned;
use eddy_spec::spec::{AdminSpec, GatewayLimitsSpec, LogSpec, QuarantineSpec};

use super::listener::is_loopback;
use super::listener_registry::ListenerRegistry;
use super::setting::set;

/// Checks the admin listener: only a loopback address is accepted unless the configuration allows others.
pub fn check_admin(
    spec: &Spanned<AdminSpec>,
    taken: &mut ListenerRegistry<'_>,
    report: &mut ProblemReport,
) -> Option<AdminConfig> {
    let address = spec.value.address?;
    let socket = address.value;
    let is_remote_allowed = spec.value.allow_remote.is_some_and(|allow| allow.value);
    if !is_loopback(socket.ip()) {
        if is_remote_allowed {
            report
                .warning(address.place, "other machines can reach the admin listener, which has no password")
                .hint("protect it with a firewall");
        } else {
            report
                .error(address.place, "the admin listener has no password, so it needs a loopback address")
                .hint(format!(
                    "write `127.0.0.1:{}`, or add `allow_remote: true` if it is protected in another way",
                    socket.port()
                ));
        }
    }
    taken.take_address(&ListenAddress::Tcp(socket), address.place, report);
    Some(AdminConfig { address: socket })
}

/// Checks the settings of eddy's own log.
pub fn check_log(spec: Option<LogSpec>) -> LogConfig {
    let spec = spec.unwrap_or_default();
    LogConfig {
        level: spec.level.map_or("info", |level| level.value.0).into(),
        format: spec.format.map(|format| format.value).unwrap_or_default(),
    }
}

/// Checks the limits of the gateway.
pub fn check_limits(spec: Option<GatewayLimitsSpec>, report: &mut ProblemReport) -> GatewayLimits {
    let mut limits = GatewayLimits::default();
    let Some(spec) = spec else { return limits };
    set(&mut limits.connections_max, spec.connections);
    set(&mut limits.exchanges_max, spec.exchanges);
    set(&mut limits.memory_percent_max, spec.memory_percent);
    set(&mut limits.go_memory_percent, spec.go_memory_percent);
    if let Some(delay) = spec.queue_delay.filter(|delay| delay.value.0.is_zero()) {
        report.warning(
            delay.place,
            "without `queue_delay` an overloaded gateway responds late instead of with 503",
        );
    }
    set(&mut limits.queue_delay_max, spec.queue_delay);
    limits
}

/// Checks the quarantine settings.
pub fn check_quarantine(spec: Option<QuarantineSpec>) -> QuarantineConfig {
    let mut quarantine = QuarantineConfig::default();
    let Some(spec) = spec else { return quarantine };
    set(&mut quarantine.deaths, spec.deaths);
    set(&mut quarantine.within, spec.within);
    set(&mut quarantine.time, spec.time);
    quarantine
}
