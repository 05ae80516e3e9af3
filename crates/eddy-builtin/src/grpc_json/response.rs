//! Transcoding of gRPC responses to JSON.

use eddy_filter::{FilterEdit, Verdict};
use eddy_http::{Fields, GrpcStatus};
use eddy_protobuf::{CallResponse, ProtobufError, RpcStatus, StreamForm};

use super::filter::{GrpcJson, JSON, STATUS_FIELDS, TranscodedCall, is_grpc};
use crate::library::PhaseContext;

impl GrpcJson {
    /// Prepares for the messages, or ends the call at once if there is no body.
    pub(super) fn response_head(&self, call: &mut TranscodedCall, answer: &mut PhaseContext<'_>) -> Verdict {
        let (Some(response), Some(route)) = (answer.view.response, &call.route) else {
            return Verdict::Continue;
        };
        call.response = None;
        // Responses that do not come from the method are passed unchanged: error pages of other proxies, local replies.
        if response.status != 200 || !is_grpc(response.fields) {
            return Verdict::Continue;
        }
        call.held.clear();
        call.is_released = false;
        call.response = Some(CallResponse::new(&self.index, route, self.print, call.form, self.limits));
        let kind = match (route.is_server_streaming, call.form) {
            (true, StreamForm::Lines) => b"application/x-ndjson".as_slice(),
            (true, StreamForm::Events) => b"text/event-stream",
            _ => JSON,
        };
        set(answer, kind);
        for name in STATUS_FIELDS.iter().chain(&["content-length", "grpc-encoding", "grpc-accept-encoding"]) {
            answer.edit(&FilterEdit::Remove { name: name.as_bytes() });
        }
        if !answer.view.is_end {
            return Verdict::Hold;
        }
        self.end(call, status(response.fields), answer)
    }

    /// Transcodes a piece of the body. The head is held while the status can still change: until the end of a unary
    /// call, and until the first message of a stream.
    pub(super) fn response_body(&self, call: &mut TranscodedCall, answer: &mut PhaseContext<'_>) -> Verdict {
        let view = answer.view;
        let Some(response) = &mut call.response else { return Verdict::Continue };
        if let Err(fault) = response.push(view.body, &mut call.held) {
            return self.fail(call, &fault, answer);
        }
        if view.is_last_piece() {
            return self.end(call, status(view.trailers), answer);
        }
        let is_stream = call.route.as_ref().is_some_and(|route| route.is_server_streaming);
        let is_released =
            call.is_released || is_stream && !call.held.is_empty() || call.held.len() > HELD_BYTES_MAX;
        if is_released {
            call.is_released = true;
            return release_json(call, answer);
        }
        answer.edit(&FilterEdit::BodySet(b""));
        Verdict::Hold
    }

    /// Ends the call with a status.
    fn end(
        &self,
        call: &mut TranscodedCall,
        status: Option<RpcStatus>,
        answer: &mut PhaseContext<'_>,
    ) -> Verdict {
        let Some(response) = &mut call.response else { return Verdict::Continue };
        let status = status.unwrap_or_else(|| {
            RpcStatus::new(GrpcStatus::Internal.code(), "the endpoint sent no `grpc-status`")
        });
        if status.code == 0 {
            if let Err(fault) = response.finish(&mut call.held) {
                return self.fail(call, &fault, answer);
            }
        } else if !call.is_released {
            call.held = self.status_json(&status);
            set(answer, JSON);
            answer.edit(&FilterEdit::Status(status.http_status().into()));
        } else if call.route.as_ref().is_some_and(|route| route.is_server_streaming) {
            response.finish_failed(&self.status_json(&status), &mut call.held);
        } else {
            // The client has received part of the message, which must not look complete.
            return Verdict::Reset;
        }
        release_json(call, answer)
    }

    /// Fails the call because the endpoint's response is invalid for the method.
    fn fail(
        &self,
        call: &mut TranscodedCall,
        fault: &ProtobufError,
        answer: &mut PhaseContext<'_>,
    ) -> Verdict {
        self.counters.failed.count(answer.worker);
        call.response = None;
        if call.is_released {
            return Verdict::Reset;
        }
        let why =
            format!("the response is invalid for the gRPC method: {}", fault.describe(self.index.schema()));
        self.answer(502, &RpcStatus::new(GrpcStatus::Internal.code(), why), "grpc_json", answer)
    }
}

/// Releases the held JSON. If it exceeds the limit of a crossing, the exchange is reset, because the gRPC frames must
/// not be forwarded.
fn release_json(call: &mut TranscodedCall, answer: &mut PhaseContext<'_>) -> Verdict {
    let handed = answer.set_body(&call.held);
    call.held.clear();
    if handed.is_ok() { Verdict::Continue } else { Verdict::Reset }
}

fn set(answer: &mut PhaseContext<'_>, kind: &[u8]) {
    answer.edit(&FilterEdit::Set { name: b"content-type", value: kind });
}

/// Parses the gRPC status from headers or trailers, if present.
fn status(fields: Fields<'_>) -> Option<RpcStatus> {
    let [code, message, details] = STATUS_FIELDS.map(|name| fields.first_named(name.as_bytes()));
    Some(RpcStatus::from_trailers(code?, message, details))
}

/// Maximum JSON in bytes that a unary call holds until its status is known. Beyond it, a failure is signalled by a
/// truncated response.
const HELD_BYTES_MAX: usize = 256 * 1024;
