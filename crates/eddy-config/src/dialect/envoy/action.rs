//! What a route does.

use std::sync::Arc;
use std::time::Duration;

use eddy_http::FieldEdits;
use eddy_route::{PathReplace, PathRewrite};

use super::reader::{Reader, text};
use super::routes::{Frame, plain_action};
use crate::config::{Action, ActionKind, Redirect, Respond, RetryConfig, WeightedCluster};
use crate::problem::{Place, shown};
use crate::yaml::Node;

/// What a route does, and how it changes the path.
pub(super) struct Did {
    pub(super) action: Action,
    pub(super) rewrite: Option<PathRewrite>,
}

/// Edits of request and response of the virtual host and of the whole configuration, which follow those of the route.
pub(super) struct Levels<'l> {
    pub(super) outer: [&'l (FieldEdits, FieldEdits); 2],
}

impl Reader<'_> {
    /// What a `Route` does; `None` if eddy cannot, which was noted.
    pub(super) fn route_action(
        &mut self,
        node: &Node<'_>,
        levels: &Levels<'_>,
        frame: &mut Frame<'_>,
    ) -> Option<Did> {
        self.pass(node, &["metadata", "stat_prefix"]);
        self.pass_by(node, &[("decorator", NO_TRACES), ("tracing", NO_TRACES)]);
        let mut did = if let Some(route) = self.get(node, "route") {
            self.forward(route, frame)?
        } else if let Some(redirect) = self.get(node, "redirect") {
            self.redirect(redirect)
        } else if let Some(response) = self.get(node, "direct_response") {
            self.direct_response(response)?
        } else {
            self.report
                .error(node.place, "a route does nothing that eddy has")
                .hint("write `route`, `redirect` or `direct_response`");
            return None;
        };
        let own = self.edits(node);
        for (request, response) in [&own].into_iter().chain(levels.outer) {
            did.action.request_edits.extend(request);
            did.action.response_edits.extend(response);
        }
        Some(did)
    }

    fn forward(&mut self, node: &Node<'_>, frame: &mut Frame<'_>) -> Option<Did> {
        self.pass_by(node, &[("priority", "all requests are alike")]);
        let kind = if let Some(name) = self.word(node, "cluster") {
            let place = self.get(node, "cluster").map_or(node.place, |node| node.place);
            ActionKind::Cluster(self.cluster(name, place, frame)?)
        } else if let Some(weighted) = self.get(node, "weighted_clusters") {
            ActionKind::Weighted(self.weighted(weighted, frame)?)
        } else {
            self.report
                .error(node.place, "a route names no cluster")
                .hint("write `cluster` or `weighted_clusters`; eddy takes no name from a request");
            return None;
        };
        let mut action = plain_action(kind);
        // What Envoy waits for the whole answer by default; none at all with 0.
        let timeout = self.duration(node, "timeout").unwrap_or(Duration::from_secs(15));
        action.timeout = (!timeout.is_zero()).then_some(timeout);
        action.host_rewrite = self.word(node, "host_rewrite_literal").map(Arc::from);
        if let Some(policy) = self.get(node, "retry_policy") {
            action.retry = self.retry(policy);
        }
        let rewrite = self.rewrite(node);
        Some(Did { action, rewrite })
    }

    /// `prefix_rewrite` or `regex_rewrite`.
    fn rewrite(&mut self, node: &Node<'_>) -> Option<PathRewrite> {
        if let Some(prefix) = self.word(node, "prefix_rewrite") {
            return Some(PathRewrite::Matched(prefix.to_owned()));
        }
        let regex = self.get(node, "regex_rewrite")?;
        let pattern = self.get(regex, "pattern")?;
        let by = self.text(regex, "substitution").unwrap_or_default().to_owned();
        Some(PathRewrite::Replace(PathReplace { expression: self.regex(pattern)?, by }))
    }

    fn redirect(&mut self, node: &Node<'_>) -> Did {
        let status = match self.text(node, "response_code") {
            Some("FOUND" | "1") => 302,
            Some("SEE_OTHER" | "2") => 303,
            Some("TEMPORARY_REDIRECT" | "3") => 307,
            Some("PERMANENT_REDIRECT" | "4") => 308,
            _ => 301,
        };
        let is_https = self.is_true(node, "https_redirect");
        let scheme = self.word(node, "scheme_redirect").map(Arc::from);
        let redirect = Redirect {
            status,
            scheme: scheme.or_else(|| is_https.then(|| "https".into())),
            host: self.word(node, "host_redirect").map(Arc::from),
            strip_query: self.is_true(node, "strip_query"),
            port: self.number(node, "port_redirect").filter(|port| *port != 0),
            path: self.word(node, "path_redirect").map(Arc::from),
            is_absolute: true,
        };
        let rewrite = self.rewrite(node);
        Did { action: plain_action(ActionKind::Redirect(redirect)), rewrite }
    }

    fn direct_response(&mut self, node: &Node<'_>) -> Option<Did> {
        let status = self.number::<u16>(node, "status").unwrap_or(0);
        if !(200..600).contains(&status) {
            self.report
                .error(node.place, "a direct response has a `status` from 200 to 599")
                .hint("for example `direct_response: {status: 404}`");
            return None;
        }
        let body = self.get(node, "body").and_then(|body| self.text(body, "inline_string"));
        let respond = Respond {
            status,
            body: body.unwrap_or_default().as_bytes().into(),
            content_type: "text/plain".into(),
        };
        Some(Did { action: plain_action(ActionKind::Respond(respond)), rewrite: None })
    }

    fn weighted(&mut self, node: &Node<'_>, frame: &mut Frame<'_>) -> Option<Vec<WeightedCluster>> {
        self.pass(node, &["total_weight", "runtime_key_prefix"]);
        let mut weighted = Vec::new();
        for share in self.list(node, "clusters") {
            let name = self.word(share, "name").unwrap_or_default().to_owned();
            let weight = self.number(share, "weight").unwrap_or(0);
            weighted.push(WeightedCluster { cluster: self.cluster(&name, share.place, frame)?, weight });
        }
        if weighted.iter().all(|share| share.weight == 0) {
            self.report.error(node.place, "no cluster has a weight above 0");
            return None;
        }
        Some(weighted)
    }

    fn cluster(&mut self, name: &str, place: Place, frame: &mut Frame<'_>) -> Option<usize> {
        if let Some(known) = frame.clusters.get(name) {
            return Some(*known);
        }
        if frame.may_add {
            let number = frame.clusters.len();
            frame.clusters.insert(name.into(), number);
            return Some(number);
        }
        let near = self.report.closest(name, frame.clusters.keys().map(|name| &**name)).map(str::to_owned);
        let found = self.report.error(place, format!("there is no cluster `{}`", shown(name)));
        match near {
            Some(near) => found.hint(format!("did you mean `{near}`?")),
            None => found.hint("define it under `static_resources.clusters`"),
        }
        None
    }

    fn retry(&mut self, node: &Node<'_>) -> RetryConfig {
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
                "connect-failure" | "refused-stream" | "reset-before-request" | "" => {}
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

    /// Edits of request and response at one level: what is removed goes first.
    pub(super) fn edits(&mut self, node: &Node<'_>) -> (FieldEdits, FieldEdits) {
        let request = self.edits_of(node, "request_headers_to_remove", "request_headers_to_add");
        (request, self.edits_of(node, "response_headers_to_remove", "response_headers_to_add"))
    }

    fn edits_of(&mut self, node: &Node<'_>, removed: &str, added: &str) -> FieldEdits {
        let mut edits = FieldEdits::new();
        for name in self.list(node, removed) {
            let result = edits.remove(text(name).unwrap_or_default());
            self.take_edit(name.place, result);
        }
        for option in self.list(node, added) {
            let Some(header) = self.get(option, "header") else { continue };
            let name = self.text(header, "key").unwrap_or_default().to_owned();
            let value = self.text(header, "value").unwrap_or_default().to_owned();
            if value.replace("%%", "").contains('%') {
                self.report
                    .objection(header.place, format!("eddy puts no `%...%` into `{}`", shown(&name)))
                    .hint("write a text; a filter can put what a request has");
                continue;
            }
            let value = value.replace("%%", "%");
            let is_set = match (self.text(option, "append_action"), self.text(option, "append")) {
                (Some("OVERWRITE_IF_EXISTS_OR_ADD" | "2"), _) | (None, Some("false")) => true,
                (None | Some("APPEND_IF_EXISTS_OR_ADD" | "0"), _) => false,
                (Some(other), _) => {
                    self.report
                        .objection(option.place, format!("eddy has no `append_action: {}`", shown(other)))
                        .hint("it has APPEND_IF_EXISTS_OR_ADD and OVERWRITE_IF_EXISTS_OR_ADD");
                    continue;
                }
            };
            let result = if is_set { edits.set(&name, &value) } else { edits.add(&name, &value) };
            self.take_edit(header.place, result);
        }
        edits
    }
}

const NO_TRACES: &str = "eddy writes no traces";
