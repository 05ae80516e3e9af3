//! The eddy side of the comparison: loads manifests and returns the results of requests.

use eddy_config::{ActionKind, GatewayConfig};
use eddy_dialects::check;
use eddy_http::{HeadLimits, RequestHead};
use eddy_ids::ActionId;
use eddy_route::RouteScratch;
use eddy_route::nginx::{NginxOutcome, NginxRequestState};
use eddy_spec::problem::SourceText;

use crate::site::site_request;

pub(crate) struct IngressTestRouter {
    config: GatewayConfig,
}

impl IngressTestRouter {
    pub(crate) fn of_manifests(text: &str) -> Self {
        let checked = check(&[SourceText::new("manifests.yaml", text)]);
        Self { config: checked.unwrap_or_else(|problems| panic!("{problems:#?}\n{text}")).config }
    }

    /// Returns status and location of a redirect, or the Service with the target and host that it gets; `None` if
    /// eddy's parser refuses the request.
    pub(crate) fn ask(&self, text: &str) -> Option<String> {
        let bytes = text.as_bytes();
        let mut head = RequestHead::new();
        head.parse(bytes, &HeadLimits::default()).ok()?;
        let sites = &self.config.sites.first().unwrap().program;
        let request = site_request(&head, bytes);
        let (mut walk, mut scratch, mut out) =
            (NginxRequestState::default(), RouteScratch::new(), Vec::new());
        let outcome = sites.walk(0, &request, &mut walk, &mut scratch);
        let shown = |bytes: &[u8]| bytes.escape_ascii().to_string();
        let answer = match outcome {
            NginxOutcome::Proxy { action } => {
                if sites.lookup(&request, &mut walk, &mut scratch).write_target(&mut out).is_err() {
                    return None;
                }
                let target = shown(&out);
                sites.lookup(&request, &mut walk, &mut scratch).write_host(&mut out);
                format!("200 {} {target} {}", self.cluster(action), shown(&out))
            }
            NginxOutcome::Text { status } => format!("{status} {}", shown(walk.text())),
            NginxOutcome::Redirect { status } => {
                sites.write_location(&request, &mut walk, &mut out);
                format!("{status} -> {}", shown(&out))
            }
            NginxOutcome::Status { status } => status.to_string(),
            NginxOutcome::Close => "closed".to_owned(),
        };
        Some(answer.trim_end().to_owned())
    }

    fn cluster(&self, action: ActionId) -> &str {
        let kind = &self.config.sites[0].action(action).kind;
        let ActionKind::Cluster(cluster) = kind else { panic!("a draw is for another test: {kind:?}") };
        &self.config.clusters[*cluster].name
    }
}
