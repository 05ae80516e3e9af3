//! A checked configuration, and the rule that it selects for a request.

use eddy_config::{Action, ActionKind, GatewayConfig};
use eddy_dialects::{Checked, check_with};
use eddy_http::{HeadLimits, RequestHead};
use eddy_route::{RouteRequest, RouteScratch};
use eddy_spec::Leniency;
use eddy_spec::problem::{Problem, SourceText};

/// Result of a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GatewayRouteDecision {
    /// Name of the rule, if one matches.
    pub(crate) rule: Option<String>,
    /// The cluster, or several clusters with their weights, or else the status.
    pub(crate) does: String,
    /// Action of the rule.
    pub(crate) action: Option<Action>,
    /// Path for the endpoint or the redirect, if the rule changes it.
    pub(crate) path: Option<String>,
}

/// Checks texts with their names.
pub(crate) fn check(texts: &[(&str, &str)], leniency: Leniency) -> Result<Checked, Vec<Problem>> {
    let sources: Vec<SourceText> = texts.iter().map(|(name, text)| SourceText::new(name, text)).collect();
    check_with(&sources, leniency)
}

/// Returns the configuration of manifests that must have no errors.
pub(crate) fn accepted(manifests: &str) -> Checked {
    match check(&[("a.yaml", manifests)], Leniency::Strict) {
        Ok(checked) => checked,
        Err(problems) => panic!("{}\n{manifests}", told(&problems)),
    }
}

/// Formats problems, one per line.
pub(crate) fn told(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

/// Sends a request to the listener at an address.
pub(crate) fn ask(config: &GatewayConfig, address: &str, head: &str) -> GatewayRouteDecision {
    let listener = config.listeners.iter().find(|listener| listener.address.to_string() == address);
    let Some(listener) = listener else { panic!("nothing listens at {address}: {:?}", config.listeners) };
    let router = config.router(listener).unwrap_or_else(|errors| panic!("{errors:?}"));
    let router = router.unwrap_or_else(|| panic!("no routes at {address}"));
    let bytes = format!("{head}\r\n").into_bytes();
    let mut parsed = RequestHead::new();
    parsed.parse(&bytes, &HeadLimits::default()).unwrap_or_else(|fault| panic!("{fault:?}: {head}"));
    let path = parsed.path.of(&bytes);
    let query = parsed.query.map_or(b"".as_slice(), |query| query.of(&bytes));
    let request = RouteRequest {
        host: parsed.host.of(&bytes),
        authority: parsed.authority.of(&bytes),
        path,
        query,
        target: parsed.target.of(&bytes),
        scheme: b"http",
        method: parsed.method_name(&bytes),
        fields: parsed.fields(&bytes),
        random: 0,
    };
    let mut scratch = RouteScratch::new();
    let found = router.lookup(&request, &mut scratch);
    assert!(router.agrees(found, &request, &mut scratch), "the index and the scan disagree: {head}");
    match found {
        Some(found) => {
            let mut rewritten = Vec::new();
            let is_rewritten = found.rewrite(path, &mut scratch, &mut rewritten) == Ok(true);
            let action = config.action_of(listener, found.rule);
            GatewayRouteDecision {
                rule: Some(found.rule.name.to_string()),
                does: text_of(config, action),
                action: Some(Action::clone(action)),
                path: is_rewritten.then(|| String::from_utf8(rewritten).unwrap()),
            }
        }
        None => GatewayRouteDecision { rule: None, does: "404".to_owned(), action: None, path: None },
    }
}

fn text_of(config: &GatewayConfig, action: &Action) -> String {
    match &action.kind {
        ActionKind::Cluster(index) => config.clusters[*index].name.to_string(),
        ActionKind::Split(shares) => {
            let shares =
                shares.iter().map(|share| format!("{} {}", text_of(config, &share.action), share.weight));
            shares.collect::<Vec<_>>().join(", ")
        }
        ActionKind::Respond(respond) => respond.status.to_string(),
        ActionKind::Redirect(redirect) => redirect.status.to_string(),
        ActionKind::Weighted(_) | ActionKind::Sites(_) => {
            panic!("routes of the Gateway API split actions, not clusters")
        }
    }
}
