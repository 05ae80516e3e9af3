//! Upgrade protocols of connections (`upgrade_configs`).

use std::time::Duration;

use eddy_config::{Protocols, Upgrades, is_http};
use eddy_spec::yaml::YamlNode;

use super::reader::EnvoyReader;

/// Envoy's default idle timeout of a tunnel (`stream_idle_timeout`).
const IDLE_TIMEOUT: Duration = Duration::from_secs(300);

impl EnvoyReader<'_> {
    /// Reads the upgrades of a route; `around` lists the protocols that its connection manager allows.
    pub(super) fn upgrades(&mut self, node: &YamlNode<'_>, around: &[Box<str>]) -> Upgrades {
        let protocols = Protocols::These(self.upgrade_protocols(node, around));
        Upgrades { protocols, idle_timeout: Some(IDLE_TIMEOUT), is_explicit: true, ..Upgrades::none() }
    }

    /// Returns the protocols that a connection manager or route allows, in addition to those inherited in `around`.
    pub(super) fn upgrade_protocols(&mut self, node: &YamlNode<'_>, around: &[Box<str>]) -> Vec<Box<str>> {
        let mut names = around.to_vec();
        for config in self.list(node, "upgrade_configs") {
            let name = self.word(config, "upgrade_type").unwrap_or_default().to_ascii_lowercase();
            let is_enabled = self.text(config, "enabled") != Some("false");
            // It applies only to routes with a `connect_matcher`, which eddy does not support.
            if name == "connect" {
                self.pass(config, &["connect_config"]);
                continue;
            }
            names.retain(|known| **known != name);
            if is_enabled && is_http(name.as_bytes()) {
                let message = format!("an upgrade to `{name}` is not supported, as it is an HTTP version");
                self.report.objection(config.place, message).hint("leave it out");
            } else if is_enabled && !name.is_empty() {
                names.push(name.into());
            }
        }
        names
    }
}
