//! Callbacks that answer, resume, reroute or end an exchange.

use eddy_filter::{Direction, FilterEdit, Phase, Verdict};
use eddy_http::{EditFault, FieldsEditor};

use super::table::callbacks;
use crate::dynamic_module::abi::{AbiBuffer, Array, EnvoyPtr, Flag, Header};
use crate::dynamic_module::host;
use crate::dynamic_module::stream::{self, Stream};
use crate::dynamic_module::streamed_reply::StreamedReply;

/// Local reply of a module.
#[derive(Clone, Copy)]
struct ModuleReply<'r> {
    status: u32,
    headers: &'r [(&'r [u8], &'r [u8])],
    body: &'r [u8],
    details: &'r [u8],
}

impl ModuleReply<'_> {
    /// Replies to the exchange of a stream: in the crossing in progress, for a paused message, or in the next crossing.
    fn send(self, stream: &mut Stream) {
        if !(200..600).contains(&self.status) {
            stream.failure = Some(format!("its local reply has the invalid status {}", self.status));
            stream.resume_all(Verdict::Fault);
            return;
        }
        stream.has_replied = true;
        self.details.clone_into(&mut stream.reply_details);
        let details = if self.details.is_empty() { DETAILS } else { self.details };
        stream.note(&FilterEdit::Reply { status: self.status, body: self.body, details });
        let (mut bytes, mut fields) = (Vec::new(), Vec::new());
        for (name, value) in self.headers.iter().filter(|(name, _)| !name.starts_with(b":")) {
            match FieldsEditor::new(&mut bytes, &mut fields).add(name, value) {
                Ok(()) => stream.note(&FilterEdit::ReplyField { name, value }),
                // eddy writes these itself.
                Err(EditFault::Reserved { .. }) => {}
                Err(_) => host::log_error("a header of the module's local reply is invalid and left out"),
            }
        }
        let has_type = self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(b"content-type"));
        if !has_type && !self.body.is_empty() {
            stream.note(&FilterEdit::ReplyField { name: b"content-type", value: b"text/plain" });
        }
        match stream.phase {
            Some(Phase::Log | Phase::End) => {}
            Some(_) => stream.requested.is_replied = true,
            None if stream.has_paused() => stream.resume_all(Verdict::Reply),
            None => stream.replies_later = true,
        }
    }
}

impl Stream {
    fn has_paused(&self) -> bool {
        self.paused.iter().flatten().any(|paused| paused.decision.is_none())
    }

    /// Sets the verdict of paused messages.
    fn resume_all(&mut self, verdict: Verdict) {
        for paused in self.paused.iter_mut().flatten() {
            paused.decision.get_or_insert(verdict);
        }
    }

    /// Resumes the message of a direction; if it is not paused yet, once its hook pauses it.
    fn resume(&mut self, direction: Direction) {
        let at = direction as usize;
        if let Some(paused) = self.paused.get_mut(at).and_then(Option::as_mut) {
            paused.decision.get_or_insert(Verdict::Continue);
        } else if self.phase.is_some_and(|phase| phase.direction() == direction) {
            self.requested.continues[at] = true;
        } else {
            self.resumes_later[at] = true;
        }
    }

    fn reset(&mut self) {
        match self.phase {
            Some(_) => self.requested.is_reset = true,
            None => self.resume_all(Verdict::Reset),
        }
    }

    /// Fails the exchange, in the crossing in progress or with its paused messages.
    pub(super) fn fail(&mut self, why: &str) {
        self.failure = Some(why.to_owned());
        self.resume_all(Verdict::Fault);
    }

    fn end_streamed(&mut self) {
        let Some(reply) = self.streamed.take() else { return };
        let headers: Vec<(&[u8], &[u8])> =
            reply.headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        ModuleReply { status: reply.status, headers: &headers, body: &reply.body, details: b"" }.send(self);
    }
}

callbacks! {
    fn envoy_dynamic_module_callback_http_send_response(
        filter: EnvoyPtr,
        status: u32,
        headers: Array<Header>,
        headers_len: usize,
        body: AbiBuffer,
        details: AbiBuffer,
    ) {
        let pairs: Vec<(&[u8], &[u8])> = headers.values(headers_len).iter().map(Header::pair).collect();
        let reply = ModuleReply { status, headers: &pairs, body: body.bytes(), details: details.bytes() };
        stream::of(filter, |stream| reply.send(stream));
    }

    fn envoy_dynamic_module_callback_http_send_response_headers(
        filter: EnvoyPtr,
        headers: Array<Header>,
        headers_len: usize,
        is_end: Flag,
    ) {
        stream::of(filter, |stream| {
            match StreamedReply::begin(headers.values(headers_len).iter().map(Header::pair)) {
                Ok(reply) => stream.streamed = Some(reply),
                Err(why) => stream.fail(why),
            }
            if is_end.is_set() {
                stream.end_streamed();
            }
        });
    }

    fn envoy_dynamic_module_callback_http_send_response_data(filter: EnvoyPtr, data: AbiBuffer, is_end: Flag) {
        stream::of(filter, |stream| {
            let pushed = match &mut stream.streamed {
                Some(reply) => reply.push(data.bytes()),
                None => Err("it sent data of a streamed reply without headers"),
            };
            if let Err(why) = pushed {
                stream.fail(why);
            } else if is_end.is_set() {
                stream.end_streamed();
            }
        });
    }

    fn envoy_dynamic_module_callback_http_send_response_trailers(
        filter: EnvoyPtr,
        _trailers: Array<Header>,
        trailers_len: usize,
    ) {
        stream::of(filter, |stream| {
            if trailers_len > 0 {
                host::log_error("a local reply has no trailers in eddy: those of the module are left out");
            }
            stream.end_streamed();
        });
    }

    fn envoy_dynamic_module_callback_http_filter_continue_decoding(filter: EnvoyPtr) {
        stream::of(filter, |stream| stream.resume(Direction::Request));
    }

    fn envoy_dynamic_module_callback_http_filter_continue_encoding(filter: EnvoyPtr) {
        stream::of(filter, |stream| stream.resume(Direction::Response));
    }

    fn envoy_dynamic_module_callback_http_filter_reset_stream(filter: EnvoyPtr, _reason: u32, _details: AbiBuffer) {
        stream::of(filter, Stream::reset);
    }

    // The client's connection is closed after the response, gracefully or not.
    fn envoy_dynamic_module_callback_http_filter_send_go_away_and_close(filter: EnvoyPtr, _graceful: Flag) {
        stream::of(filter, |stream| {
            if stream.phase == Some(Phase::ResponseHead) {
                stream.note(&FilterEdit::Set { name: b"connection", value: b"close" });
            } else {
                stream.closes = true;
            }
        });
    }

    fn envoy_dynamic_module_callback_http_clear_route_cache(filter: EnvoyPtr) {
        stream::of(filter, Stream::clear_route);
    }

    // The cluster of a route is selected with the route.
    fn envoy_dynamic_module_callback_http_clear_route_cluster_cache(filter: EnvoyPtr) {
        stream::of(filter, Stream::clear_route);
    }
}

impl Stream {
    /// Selects the rule again; nothing in a phase in which that is not possible.
    fn clear_route(&mut self) {
        let is_request = self.phase.is_none_or(|phase| phase.direction() == Direction::Request);
        if let Some(view) = self.view_of_mut(Direction::Request).filter(|_| is_request) {
            // An edit without bytes fits into every log that is not full.
            let _ = view.push(&FilterEdit::ClearRoute);
        }
    }
}

/// Word for the access log, for replies without one.
const DETAILS: &[u8] = b"dynamic_module";
