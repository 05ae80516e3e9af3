//! From what a call is answered with to JSON.

use eddy_http::Fields;
use eddy_protobuf::{CallResponse, ProtobufError, RpcStatus, StreamForm};

use super::call::TranscodedCall;
use super::filter::{GrpcJson, JSON, STATUS_FIELDS, is_grpc};
use crate::builtin::library::PhaseContext;
use crate::edit::FilterEdit;
use crate::phase::Verdict;
use crate::view::ExchangeView;

impl GrpcJson {
    /// Makes ready for the messages, or tells at once how the call ended.
    pub(super) fn response_head(
        &self,
        call: &mut TranscodedCall,
        view: &ExchangeView<'_>,
        answer: &mut PhaseContext<'_>,
    ) -> Verdict {
        let (Some(response), Some(route)) = (view.response, &call.route) else { return Verdict::Continue };
        call.response = None;
        // What does not come from the method stays as it is: pages of proxies between, eddy's own answers.
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
        if !view.is_end {
            return Verdict::Hold;
        }
        self.end(call, status(response.fields), answer)
    }

    /// Makes JSON of a piece of the body. The head waits while the status can still become another one: for the end of a
    /// call with one message, and for the first message of a stream.
    pub(super) fn response_body(
        &self,
        call: &mut TranscodedCall,
        view: &ExchangeView<'_>,
        answer: &mut PhaseContext<'_>,
    ) -> Verdict {
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
            return hand_out(call, answer);
        }
        answer.edit(&FilterEdit::BodySet(b""));
        Verdict::Hold
    }

    /// The call has ended with this status.
    fn end(
        &self,
        call: &mut TranscodedCall,
        status: Option<RpcStatus>,
        answer: &mut PhaseContext<'_>,
    ) -> Verdict {
        let Some(response) = &mut call.response else { return Verdict::Continue };
        let status = status
            .unwrap_or_else(|| RpcStatus::new(INTERNAL, "the endpoint has not told how the call ended"));
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
            // A part of the message is with the client, who must not take it for the whole.
            return Verdict::Reset;
        }
        hand_out(call, answer)
    }

    /// What the endpoint sent is not what the method answers with.
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
        let why = format!(
            "the response is not what the method answers with: {}",
            fault.describe(self.index.schema())
        );
        self.answer(502, &RpcStatus::new(INTERNAL, why), "grpc_json", answer)
    }
}

/// Lets the JSON go on that there is. More than a crossing can hand over ends the exchange, as the frames must not go on.
fn hand_out(call: &mut TranscodedCall, answer: &mut PhaseContext<'_>) -> Verdict {
    let handed = answer.set_body(&call.held);
    call.held.clear();
    if handed.is_ok() { Verdict::Continue } else { Verdict::Reset }
}

fn set(answer: &mut PhaseContext<'_>, kind: &[u8]) {
    answer.edit(&FilterEdit::Set { name: b"content-type", value: kind });
}

/// How the call ended, if the fields tell.
fn status(fields: Fields<'_>) -> Option<RpcStatus> {
    let [code, message, details] = STATUS_FIELDS.map(|name| fields.first_named(name.as_bytes()));
    Some(RpcStatus::from_trailers(code?, message, details))
}

const INTERNAL: u32 = 13;
/// JSON of a call with one message that waits for how the call ends, bytes. Beyond it a failure is told by a response that
/// is cut off.
const HELD_BYTES_MAX: usize = 256 * 1024;
