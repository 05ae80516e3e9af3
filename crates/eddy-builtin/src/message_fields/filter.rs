//! Message field extraction filter.

use eddy_filter::{FilterEdit, Interest, LoadResult, Phase, Verdict};
use eddy_http::GrpcStatus;
use eddy_protobuf::{ProtobufError, ProtobufErrorKind, Schema, Values};

use super::config::{MessageFieldsConfig, WhichMessage};
use super::notes::{ExtractionOutput, ExtractionReport, ExtractionWriter};
use super::plan::{Extraction, ExtractionPlan};
use super::reading::BodyExtraction;
use crate::context::{BuiltinContext, MetricCounter};
use crate::library::{Builtin, PhaseContext};
use crate::protobuf::{CallTypes, ExchangeState, Media, Unreadable, enter, is_encoded, keep_facts, load};

/// Filter that extracts message fields into metadata and headers. Messages are not changed.
#[derive(Debug)]
pub(crate) struct MessageFields {
    schema: Schema,
    plan: ExtractionPlan,
    config: MessageFieldsConfig,
    counters: MessageFieldsCounters,
}

/// Counters of the filter.
#[derive(Debug)]
struct MessageFieldsCounters {
    /// Messages read.
    read: MetricCounter,
    /// Bodies that could not be read, and values for which there was no room.
    unreadable: MetricCounter,
    /// Requests refused because of that.
    refused: MetricCounter,
}

/// State of an exchange between its phases.
#[derive(Debug, Default)]
struct MessageFieldsState {
    /// Message types of the method that the request calls.
    call: Option<CallTypes>,
    request: Option<BodyExtraction>,
    response: Option<BodyExtraction>,
    /// Whether the request head is held until the first message is read.
    is_held: bool,
}

keep_facts!(MessageFieldsState, call, request, response);

impl MessageFields {
    /// Creates the filter.
    ///
    /// # Errors
    /// `LoadError::Refused` when the descriptors cannot be read, `LoadError::Path` when they lack a field.
    pub(crate) fn new(config: &MessageFieldsConfig, context: &BuiltinContext) -> LoadResult<Self> {
        let schema = load(&config.descriptors, context)?;
        Ok(Self {
            plan: ExtractionPlan::new(&schema, config)?,
            schema,
            config: config.clone(),
            counters: MessageFieldsCounters {
                read: context.counter("messages"),
                unreadable: context.counter("unreadable"),
                refused: context.counter("refused"),
            },
        })
    }

    fn request_head(&self, known: &mut MessageFieldsState, answer: &mut PhaseContext<'_>) -> Verdict {
        let view = answer.view;
        self.remove_headers(answer);
        let fields = view.request.fields;
        let media = Media::of(fields);
        let types = &self.plan.types;
        known.call = types.of_target(view.request.target);
        let body = types.of_request(media, known.call).filter(|_| !view.is_end);
        let Some(extraction) = body.and_then(|body| self.plan.request.get(&body.message)) else {
            return Verdict::Continue;
        };
        if is_encoded(fields) {
            if !extraction.has_header {
                return Verdict::Continue;
            }
            return self.give_up("the body is compressed", 415, answer);
        }
        known.is_held = extraction.has_header;
        known.request =
            Some(BodyExtraction::new(extraction, media == Media::Grpc, self.config.message_bytes_max));
        if known.is_held { Verdict::Hold } else { Verdict::Continue }
    }

    /// Removes the extracted headers that the client sent itself, because the route was selected with them.
    fn remove_headers(&self, answer: &mut PhaseContext<'_>) {
        let mut was_there = false;
        for header in self.config.request.iter().filter_map(|field| field.header.as_deref()) {
            if answer.view.request.fields.first_named(header.as_bytes()).is_some() {
                answer.edit(&FilterEdit::Remove { name: header.as_bytes() });
                was_there = true;
            }
        }
        if was_there && self.config.is_rerouted {
            answer.edit(&FilterEdit::ClearRoute);
        }
    }

    fn response_head(&self, known: &mut MessageFieldsState, answer: &PhaseContext<'_>) -> Verdict {
        known.response = None;
        let Some(response) =
            answer.view.response.filter(|response| !response.is_local && !answer.view.is_end)
        else {
            return Verdict::Continue;
        };
        let media = Media::of(response.fields);
        let body = self.plan.types.of_response(media, known.call);
        let extraction = body.and_then(|body| self.plan.response.get(&body.message));
        match extraction {
            Some(_) if is_encoded(response.fields) => self.counters.unreadable.count(answer.worker),
            Some(extraction) => {
                let is_framed = media == Media::Grpc;
                known.response =
                    Some(BodyExtraction::new(extraction, is_framed, self.config.message_bytes_max));
            }
            None => {}
        }
        Verdict::Continue
    }

    /// Reads a piece of a response, which is passed unchanged even if it cannot be read.
    fn response_body(&self, known: &mut MessageFieldsState, answer: &mut PhaseContext<'_>) -> Verdict {
        // Errors have been counted.
        let _ = self.read(&mut known.response, ExtractionOutput::Metadata, answer);
        Verdict::Continue
    }

    fn request_body(&self, known: &mut MessageFieldsState, answer: &mut PhaseContext<'_>) -> Verdict {
        let is_held = known.is_held;
        let output = if is_held { ExtractionOutput::WithHeaders } else { ExtractionOutput::Metadata };
        let found = match self.read(&mut known.request, output, answer) {
            Ok(found) => found,
            Err(fault) => {
                known.is_held = false;
                let status = if fault.kind == ProtobufErrorKind::MessageTooLarge { 413 } else { 400 };
                if !is_held {
                    return Verdict::Continue;
                }
                return self.give_up(&fault.to_string(), status, answer);
            }
        };
        if found.is_none() && is_held && !answer.view.is_last_piece() {
            return Verdict::Hold;
        }
        if is_held && found.as_ref().is_some_and(|found| found.is_header_missing) {
            let verdict = self.give_up("a field value is too long for a header", 400, answer);
            if verdict == Verdict::Reply {
                known.is_held = false;
                return verdict;
            }
        }
        let has_headers = found.is_some_and(|found| found.has_headers);
        if std::mem::take(&mut known.is_held) && has_headers && self.config.is_rerouted {
            answer.edit(&FilterEdit::ClearRoute);
        }
        Verdict::Continue
    }

    /// Reads a piece; returns the result of its messages, if one ended in it.
    fn read(
        &self,
        reading: &mut Option<BodyExtraction>,
        output: ExtractionOutput,
        answer: &mut PhaseContext<'_>,
    ) -> Result<Option<ExtractionReport>, ProtobufError> {
        let Some(under_way) = reading else { return Ok(None) };
        let (mut piece, is_last) = (answer.view.body, answer.view.is_last_piece());
        let mut found = None;
        let writer = ExtractionWriter { schema: &self.schema, which: self.config.which };
        loop {
            // Only the first message provides headers: the head is released with it.
            let output = if found.is_none() { output } else { ExtractionOutput::Metadata };
            let show = |extraction: &Extraction, values: &Values<'_>, begin: u64| {
                let own = writer.write(extraction, (values, begin), output, answer);
                self.counters.unreadable.add(answer.worker, own.left_out);
                let first = found.get_or_insert_with(ExtractionReport::default);
                first.is_header_missing |= own.is_header_missing;
                first.has_headers |= own.has_headers;
            };
            match under_way.next(&mut piece, is_last, show) {
                Ok(true) if self.config.which == WhichMessage::Last => {}
                Ok(is_read) => {
                    let is_done = is_read || is_last;
                    self.counters.read.add(answer.worker, std::mem::take(&mut under_way.messages));
                    if is_done {
                        *reading = None;
                    }
                    return Ok(found);
                }
                Err(fault) => {
                    self.counters.unreadable.count(answer.worker);
                    *reading = None;
                    // Values found before the error are kept.
                    return if found.is_some() { Ok(found) } else { Err(fault) };
                }
            }
        }
    }

    /// Handles a message with a value for a header that cannot be read, or a value that does not fit.
    fn give_up(&self, why: &str, status: u16, answer: &mut PhaseContext<'_>) -> Verdict {
        if self.config.unreadable == Unreadable::Pass {
            return Verdict::Continue;
        }
        self.counters.refused.count(answer.worker);
        let body = format!("the message that selects the route cannot be read: {why}\n");
        let verdict = answer.reply(status, &body, "message_fields");
        let is_too_large = status == 413;
        answer.reply_grpc(if is_too_large {
            GrpcStatus::ResourceExhausted
        } else {
            GrpcStatus::InvalidArgument
        });
        verdict
    }
}

impl Builtin for MessageFields {
    fn interest(&self) -> Interest {
        let mut phases = vec![Phase::RequestHead];
        if !self.config.request.is_empty() {
            phases.push(Phase::RequestBody);
        }
        if !self.config.response.is_empty() {
            phases.extend([Phase::ResponseHead, Phase::ResponseBody]);
        }
        Interest::of(&phases)
    }

    fn enter(&self, answer: &mut PhaseContext<'_>) -> Verdict {
        enter(answer, |known: &mut MessageFieldsState, answer| match answer.view.phase {
            Phase::RequestHead => self.request_head(known, answer),
            Phase::RequestBody => self.request_body(known, answer),
            Phase::ResponseHead => self.response_head(known, answer),
            Phase::ResponseBody => self.response_body(known, answer),
            Phase::RequestTrailers | Phase::ResponseTrailers | Phase::Log | Phase::End => Verdict::Continue,
        })
    }

    fn ended(&self, state: u64) {
        MessageFieldsState::with_all(|all| all.forget(state));
    }
}
