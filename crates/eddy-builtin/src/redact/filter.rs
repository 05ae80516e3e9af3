//! Redaction filter.

use eddy_filter::{FilterEdit, Interest, LoadResult, Phase, Verdict};
use eddy_http::Fields;
use eddy_protobuf::Compressed;

use super::body::RedactedBody;
use super::config::RedactConfig;
use super::policy::RedactPolicy;
use super::refusal::RedactError;
use crate::context::{BuiltinContext, MetricCounter};
use crate::library::{Builtin, PhaseContext};
use crate::protobuf::{
    BodyType, CallTypes, ExchangeState, Media, Unreadable, enter, is_encoded, keep_facts, load, refused,
};

/// Filter that removes or masks private fields of messages.
#[derive(Debug)]
pub(crate) struct Redact {
    policy: RedactPolicy,
    config: RedactConfig,
    counters: RedactCounters,
}

/// Counters of the filter.
#[derive(Debug)]
struct RedactCounters {
    /// Messages redacted.
    messages: MetricCounter,
    /// Messages and bodies passed unchanged because they cannot be read.
    passed: MetricCounter,
    /// Exchanges refused because of that.
    refused: MetricCounter,
}

/// State of an exchange between its phases.
#[derive(Debug, Default)]
struct RedactState {
    /// Message types of the method that the request calls.
    call: Option<CallTypes>,
    request: Option<Passing>,
    response: Option<Passing>,
}

/// Body in redaction.
#[derive(Debug)]
struct Passing {
    body: RedactedBody,
    /// Whether the head is held until the message is complete, so that a failure can still be answered.
    is_held: bool,
}

keep_facts!(RedactState, call, request, response);

impl Redact {
    /// Creates the filter.
    ///
    /// # Errors
    /// `LoadError::Refused` when the descriptors cannot be read, or lack a field to be redacted.
    pub(crate) fn new(config: &RedactConfig, context: &BuiltinContext) -> LoadResult<Self> {
        let schema = load(&config.descriptors, context)?;
        Ok(Self {
            policy: RedactPolicy::new(&schema, config).map_err(|why| refused(&config.descriptors, why))?,
            config: config.clone(),
            counters: RedactCounters {
                messages: context.counter("messages"),
                passed: context.counter("passed"),
                refused: context.counter("refused"),
            },
        })
    }

    fn request_head(&self, known: &mut RedactState, answer: &mut PhaseContext<'_>) -> Verdict {
        let view = answer.view;
        let fields = view.request.fields;
        let media = Media::of(fields);
        let types = &self.policy.types;
        known.call = types.of_target(view.request.target);
        if self.config.directions.has_responses() && self.config.compressed == Unreadable::Refuse {
            self.request_identity_coding(media, known.call, answer);
        }
        if view.is_end || !self.config.directions.has_requests() {
            return Verdict::Continue;
        }
        match self.begin(media, fields, types.of_request(media, known.call), answer) {
            Ok(passing) => known.request = passing,
            Err(refusal) => return self.refuse(&refusal, answer),
        }
        waiting(known.request.as_ref())
    }

    /// Asks the endpoint not to compress responses that must be redacted.
    fn request_identity_coding(&self, media: Media, call: Option<CallTypes>, answer: &mut PhaseContext<'_>) {
        let types = &self.policy.types;
        let is_redacted = |media| {
            let body = types.of_response(media, call);
            body.is_some_and(|body| self.policy.program(body.message).is_some())
        };
        if media == Media::Grpc && is_redacted(Media::Grpc) {
            answer.edit(&FilterEdit::Set { name: b"grpc-accept-encoding", value: b"identity" });
        }
        if media != Media::Grpc && is_redacted(Media::Message) {
            answer.edit(&FilterEdit::Remove { name: b"accept-encoding" });
        }
    }

    fn response_head(&self, known: &mut RedactState, answer: &mut PhaseContext<'_>) -> Verdict {
        known.response = None;
        let Some(response) = answer.view.response else { return Verdict::Continue };
        if answer.view.is_end || response.is_local || !self.config.directions.has_responses() {
            return Verdict::Continue;
        }
        let media = Media::of(response.fields);
        let body = self.policy.types.of_response(media, known.call);
        match self.begin(media, response.fields, body, answer) {
            Ok(passing) => known.response = passing,
            Err(refusal) => return self.refuse(&refusal.of_response(), answer),
        }
        waiting(known.response.as_ref())
    }

    /// Prepares for a body; returns `None` if nothing is redacted in it.
    fn begin(
        &self,
        media: Media,
        fields: Fields<'_>,
        body: Option<BodyType>,
        answer: &mut PhaseContext<'_>,
    ) -> Result<Option<Passing>, RedactError> {
        let pass = |policy: Unreadable, why: &str| {
            if policy == Unreadable::Refuse {
                return Err(RedactError::of_form(why));
            }
            self.counters.passed.count(answer.worker);
            Ok(None)
        };
        match (media, body) {
            (Media::Other, _) => Ok(None),
            (Media::Foreign, _) => pass(self.config.unknown, "messages in this format cannot be redacted"),
            (Media::Grpc, None) => {
                pass(self.config.unknown, "messages of this method cannot be redacted: the method is unknown")
            }
            (Media::Message, None) => {
                pass(self.config.unknown, "messages of unknown type cannot be redacted")
            }
            (Media::Grpc | Media::Message, Some(body)) => {
                let Some(program) = self.policy.program(body.message) else { return Ok(None) };
                if is_encoded(fields) {
                    return pass(self.config.compressed, "a compressed body cannot be redacted");
                }
                let compressed = match self.config.compressed {
                    Unreadable::Refuse => Compressed::Refuse,
                    Unreadable::Pass => Compressed::Pass,
                };
                let is_framed = media == Media::Grpc;
                let bytes_max = self.config.message_bytes_max;
                // Digests of the original body are no longer valid.
                DIGESTS.iter().for_each(|name| answer.edit(&FilterEdit::Remove { name: name.as_bytes() }));
                if !program.is_streamable() {
                    answer.edit(&FilterEdit::Remove { name: b"content-length" });
                }
                Ok(Some(Passing {
                    is_held: !program.is_streamable() && !body.is_stream,
                    body: RedactedBody::new(program, is_framed, compressed, bytes_max),
                }))
            }
        }
    }

    /// Redacts a piece; returns the verdict, or the reason why it cannot be forwarded.
    fn redact_piece(
        &self,
        passing: &mut Passing,
        answer: &mut PhaseContext<'_>,
    ) -> Result<Verdict, RedactError> {
        let is_last = answer.view.is_last_piece();
        let mut out = Vec::new();
        let before = (passing.body.redacted, passing.body.passed);
        let pushed = passing.body.push(answer.view.body, is_last, &mut out);
        self.counters.messages.add(answer.worker, passing.body.redacted - before.0);
        self.counters.passed.add(answer.worker, passing.body.passed - before.1);
        pushed.map_err(|fault| RedactError::of_message(&fault))?;
        answer.set_body(&out).map_err(|error| RedactError::of_size(&error))?;
        passing.is_held &= out.is_empty() && !is_last;
        Ok(waiting(Some(passing)))
    }

    /// Ends an exchange with a reply.
    fn refuse(&self, refusal: &RedactError, answer: &mut PhaseContext<'_>) -> Verdict {
        self.counters.refused.count(answer.worker);
        let verdict = answer.reply(refusal.http, &format!("{}\n", refusal.why), "redact");
        answer.reply_grpc(refusal.grpc);
        verdict
    }
}

impl Builtin for Redact {
    fn interest(&self) -> Interest {
        let directions = self.config.directions;
        let mut phases = vec![Phase::RequestHead];
        if directions.has_requests() {
            phases.push(Phase::RequestBody);
        }
        if directions.has_responses() {
            phases.extend([Phase::ResponseHead, Phase::ResponseBody]);
        }
        Interest::of(&phases)
    }

    fn enter(&self, answer: &mut PhaseContext<'_>) -> Verdict {
        enter(answer, |known: &mut RedactState, answer| match answer.view.phase {
            Phase::RequestHead => self.request_head(known, answer),
            Phase::ResponseHead => self.response_head(known, answer),
            Phase::RequestBody => self.body(&mut known.request, answer, RedactError::clone),
            Phase::ResponseBody => self.body(&mut known.response, answer, RedactError::of_response),
            Phase::RequestTrailers | Phase::ResponseTrailers | Phase::Log | Phase::End => Verdict::Continue,
        })
    }

    fn ended(&self, state: u64) {
        RedactState::with_all(|all| all.forget(state));
    }
}

impl Redact {
    fn body(
        &self,
        passing: &mut Option<Passing>,
        answer: &mut PhaseContext<'_>,
        told: impl FnOnce(&RedactError) -> RedactError,
    ) -> Verdict {
        let Some(under_way) = passing else { return Verdict::Continue };
        // If a reply can no longer be sent, a reply verdict would let the message pass.
        let is_tellable = under_way.is_held;
        match self.redact_piece(under_way, answer) {
            Ok(verdict) => verdict,
            Err(refusal) => {
                *passing = None;
                if is_tellable {
                    return self.refuse(&told(&refusal), answer);
                }
                self.counters.refused.count(answer.worker);
                Verdict::Reset
            }
        }
    }
}

/// Holds the head while the message is held.
fn waiting(passing: Option<&Passing>) -> Verdict {
    if passing.is_some_and(|passing| passing.is_held) { Verdict::Hold } else { Verdict::Continue }
}

/// Headers with a digest of the body.
const DIGESTS: [&str; 4] = ["content-digest", "repr-digest", "digest", "content-md5"];
