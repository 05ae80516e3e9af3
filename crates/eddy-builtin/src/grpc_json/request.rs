//! Transcoding of JSON requests to gRPC.

use eddy_filter::{FilterEdit, Verdict};
use eddy_http::{FieldId, Fields, GrpcStatus, Method};
use eddy_protobuf::{
    CallRequest, HttpBodyBinding, HttpRoute, HttpRouteLookup, ProtobufError, ProtobufErrorKind, RpcStatus,
    StreamForm,
};

use super::config::UnknownRequests;
use super::filter::{CALLS, GrpcJson, TranscodedCall, is_grpc};
use crate::library::PhaseContext;

impl GrpcJson {
    /// Finds the method of a request and converts the request head to that of a gRPC call.
    pub(super) fn request_head(&self, answer: &mut PhaseContext<'_>) -> Verdict {
        let view = answer.view;
        let request = &view.request;
        if matches!(request.method, Method::Head | Method::Connect | Method::Trace) || is_grpc(request.fields)
        {
            return Verdict::Continue;
        }
        let (path, query) = split(request.target);
        let method = std::str::from_utf8(request.method_name).unwrap_or_default();
        let route = match self.index.find(method, path) {
            HttpRouteLookup::Route(route) => route,
            _ if self.config.unknown_requests == UnknownRequests::Pass => return Verdict::Continue,
            HttpRouteLookup::Methods(methods) => {
                let verdict = self.refuse(405, "method not allowed for this path", answer);
                answer.reply_field("allow", methods.join(", ").as_bytes());
                return verdict;
            }
            HttpRouteLookup::None => {
                return self.refuse(404, "no gRPC method is mapped to this path", answer);
            }
        };
        if !view.is_end
            && let Err(why) = check_body(route, request.fields)
        {
            return self.refuse(415, why, answer);
        }
        let call = CallRequest::new(&self.index, route, (path, query), self.read, self.limits);
        let mut call = match call {
            Ok(call) => call,
            Err(error) => return self.refuse(400, &error.to_string(), answer),
        };
        self.counters.calls.count(answer.worker);
        answer.edit(&FilterEdit::Method(b"POST"));
        answer.edit(&FilterEdit::Target(route.path.as_bytes()));
        for (name, value) in
            [("content-type", "application/grpc"), ("te", "trailers"), ("grpc-accept-encoding", "identity")]
        {
            answer.edit(&FilterEdit::Set { name: name.as_bytes(), value: value.as_bytes() });
        }
        // Compressed responses cannot be converted, and the body length changes.
        for name in ["accept-encoding", "content-length"] {
            answer.edit(&FilterEdit::Remove { name: name.as_bytes() });
        }
        if self.config.is_rerouted {
            answer.edit(&FilterEdit::ClearRoute);
        }
        let is_whole = view.is_end;
        if is_whole {
            let mut body = Vec::new();
            if let Err(fault) = call.finish(&mut body) {
                return self.refuse_body(&fault, answer);
            }
            answer.edit(&FilterEdit::BodySet(&body));
        }
        let call = TranscodedCall {
            route: Some(route.clone()),
            form: form(request.fields, self.config.stream),
            request: (!is_whole).then_some(call),
            ..TranscodedCall::default()
        };
        *answer.state = CALLS.with_borrow_mut(|calls| calls.keep(Box::new(call)));
        if is_whole { Verdict::Continue } else { Verdict::Hold }
    }

    /// Transcodes a piece of the body. The head is held until the first message is complete: until then the client can
    /// get an error response, and no endpoint is contacted.
    pub(super) fn request_body(&self, call: &mut TranscodedCall, answer: &mut PhaseContext<'_>) -> Verdict {
        let Some(request) = &mut call.request else { return Verdict::Continue };
        let mut out = Vec::new();
        let mut made = request.push(answer.view.body, &mut out);
        let is_last = answer.view.is_last_piece();
        if is_last && made.is_ok() {
            made = request.finish(&mut out);
            call.request = None;
        }
        if let Err(fault) = made {
            return self.refuse_body(&fault, answer);
        }
        if answer.set_body(&out).is_err() {
            return Verdict::Reset;
        }
        // The frame of a unary call is complete only at the end.
        if is_last || !out.is_empty() { Verdict::Continue } else { Verdict::Hold }
    }

    fn refuse_body(&self, fault: &ProtobufError, answer: &mut PhaseContext<'_>) -> Verdict {
        let status = if fault.kind == ProtobufErrorKind::MessageTooLarge { 413 } else { 400 };
        let why = format!("the body is invalid for the gRPC method: {}", fault.describe(self.index.schema()));
        self.refuse(status, &why, answer)
    }

    fn refuse(&self, status: u16, why: &str, answer: &mut PhaseContext<'_>) -> Verdict {
        self.counters.refused.count(answer.worker);
        let code = match status {
            404 => GrpcStatus::NotFound,
            405 => GrpcStatus::Unimplemented,
            413 => GrpcStatus::ResourceExhausted,
            _ => GrpcStatus::InvalidArgument,
        };
        self.answer(status, &RpcStatus::new(code.code(), why), "grpc_json", answer)
    }
}

/// Splits a target into path and query.
fn split(target: &[u8]) -> (&[u8], &[u8]) {
    match target.iter().position(|byte| *byte == b'?') {
        Some(at) => (target.get(..at).unwrap_or_default(), target.get(at + 1..).unwrap_or_default()),
        None => (target, &[]),
    }
}

/// Checks that the body is uncompressed JSON.
fn check_body(route: &HttpRoute, fields: Fields<'_>) -> Result<(), &'static str> {
    let coding = fields.first_named(b"content-encoding").unwrap_or_default();
    if !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity") {
        return Err("compressed bodies are not supported");
    }
    let kind = fields.first(FieldId::ContentType).unwrap_or_default();
    let kind = kind.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii().to_ascii_lowercase();
    let is_json = kind == b"application/json" || kind.ends_with(b"+json");
    let is_stream = route.is_client_streaming && LINES.contains(&kind.as_slice());
    if route.body == HttpBodyBinding::None || kind.is_empty() || is_json || is_stream {
        Ok(())
    } else {
        Err("the content type of the body is not application/json")
    }
}

/// Returns the response format that the client prefers for several messages.
fn form(fields: Fields<'_>, default: StreamForm) -> StreamForm {
    let wishes = fields.all(FieldId::Accept).flat_map(|value| value.split(|byte| *byte == b','));
    for wish in wishes {
        let kind =
            wish.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii().to_ascii_lowercase();
        if kind == b"text/event-stream" {
            return StreamForm::Events;
        }
        if LINES.contains(&kind.as_slice()) {
            return StreamForm::Lines;
        }
    }
    default
}

/// Content types of newline-delimited JSON.
const LINES: [&[u8]; 3] = [b"application/x-ndjson", b"application/jsonl", b"application/json-lines"];
