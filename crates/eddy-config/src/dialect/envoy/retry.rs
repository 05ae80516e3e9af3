//! When a request is tried again.

use super::reader::{Reader, text};
use crate::config::RetryConfig;
use crate::problem::shown;
use crate::yaml::Node;

impl Reader<'_> {
    /// What a `RetryPolicy` says.
    pub(super) fn retry(&mut self, node: &Node<'_>) -> RetryConfig {
        let attempts = self.number::<u32>(node, "num_retries").unwrap_or(1);
        let mut retry = RetryConfig {
            attempts: u8::try_from(attempts.min(10)).unwrap_or(10),
            statuses: Vec::new(),
            on_reset: false,
        };
        let codes: Vec<u16> = self
            .list(node, "retriable_status_codes")
            .iter()
            .filter_map(|code| text(code)?.parse().ok())
            .collect();
        if attempts > u32::from(retry.attempts) {
            let place = self.get(node, "num_retries").map_or(node.place, |node| node.place);
            self.report.warning(place, "a request is tried again 10 times at most");
        }
        // Another endpoint is always asked, as long as there is one.
        self.pass(node, &["retry_host_predicate", "host_selection_retry_max_attempts"]);
        self.pass_by(node, &[("retry_back_off", "another endpoint is asked at once")]);
        let Some(conditions) = self.get(node, "retry_on") else { return retry };
        for condition in text(conditions).unwrap_or_default().split(',').map(str::trim) {
            match condition {
                "5xx" => {
                    retry.statuses.extend(500..600);
                    retry.on_reset = true;
                }
                "gateway-error" => {
                    retry.statuses.extend([502, 503, 504]);
                    retry.on_reset = true;
                }
                "reset" => retry.on_reset = true,
                "retriable-4xx" => retry.statuses.push(409),
                "retriable-status-codes" => retry.statuses.extend(&codes),
                // A link that was never made is tried again anyway.
                "connect-failure"
                | "refused-stream"
                | "reset-before-request"
                | "http3-post-connect-failure"
                | "" => {}
                other => {
                    let message = format!("eddy does not retry on `{}`", shown(other));
                    self.report
                        .objection(conditions.place, message)
                        .hint("it knows 5xx, gateway-error, reset, connect-failure, retriable-4xx and retriable-status-codes");
                }
            }
        }
        retry.statuses.sort_unstable();
        retry.statuses.dedup();
        retry
    }
}
