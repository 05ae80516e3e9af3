//! The eddy side of the comparison: loads manifests and returns the results of requests.

use eddy_config::{Action, ActionKind, GatewayConfig, ListenAddress, Redirect};
use eddy_dialects::check_with;
use eddy_http::{FieldEdits, HeadLimits, RequestHead};
use eddy_route::normalise::Normal;
use eddy_route::{RouteRequest, RouteScratch, Router};
use eddy_spec::Leniency;
use eddy_spec::problem::{Problem, SourceText};

/// A checked configuration with its compiled tables, by listener port.
pub(crate) struct IstioTestRouter {
    pub(crate) config: GatewayConfig,
    pub(crate) warnings: Vec<Problem>,
    routers: Vec<(u16, Router)>,
}

/// Result of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum IstioRouteAnswer {
    /// No rule matches.
    None,
    /// eddy's parser or path normalisation refuses the request.
    Refused,
    /// A fixed response.
    Text { status: u16, body: String },
    /// A redirect.
    Redirect { status: u16, location: String },
    /// The request is sent to one of several clusters, with their weights.
    Sent {
        to: Vec<(String, u32)>,
        target: String,
        host: String,
        fields: Vec<(String, String)>,
        response: Vec<(String, String)>,
    },
}

/// The result, and the action that produces it.
pub(crate) struct AnswerWithAction<'c> {
    pub(crate) answer: IstioRouteAnswer,
    pub(crate) action: Option<&'c Action>,
}

/// Headers of every upstream response, before a route changes them.
pub(crate) const UPSTREAM_FIELDS: [(&str, &str); 2] = [("x-t-own", "1"), ("x-t-both", "1")];

impl IstioTestRouter {
    pub(crate) fn of(text: &str) -> Self {
        Self::read(text, Leniency::Strict).unwrap_or_else(|problems| panic!("{}\n{text}", told(&problems)))
    }

    pub(crate) fn read(text: &str, leniency: Leniency) -> Result<Self, Vec<Problem>> {
        let checked = check_with(&[SourceText::new("manifests.yaml", text)], leniency)?;
        let routers = checked.config.listeners.iter().map(|listener| {
            let ListenAddress::Tcp(address) = &listener.address else { panic!("{:?}", listener.address) };
            let router = checked.config.router(listener).unwrap();
            (address.port(), router.unwrap_or_else(|| panic!("{:?}", listener.serve)))
        });
        Ok(Self { routers: routers.collect(), config: checked.config, warnings: checked.warnings })
    }

    /// Returns the result of a request at a port.
    pub(crate) fn ask(&self, port: u16, text: &str) -> AnswerWithAction<'_> {
        let bytes = text.as_bytes();
        let refused = AnswerWithAction { answer: IstioRouteAnswer::Refused, action: None };
        let mut head = RequestHead::new();
        if head.parse(bytes, &HeadLimits::default()).is_err() {
            return refused;
        }
        let Some((_, router)) = self.routers.iter().find(|(own, _)| *own == port) else {
            panic!("no port {port}")
        };
        let is_own =
            |address: &ListenAddress| matches!(address, ListenAddress::Tcp(own) if own.port() == port);
        let listener = self.config.listeners.iter().find(|listener| is_own(&listener.address)).unwrap();
        let raw = head.path.of(bytes);
        let mut normal = Vec::new();
        let path = match listener.normaliser.apply(raw, &mut normal) {
            Ok(Normal::Changed) => normal.as_slice(),
            Ok(_) => raw,
            Err(_) => return refused,
        };
        let query = head.query.map(|query| query.of(bytes));
        let request = RouteRequest {
            host: head.host.of(bytes),
            authority: head.authority.of(bytes),
            path,
            query: query.unwrap_or_default(),
            target: head.target.of(bytes),
            scheme: b"http",
            method: head.method_name(bytes),
            fields: head.fields(bytes),
            random: 0,
        };
        let mut scratch = RouteScratch::new();
        let found = router.lookup(&request, &mut scratch);
        assert!(router.agrees(found, &request, &mut scratch), "the index and the scan disagree: {text}");
        let Some(found) = found else {
            return AnswerWithAction { answer: IstioRouteAnswer::None, action: None };
        };
        let action = self.config.action_of(listener, found.rule);
        let mut rewritten = Vec::new();
        let Ok(is_rewritten) = found.rewrite(path, &mut scratch, &mut rewritten) else { return refused };
        let mut target = shown(if is_rewritten { &rewritten } else { path });
        let host = shown(head.authority.of(bytes));
        let answer = match &action.kind {
            ActionKind::Respond(respond) => {
                IstioRouteAnswer::Text { status: respond.status, body: shown(&respond.body) }
            }
            ActionKind::Redirect(redirect) => {
                let location = location(redirect, &host, &target, query.map(shown));
                IstioRouteAnswer::Redirect { status: redirect.status, location }
            }
            ActionKind::Cluster(_) | ActionKind::Split(_) => {
                if let Some(query) = query {
                    target = format!("{target}?{}", shown(query));
                }
                let fields = request
                    .fields
                    .iter()
                    .map(|field| (shown(field.name).to_ascii_lowercase(), shown(field.value)));
                let own = fields.filter(|(name, _)| name.starts_with("x-t-")).collect();
                self.sent(action, target, host, own)
            }
            ActionKind::Weighted(_) | ActionKind::Sites(_) => panic!("Istio splits actions: {action:?}"),
        };
        AnswerWithAction { answer, action: Some(action) }
    }

    fn sent(
        &self,
        action: &Action,
        target: String,
        host: String,
        fields: Vec<(String, String)>,
    ) -> IstioRouteAnswer {
        let shares: Vec<(&Action, u32)> = match &action.kind {
            ActionKind::Split(shares) => shares.iter().map(|share| (&*share.action, share.weight)).collect(),
            ActionKind::Cluster(_)
            | ActionKind::Weighted(_)
            | ActionKind::Respond(_)
            | ActionKind::Redirect(_)
            | ActionKind::Sites(_) => vec![(action, 1)],
        };
        let to = shares.iter().map(|(action, weight)| (self.cluster(action), *weight)).collect();
        // Shares differ in their header changes if an example says so; the changes of the first one are reported.
        let (first, _) = shares[0];
        let response = UPSTREAM_FIELDS.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        IstioRouteAnswer::Sent {
            to,
            target,
            host: first.host_rewrite.as_ref().map_or(host, ToString::to_string),
            fields: changed(fields, &first.request_edits),
            response: changed(response, &first.response_edits),
        }
    }

    /// Returns the cluster of an action, or the status of its response.
    pub(crate) fn cluster(&self, action: &Action) -> String {
        match &action.kind {
            ActionKind::Cluster(cluster) => self.config.clusters[*cluster].name.to_string(),
            ActionKind::Respond(respond) => respond.status.to_string(),
            ActionKind::Weighted(_)
            | ActionKind::Split(_)
            | ActionKind::Redirect(_)
            | ActionKind::Sites(_) => {
                panic!("no share of Istio's: {action:?}")
            }
        }
    }
}

/// Formats problems, one per line.
pub(crate) fn told(problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

fn shown(bytes: impl AsRef<[u8]>) -> String {
    String::from_utf8_lossy(bytes.as_ref()).into_owned()
}

/// Returns the headers of a message after the changes: remove, then set, then add.
fn changed(mut fields: Vec<(String, String)>, edits: &FieldEdits) -> Vec<(String, String)> {
    let gone: Vec<&str> = edits.removed().chain(edits.set_fields().map(|(name, _)| name)).collect();
    fields.retain(|(name, _)| !gone.iter().any(|other| other.eq_ignore_ascii_case(name)));
    let set: Vec<_> = edits.set_fields().collect();
    let last = |(at, (name, _)): &(usize, (&str, &str))| {
        !set.iter().skip(at + 1).any(|(other, _)| other.eq_ignore_ascii_case(name))
    };
    let set = set.iter().copied().enumerate().filter(last).map(|(_, field)| field);
    fields
        .extend(set.chain(edits.added()).map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())));
    fields
}

fn location(redirect: &Redirect, authority: &str, path: &str, query: Option<String>) -> String {
    let scheme = redirect.scheme.as_deref().unwrap_or("http");
    let bare = authority.split(':').next().unwrap_or_default();
    let host = match (&redirect.host, redirect.port) {
        (Some(host), _) => host.to_string(),
        // A port that belongs to the old scheme is removed together with it.
        (None, Some(_)) => bare.to_owned(),
        (None, None) if redirect.scheme.is_some() && authority.ends_with(":80") && scheme == "https" => {
            bare.to_owned()
        }
        (None, None) => authority.to_owned(),
    };
    let port = redirect.port.map_or_else(String::new, |port| format!(":{port}"));
    let path = redirect.path.as_deref().unwrap_or(path);
    let query = query.filter(|_| !redirect.strip_query && !path.contains('?'));
    let query = query.map_or_else(String::new, |query| format!("?{query}"));
    format!("{scheme}://{host}{port}{path}{query}")
}
