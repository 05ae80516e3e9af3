//! Body size limits.

use eddy_filter::{ExchangeView, Interest, Phase, Verdict};
use eddy_http::{FieldId, Fields, GrpcStatus};

use super::context::{BuiltinContext, MetricCounter};
use super::library::{Builtin, PhaseContext};

/// Configuration of `body_limit`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodyLimitConfig {
    /// Maximum size of a request body in bytes; `None` for no limit.
    pub request_bytes_max: Option<u64>,
    /// Maximum size of a response body in bytes; `None` for no limit.
    pub response_bytes_max: Option<u64>,
}

/// Filter that rejects bodies that are too large.
#[derive(Debug)]
pub(super) struct BodyLimit {
    config: BodyLimitConfig,
    refused: MetricCounter,
}

impl BodyLimit {
    /// Creates the filter.
    pub(super) fn new(config: &BodyLimitConfig, context: &BuiltinContext) -> Self {
        Self { config: config.clone(), refused: context.counter("refused") }
    }

    /// Whether a body is known to be too large.
    fn is_too_large(&self, view: &ExchangeView<'_>) -> bool {
        let (bytes_max, fields, bytes) = match (view.phase, &view.response) {
            (Phase::RequestHead, _) => (self.config.request_bytes_max, view.request.fields, 0),
            (Phase::RequestBody, _) => {
                (self.config.request_bytes_max, Fields::default(), view.about().request_bytes)
            }
            // Local replies are exempt. A response head without a body may still announce a large one (HEAD, 304).
            (_, Some(response)) if response.is_local => return false,
            (Phase::ResponseHead, Some(response)) if !view.is_end => {
                (self.config.response_bytes_max, response.fields, 0)
            }
            (Phase::ResponseBody, _) => {
                (self.config.response_bytes_max, Fields::default(), view.about().response_bytes)
            }
            _ => return false,
        };
        let announced = fields.first(FieldId::ContentLength).map_or(0, number);
        let held = view.body.len() as u64;
        bytes_max.is_some_and(|bytes_max| bytes.max(announced).max(held) > bytes_max)
    }
}

impl Builtin for BodyLimit {
    fn interest(&self) -> Interest {
        let mut phases = Vec::new();
        if self.config.request_bytes_max.is_some() {
            phases.extend([Phase::RequestHead, Phase::RequestBody]);
        }
        if self.config.response_bytes_max.is_some() {
            phases.extend([Phase::ResponseHead, Phase::ResponseBody]);
        }
        Interest::of(&phases)
    }

    fn enter(&self, answer: &mut PhaseContext<'_>) -> Verdict {
        if !self.is_too_large(answer.view) {
            return Verdict::Continue;
        }
        self.refused.count(answer.worker);
        let verdict = match answer.view.phase {
            Phase::RequestHead | Phase::RequestBody => {
                answer.reply(413, "the request body is too large\n", "body_limit")
            }
            Phase::ResponseHead => answer.reply(502, "the response body is too large\n", "body_limit"),
            // The response has begun; it can only be reset.
            Phase::RequestTrailers
            | Phase::ResponseBody
            | Phase::ResponseTrailers
            | Phase::Log
            | Phase::End => return Verdict::Reset,
        };
        answer.reply_grpc(GrpcStatus::ResourceExhausted);
        verdict
    }
}

/// Parses a number from a header that was validated before; of a list of equal numbers, the first.
fn number(value: &[u8]) -> u64 {
    let digits = value.split(|byte| *byte == b',').next().unwrap_or_default().trim_ascii();
    std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}
