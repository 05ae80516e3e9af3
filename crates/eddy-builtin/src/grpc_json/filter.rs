//! gRPC-JSON transcoding filter.

use std::cell::RefCell;
use std::sync::Arc;

use eddy_filter::{FilterEdit, Interest, LoadResult, Phase, Verdict};
use eddy_http::{FieldId, Fields, GrpcKind};
use eddy_protobuf::{
    CallRequest, CallResponse, Duplicates, FromJsonOptions, HttpIndex, HttpIndexOptions, HttpRoute,
    ProtobufLimits, RpcStatus, StreamForm, ToJsonOptions, Unknown,
};

use super::config::GrpcJsonConfig;
use crate::context::{BuiltinContext, MetricCounter};
use crate::library::{Builtin, PhaseContext};
use crate::protobuf::{Exchanges, load, refused};

/// Transcoder of JSON requests to gRPC calls, and of their responses to JSON.
#[derive(Debug)]
pub(crate) struct GrpcJson {
    pub(super) index: HttpIndex,
    pub(super) config: GrpcJsonConfig,
    pub(super) limits: ProtobufLimits,
    pub(super) read: FromJsonOptions,
    pub(super) print: ToJsonOptions,
    pub(super) counters: GrpcJsonCounters,
}

/// Counters of the filter.
#[derive(Debug)]
pub(super) struct GrpcJsonCounters {
    /// Requests transcoded to calls.
    pub(super) calls: MetricCounter,
    /// Requests refused because they match no method or are invalid for it.
    pub(super) refused: MetricCounter,
    /// Responses that are invalid for the method.
    pub(super) failed: MetricCounter,
}

thread_local! {
    /// Calls in progress on this worker.
    pub(super) static CALLS: RefCell<Exchanges<TranscodedCall>> = RefCell::default();
}

/// State of a transcoded call.
#[derive(Default)]
pub(super) struct TranscodedCall {
    /// Method and its HTTP rule.
    pub(super) route: Option<Arc<HttpRoute>>,
    /// Transcoder of the request; `None` once the request is complete.
    pub(super) request: Option<CallRequest>,
    /// Transcoder of the response; `None` if the response is passed unchanged.
    pub(super) response: Option<CallResponse>,
    /// Format of several messages in a response.
    pub(super) form: StreamForm,
    /// JSON that is held together with the head.
    pub(super) held: Vec<u8>,
    /// Whether the head has been sent on.
    pub(super) is_released: bool,
}

impl GrpcJson {
    /// Creates the filter.
    ///
    /// # Errors
    /// `LoadError::Refused` when the descriptors cannot be read, or their HTTP rules are invalid.
    pub(crate) fn new(config: &GrpcJsonConfig, context: &BuiltinContext) -> LoadResult<Self> {
        let schema = load(&config.descriptors, context)?;
        let options = HttpIndexOptions {
            services: config.services.iter().map(ToString::to_string).collect(),
            has_methods_without_rule: config.has_methods_without_rule,
            ignored_parameters: config.ignored_parameters.iter().map(ToString::to_string).collect(),
            ignores_unknown_parameters: config.unknown_parameters == Unknown::Ignore,
        };
        let index = HttpIndex::new(Arc::new(schema), options).map_err(|errors| {
            let mut lines: Vec<String> = errors.iter().take(ERRORS_SHOWN).map(ToString::to_string).collect();
            if errors.len() > ERRORS_SHOWN {
                lines.push(format!("and {} more", errors.len() - ERRORS_SHOWN));
            }
            refused(&config.descriptors, lines.join("; "))
        })?;
        if index.routes().is_empty() {
            let why =
                "no method has an HTTP rule (google.api.http); `auto: true` maps methods by their gRPC path";
            return Err(refused(&config.descriptors, why));
        }
        Ok(Self {
            index,
            limits: ProtobufLimits {
                message_bytes_max: config.message_bytes_max,
                ..ProtobufLimits::default()
            },
            read: FromJsonOptions {
                unknown: config.unknown_fields,
                duplicates: Duplicates::Refuse,
                ..FromJsonOptions::default()
            },
            print: ToJsonOptions {
                names: config.names,
                enums: config.enums,
                prints_defaults: config.prints_defaults,
            },
            counters: GrpcJsonCounters {
                calls: context.counter("calls"),
                refused: context.counter("refused"),
                failed: context.counter("failed"),
            },
            config: config.clone(),
        })
    }

    /// Replies with a status as JSON.
    pub(super) fn answer(
        &self,
        http: u16,
        status: &RpcStatus,
        details: &str,
        answer: &mut PhaseContext<'_>,
    ) -> Verdict {
        let body = self.status_json(status);
        let verdict = answer.reply(http, &String::from_utf8_lossy(&body), details);
        answer.reply_field("content-type", JSON);
        verdict
    }

    /// Returns a status as JSON.
    pub(super) fn status_json(&self, status: &RpcStatus) -> Vec<u8> {
        status.to_json(self.index.schema(), self.print, self.limits)
    }
}

impl Builtin for GrpcJson {
    fn interest(&self) -> Interest {
        Interest::of(&[
            Phase::RequestHead,
            Phase::RequestBody,
            Phase::ResponseHead,
            Phase::ResponseBody,
            Phase::ResponseTrailers,
        ])
    }

    fn enter(&self, answer: &mut PhaseContext<'_>) -> Verdict {
        if answer.view.phase == Phase::RequestHead {
            return self.request_head(answer);
        }
        let state = *answer.state;
        let Some(mut call) = CALLS.with_borrow_mut(|calls| calls.take(state)) else {
            return Verdict::Continue;
        };
        let verdict = match answer.view.phase {
            Phase::RequestBody => self.request_body(&mut call, answer),
            Phase::ResponseHead => self.response_head(&mut call, answer),
            Phase::ResponseBody => self.response_body(&mut call, answer),
            Phase::ResponseTrailers => response_trailers(&call, answer),
            Phase::RequestHead | Phase::RequestTrailers | Phase::Log | Phase::End => Verdict::Continue,
        };
        CALLS.with_borrow_mut(|calls| calls.put(state, call));
        verdict
    }

    fn ended(&self, state: u64) {
        CALLS.with_borrow_mut(|calls| calls.forget(state));
    }
}

/// Removes the trailers, whose status has been transcoded already.
fn response_trailers(call: &TranscodedCall, answer: &mut PhaseContext<'_>) -> Verdict {
    if call.response.is_some() {
        for name in STATUS_FIELDS {
            answer.edit(&FilterEdit::Remove { name: name.as_bytes() });
        }
    }
    Verdict::Continue
}

/// Whether the headers announce a plain gRPC body.
pub(super) fn is_grpc(fields: Fields<'_>) -> bool {
    fields.first(FieldId::ContentType).and_then(GrpcKind::of) == Some(GrpcKind::Plain)
}

/// Headers that carry the gRPC status.
pub(super) const STATUS_FIELDS: [&str; 3] = ["grpc-status", "grpc-message", "grpc-status-details-bin"];
pub(super) const JSON: &[u8] = b"application/json";
const ERRORS_SHOWN: usize = 16;
