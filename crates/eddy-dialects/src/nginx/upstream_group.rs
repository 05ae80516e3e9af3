//! Group of endpoints that an `upstream` defines.

use std::time::Duration;

use eddy_model::{Balance, EjectionConfig, EndpointConfig, PoolConfig};
use eddy_route::nginx::TextTemplate;
use eddy_spec::problem::SourceSpan;

use super::name_servers::NameServers;
use super::tree::Directive;

/// Whether a balancing method can be combined with `backup` endpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BackupSupport {
    Allowed,
    Refused,
}

/// Group of endpoints.
#[derive(Clone, Debug)]
pub(super) struct UpstreamGroup {
    pub(super) name: String,
    pub(super) endpoints: Vec<EndpointConfig>,
    pub(super) balance: Balance,
    pub(super) pool: PoolConfig,
    pub(super) ejection: EjectionConfig,
    /// Key of `hash`.
    pub(super) key: Option<TextTemplate>,
    /// Name servers for its endpoints, if not those of the system.
    pub(super) resolver: Option<NameServers>,
    /// Source position of the directive that chooses the balancing, and its effect on `backup` endpoints.
    pub(super) method: Option<(SourceSpan, BackupSupport)>,
}

impl UpstreamGroup {
    /// Returns a group without endpoints, with NGINX's defaults.
    pub(super) fn new(name: &str) -> Self {
        let base_time = Duration::from_secs(10);
        Self {
            name: name.to_owned(),
            endpoints: Vec::new(),
            balance: Balance::RoundRobin,
            pool: PoolConfig { idle_timeout: Duration::from_secs(60), ..PoolConfig::default() },
            ejection: EjectionConfig {
                failures: 1,
                base_time,
                time_max: base_time,
                percent_max: 100,
                memory: base_time,
            },
            key: None,
            resolver: None,
            method: None,
        }
    }

    /// Sets the balancing; the last directive wins.
    pub(super) fn set_method(&mut self, balance: Balance, directive: &Directive, backup: BackupSupport) {
        self.balance = balance;
        self.method = Some((directive.name.place, backup));
    }
}
