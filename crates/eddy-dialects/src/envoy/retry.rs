//! Retry and hedge policies.

use eddy_config::{Action, HedgeConfig, RetryConfig};
use eddy_spec::problem::shown;
use eddy_spec::yaml::YamlNode;

use super::reader::{EnvoyReader, text};
use crate::retry::{KNOWN, add_reason, sort_statuses};

impl EnvoyReader<'_> {
    /// Whether a `HedgePolicy` starts a second attempt beside a slow one.
    pub(super) fn is_hedged(&mut self, node: &YamlNode<'_>) -> bool {
        let unused = "Envoy does nothing for it either";
        self.warn_ineffective(node, &[("initial_requests", unused), ("additional_request_chance", unused)]);
        self.is_true(node, "hedge_on_per_try_timeout")
    }

    /// Reads a `RetryPolicy`.
    pub(super) fn retry(&mut self, node: &YamlNode<'_>) -> RetryConfig {
        let attempts = self.number::<u32>(node, "num_retries").unwrap_or(1);
        let mut retry =
            RetryConfig { attempts: u8::try_from(attempts.min(10)).unwrap_or(10), ..RetryConfig::default() };
        let codes: Vec<u16> = self
            .list(node, "retriable_status_codes")
            .iter()
            .filter_map(|code| text(code)?.parse().ok())
            .collect();
        if attempts > u32::from(retry.attempts) {
            let place = self.get(node, "num_retries").map_or(node.place, |node| node.place);
            self.report.warning(place, "a request is retried at most 10 times");
        }
        // A retry always goes to another endpoint, as long as there is one.
        self.pass(node, &["retry_host_predicate", "host_selection_retry_max_attempts"]);
        self.warn_ineffective(node, &[("retry_back_off", "eddy retries at once, on another endpoint")]);
        let Some(conditions) = self.get(node, "retry_on") else { return retry };
        for condition in text(conditions).unwrap_or_default().split(',').map(str::trim) {
            match condition {
                "retriable-status-codes" => retry.statuses.extend(&codes),
                condition if add_reason(&mut retry, condition) => {}
                other => {
                    let message = format!("eddy does not retry on `{}`", shown(other));
                    self.report
                        .objection(conditions.place, message)
                        .hint(format!("supported are retriable-status-codes, {KNOWN}"));
                }
            }
        }
        sort_statuses(&mut retry);
        retry
    }
}

/// Replaces the attempt timeout by hedging: a slow attempt goes on, and another endpoint is tried beside it.
pub(super) fn hedge_instead(action: &mut Action) {
    let attempts = action.retry.attempts;
    let after = action.attempt_timeout.take();
    action.hedge = after.filter(|_| attempts > 0).map(|after| HedgeConfig { after, attempts });
}
