//! The eddy side of the comparison: loads a configuration and returns the results of requests.

use std::net::IpAddr;
use std::sync::Arc;

use eddy_config::{ActionKind, GatewayConfig};
use eddy_dialects::{check, check_with};
use eddy_http::{HeadLimits, RequestHead};
use eddy_ids::WorkerTime;
use eddy_model::{Balance, EndpointAddress};
use eddy_route::RouteScratch;
use eddy_route::nginx::{NginxOutcome, NginxRequestState, SiteExplanation, SiteRequest, Sites};
use eddy_spec::Leniency;
use eddy_spec::problem::{Problem, SourceText};
use eddy_upstream::{ClusterState, EndpointSet, ResolvedAddress, ResolvedEndpoint, Rng, TriedEndpoints};

use crate::site::site_request;

pub(crate) struct NginxTestRouter {
    config: GatewayConfig,
}

impl NginxTestRouter {
    pub(crate) fn of(text: &str) -> Self {
        let checked = check(&[SourceText::new("nginx.conf", text)]);
        let config = checked.unwrap_or_else(|problems| panic!("{problems:#?}\n{text}")).config;
        Self { config }
    }

    /// Loads a configuration with leniency; also returns the warnings.
    pub(crate) fn leniently(text: &str) -> (Self, Vec<Problem>) {
        let checked = check_with(&[SourceText::new("nginx.conf", text)], Leniency::Lenient);
        let checked = checked.unwrap_or_else(|problems| panic!("{problems:#?}\n{text}"));
        (Self { config: checked.config }, checked.warnings)
    }

    /// Returns the headers that `proxy_set_header` adds to an upstream request.
    pub(crate) fn fields(&self, request: &str) -> Vec<(String, String)> {
        let bytes = request.as_bytes();
        let mut head = RequestHead::new();
        head.parse(bytes, &HeadLimits::default()).unwrap();
        let sites = &self.config.sites.first().unwrap().program;
        let (mut walk, mut scratch) = (NginxRequestState::default(), RouteScratch::new());
        let request = site_request(&head, bytes);
        sites.walk(0, &request, &mut walk, &mut scratch);
        let mut fields = Vec::new();
        sites.lookup(&request, &mut walk, &mut scratch).for_each_field(|name, value| {
            fields.push((name.to_owned(), value.escape_ascii().to_string()));
        });
        fields
    }

    /// Returns status, location and text of the response; `None` if eddy's parser refuses the request.
    pub(crate) fn ask(&self, request: &str) -> Option<String> {
        self.ask_by(request, Sites::walk)
    }

    pub(crate) fn ask_by_linear_search(&self, request: &str) -> Option<String> {
        self.ask_by(request, Sites::walk_sequentially)
    }

    fn ask_by(
        &self,
        text: &str,
        walk_by: impl Fn(
            &Sites,
            usize,
            &SiteRequest<'_>,
            &mut NginxRequestState,
            &mut RouteScratch,
        ) -> NginxOutcome,
    ) -> Option<String> {
        let bytes = text.as_bytes();
        let mut head = RequestHead::new();
        head.parse(bytes, &HeadLimits::default()).ok()?;
        let sites = &self.config.sites.first().unwrap().program;
        let mut bytes = bytes.to_vec();
        let (mut walk, mut scratch) = (NginxRequestState::default(), RouteScratch::new());
        let mut filter = sites.field_filter(0, head.host.of(&bytes), &mut scratch);
        head.edit(&mut bytes).retain(|name| filter.keeps(name));
        let request = site_request(&head, &bytes);
        let outcome = walk_by(sites, 0, &request, &mut walk, &mut scratch);
        told(sites, &request, outcome, &mut walk, &mut scratch)
    }

    /// Returns the explanation of the result; `None` if eddy's parser refuses the request.
    pub(crate) fn explain(&self, request: &str) -> Option<SiteExplanation> {
        let bytes = request.as_bytes();
        let mut head = RequestHead::new();
        head.parse(bytes, &HeadLimits::default()).ok()?;
        Some(self.config.sites.first()?.program.explain(0, &site_request(&head, bytes)))
    }

    /// Returns the endpoints that are tried for a request if none responds, in order.
    pub(crate) fn asked(&self, request: &str, client: IpAddr) -> Vec<String> {
        let bytes = request.as_bytes();
        let mut head = RequestHead::new();
        head.parse(bytes, &HeadLimits::default()).unwrap();
        let sites = &self.config.sites.first().unwrap().program;
        let (mut walk, mut scratch, mut key) =
            (NginxRequestState::default(), RouteScratch::new(), Vec::new());
        let request = site_request(&head, bytes);
        let outcome = sites.walk(0, &request, &mut walk, &mut scratch);
        let NginxOutcome::Proxy { action } = outcome else { panic!("{outcome:?}") };
        sites.lookup(&request, &mut walk, &mut scratch).write_hash_key(action, &mut key);
        let action = self.config.sites[0].action(action);
        let ActionKind::Cluster(cluster) = action.kind else { panic!("{action:?}") };
        let cluster = self.config.clusters[cluster].clone();
        if cluster.balance == Balance::ClientAddress {
            key = match client {
                IpAddr::V4(address) => address.octets()[..3].to_vec(),
                IpAddr::V6(address) => address.octets().to_vec(),
            };
        }
        let members = cluster.endpoints.iter().map(|endpoint| {
            let EndpointAddress::Socket(address) = &endpoint.address else { panic!("{endpoint:?}") };
            ResolvedEndpoint {
                host: None,
                address: ResolvedAddress::Tcp(*address),
                weight: endpoint.weight,
                terms: endpoint.terms.clone(),
            }
        });
        let set = Arc::new(EndpointSet::new(members, cluster.balance));
        let (now, mut rng, mut tried) =
            (WorkerTime::from_millis(1_000_000), Rng::new(1), TriedEndpoints::new());
        let mut state = ClusterState::new(cluster, set, now, &mut rng);
        let mut asked = Vec::new();
        for _ in 0..=action.retry.attempts {
            let lease = state.select_for(&key, now, &mut rng, &mut tried).unwrap();
            asked.push(state.endpoint(lease.endpoint()).unwrap().address().to_string());
            state.on_failure(&lease, now);
            state.release(lease);
        }
        asked
    }
}

/// Formats status, location and text of a response.
fn told(
    sites: &Sites,
    request: &SiteRequest<'_>,
    outcome: NginxOutcome,
    walk: &mut NginxRequestState,
    scratch: &mut RouteScratch,
) -> Option<String> {
    let mut out = Vec::new();
    let shown = |bytes: &[u8]| bytes.escape_ascii().to_string();
    if let NginxOutcome::Text { status }
    | NginxOutcome::Redirect { status }
    | NginxOutcome::Status { status } = outcome
    {
        sites.write_location(request, walk, &mut out);
        if !out.is_empty() {
            return Some(format!("{status} -> {}", shown(&out)));
        }
    }
    let answer = match outcome {
        NginxOutcome::Proxy { .. } => {
            if sites.lookup(request, walk, scratch).write_target(&mut out).is_err() {
                return None;
            }
            let target = shown(&out);
            let path = target.split('?').next().unwrap();
            // Response of the tests' upstream.
            let status = match path.rsplit('/').next() {
                Some("go") => 302,
                Some("gone") => 404,
                Some("broken") => 503,
                _ => 200,
            };
            if sites.intercepts(status, walk) {
                return match sites.lookup(request, walk, scratch).walk_on_error(status) {
                    Some(outcome) => told(sites, request, outcome, walk, scratch),
                    None => Some(status.to_string()),
                };
            }
            let status = walk.answer_status().unwrap_or(status);
            let sent = request.fields.first_named(b"x-location").unwrap_or_default();
            if path.ends_with("/go") {
                if !sites.lookup(request, walk, scratch).write_redirect(sent, &mut out) {
                    out = sent.to_vec();
                }
                format!("{status} -> {}", shown(&out))
            } else if path.ends_with("/gone") || path.ends_with("/broken") {
                format!("{status} own")
            } else {
                sites.lookup(request, walk, scratch).write_host(&mut out);
                format!("{status} upstream {target} {}", shown(&out))
            }
        }
        NginxOutcome::Text { status } => format!("{status} {}", shown(walk.text())),
        NginxOutcome::Redirect { status } | NginxOutcome::Status { status } => status.to_string(),
        NginxOutcome::Close => "closed".to_owned(),
    };
    Some(answer.trim_end().to_owned())
}
