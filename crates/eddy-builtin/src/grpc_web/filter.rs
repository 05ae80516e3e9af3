//! gRPC-Web filter.

use eddy_filter::{FilterEdit, Interest, Phase, Verdict};
use eddy_http::{FieldId, Fields, GrpcKind, Method};
use eddy_protobuf::write_base64;

use super::call::WebCall;
use super::text::BadBase64;
use crate::context::{BuiltinContext, MetricCounter};
use crate::library::{Builtin, PhaseContext};

/// Checked configuration of `grpc_web`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrpcWebConfig {
    /// Whether Base64-encoded bodies (`grpc-web-text`) are accepted.
    pub has_text: bool,
}

impl Default for GrpcWebConfig {
    fn default() -> Self {
        Self { has_text: true }
    }
}

/// Converter of gRPC-Web calls to gRPC, and of their responses back to gRPC-Web.
#[derive(Debug)]
pub(crate) struct GrpcWeb {
    config: GrpcWebConfig,
    /// gRPC-Web calls.
    calls: MetricCounter,
    /// Calls refused because of invalid Base64, or because Base64 is not accepted.
    refused: MetricCounter,
}

impl GrpcWeb {
    /// Creates the filter.
    pub(crate) fn new(config: GrpcWebConfig, context: &BuiltinContext) -> Self {
        Self { config, calls: context.counter("calls"), refused: context.counter("refused") }
    }

    /// Converts the head of a gRPC-Web request to gRPC.
    fn request_head(&self, answer: &mut PhaseContext<'_>) -> Verdict {
        let request = &answer.view.request;
        let form = (request.method == Method::Post).then(|| form(request.fields)).flatten();
        let Some((kind, suffix)) = form.filter(|(kind, _)| *kind != GrpcKind::Plain) else {
            return Verdict::Continue;
        };
        self.calls.count(answer.worker);
        let has_text_request = kind == GrpcKind::WebText;
        if has_text_request && !self.config.has_text {
            return self.refuse(415, "gRPC-Web text (Base64) is not enabled\n", answer);
        }
        set_type(answer, GrpcKind::Plain, suffix);
        answer.edit(&FilterEdit::Set { name: b"te", value: b"trailers" });
        if has_text_request {
            answer.edit(&FilterEdit::Remove { name: b"content-length" });
        }
        let wants_text = self.config.has_text && wants_text(request.fields).unwrap_or(has_text_request);
        *answer.state = WebCall { has_text_request, wants_text, ..WebCall::default() }.pack();
        // A body that is invalid Base64 from the beginning reaches no endpoint.
        if has_text_request && !answer.view.is_end { Verdict::Hold } else { Verdict::Continue }
    }

    fn request_body(&self, call: &mut WebCall, answer: &mut PhaseContext<'_>) -> Verdict {
        let view = answer.view;
        if !call.has_text_request {
            return Verdict::Continue;
        }
        let mut out = Vec::with_capacity(view.body.len());
        let mut decoded = call.held.decode(view.body, &mut out);
        if decoded.is_ok() && view.is_last_piece() {
            decoded = call.held.finish();
        }
        match decoded {
            Ok(()) => {
                answer.edit(&FilterEdit::BodySet(&out));
                Verdict::Continue
            }
            Err(BadBase64) => self.refuse(400, "the body is not valid Base64\n", answer),
        }
    }

    fn refuse(&self, status: u16, why: &str, answer: &mut PhaseContext<'_>) -> Verdict {
        self.refused.count(answer.worker);
        answer.reply(status, why, "grpc_web")
    }
}

impl Builtin for GrpcWeb {
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
        let Some(mut call) = WebCall::unpack(*answer.state) else { return Verdict::Continue };
        let verdict = match answer.view.phase {
            Phase::RequestBody => self.request_body(&mut call, answer),
            Phase::ResponseHead => response_head(&mut call, answer),
            Phase::ResponseBody => response_body(call, answer),
            Phase::ResponseTrailers => response_trailers(call, answer),
            Phase::RequestHead | Phase::RequestTrailers | Phase::Log | Phase::End => Verdict::Continue,
        };
        *answer.state = call.pack();
        verdict
    }
}

/// Converts the head of a gRPC response to gRPC-Web. A response without a body keeps its status in the head.
fn response_head(call: &mut WebCall, answer: &mut PhaseContext<'_>) -> Verdict {
    let Some(response) = answer.view.response else { return Verdict::Continue };
    // Error pages of other proxies are passed unchanged.
    let form = form(response.fields).filter(|(kind, _)| *kind == GrpcKind::Plain);
    call.is_answered = form.is_some();
    let Some((_, suffix)) = form else { return Verdict::Continue };
    let kind = if call.wants_text { GrpcKind::WebText } else { GrpcKind::Web };
    set_type(answer, kind, suffix);
    if !answer.view.is_end {
        answer.edit(&FilterEdit::Remove { name: b"content-length" });
    }
    Verdict::Continue
}

/// Appends the trailers to the last piece of a body, and encodes each piece as Base64 if requested.
fn response_body(call: WebCall, answer: &mut PhaseContext<'_>) -> Verdict {
    let view = answer.view;
    if !call.is_answered {
        return Verdict::Continue;
    }
    let mut last = Vec::new();
    if !view.trailers.is_empty() {
        write_trailers(&mut last, view.trailers);
    }
    if call.wants_text {
        let mut out = Vec::new();
        // The client receives each piece as it arrives, so each has its own padding.
        write_base64(&mut out, view.body);
        write_base64(&mut out, &last);
        answer.edit(&FilterEdit::BodySet(&out));
    } else if !last.is_empty() {
        answer.edit(&FilterEdit::BodyAppend(&last));
    }
    Verdict::Continue
}

/// Removes the trailers, which have been sent in the body.
fn response_trailers(call: WebCall, answer: &mut PhaseContext<'_>) -> Verdict {
    if call.is_answered {
        for field in answer.view.trailers.iter() {
            answer.edit(&FilterEdit::Remove { name: field.name });
        }
    }
    Verdict::Continue
}

/// Returns the gRPC variant of a content type, and the suffix after its name.
fn form(fields: Fields<'_>) -> Option<(GrpcKind, &[u8])> {
    GrpcKind::split(fields.first(FieldId::ContentType)?)
}

/// Whether the client asks for Base64 or for binary; `None` if neither.
fn wants_text(fields: Fields<'_>) -> Option<bool> {
    let mut wishes = fields.all(FieldId::Accept).flat_map(|value| value.split(|byte| *byte == b','));
    wishes.find_map(|wish| match GrpcKind::of(wish.trim_ascii())? {
        GrpcKind::WebText => Some(true),
        GrpcKind::Web => Some(false),
        GrpcKind::Plain => None,
    })
}

fn set_type(answer: &mut PhaseContext<'_>, kind: GrpcKind, suffix: &[u8]) {
    let value = [kind.name().as_bytes(), suffix].concat();
    answer.edit(&FilterEdit::Set { name: b"content-type", value: &value });
}

/// Appends the trailers frame.
///
/// # Spec
/// [gRPC-Web](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-WEB.md), Message framing
fn write_trailers(out: &mut Vec<u8>, trailers: Fields<'_>) {
    let mut lines = Vec::new();
    for field in trailers.iter() {
        lines.extend(field.name.iter().map(u8::to_ascii_lowercase));
        lines.push(b':');
        lines.extend_from_slice(field.value);
        lines.extend_from_slice(b"\r\n");
    }
    // The size limit of trailers is far below `u32::MAX`.
    let length = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    out.push(TRAILERS);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&lines);
}

/// Flag of a trailers frame.
const TRAILERS: u8 = 0x80;
