//! One exchange in a spec: a request and its response pass through a script.

use std::sync::atomic::AtomicU32;

use eddy_filter::{
    Direction, DynamicMetadata, EditLog, EditableSection, EventKind, ExchangeFacts, ExchangeInfo,
    ExchangeView, FilterEdit, FilterEvent, FilterInvocation, FilterLogLevel, FilterPolicy, FilterRun, Handle,
    HttpFilterChain, IncomingBody, LibraryCall, Phase, PhaseCall, RequestView, ResponseView, RunOutput,
    StepOrder, StepResult, Verdict, apply_to_fields,
};
use eddy_guest::SpecPart;
use eddy_http::{Fields, FieldsEditor, RequestHead, ResponseHead};

use super::host::{ScriptRequest, ScriptResume};
use super::message::{SpecField, SpecMessage, named_of};
use super::script::ScriptFilter;
use super::upstream::{MockResponse, SpecInterrupt, SpecUpstream};

/// Exchange that passes through a script.
pub(super) struct ScriptExchange<'a> {
    script: &'a ScriptFilter,
    request: RequestHead,
    request_bytes: Vec<u8>,
    response: ResponseHead,
    response_bytes: Vec<u8>,
    /// Chain of the script alone, and the passage of both messages through it, as in the gateway.
    chain: HttpFilterChain,
    run: FilterRun,
    /// Pieces that have been passed on, by direction.
    passed: [Vec<Vec<u8>>; 2],
    is_local: bool,
    reply: SpecMessage,
    metadata: DynamicMetadata,
    steps: Vec<FilterInvocation>,
    places: Vec<u8>,
    turn: u32,
    endpoint: Vec<u8>,
    ends_connection: bool,
    failure: Option<String>,
}

/// Result of a message's passage through the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScriptProgress {
    Through,
    Replied,
    /// The script failed; eddy responds with this status.
    Failed(u16),
}

/// Step of the script in its chain.
const SCRIPT: u8 = 0;

impl ExchangeFacts for ScriptExchange<'_> {
    fn info(&self) -> ExchangeInfo<'_> {
        ExchangeInfo {
            peer: b"127.0.0.1:50000",
            peer_ip: Some(std::net::Ipv4Addr::LOCALHOST.into()),
            local: b"127.0.0.1:8080",
            listener: b"rehearsal",
            rule: b"rehearsal",
            cluster: b"endpoint",
            metadata: Some(&self.metadata),
            ..ExchangeInfo::UNKNOWN
        }
    }
}

impl<'a> ScriptExchange<'a> {
    /// Creates an exchange whose request the script has not seen yet; `config` is the number of the rule's
    /// configuration.
    ///
    /// # Errors
    /// Why eddy would refuse the request.
    pub(super) fn new(script: &'a ScriptFilter, request: &SpecMessage, config: u64) -> Result<Self, String> {
        let (head, bytes) = request.request_head()?;
        let chain = HttpFilterChain::new(vec![script.step(config)]).map_err(|error| error.to_string())?;
        Ok(Self {
            script,
            request: head,
            request_bytes: bytes,
            response: ResponseHead::new(),
            response_bytes: Vec::new(),
            chain,
            run: FilterRun::default(),
            passed: [Vec::new(), Vec::new()],
            is_local: false,
            reply: SpecMessage::default(),
            metadata: DynamicMetadata::new(),
            steps: Vec::new(),
            places: Vec::new(),
            turn: 0,
            endpoint: Vec::new(),
            ends_connection: false,
            failure: None,
        })
    }

    /// Runs the exchange with this request to its end and returns its result for the spec.
    ///
    /// # Errors
    /// [`SpecInterrupt`].
    pub(super) fn run(
        mut self,
        request: &SpecMessage,
        answers: &mut SpecUpstream<'_>,
    ) -> Result<Vec<SpecPart>, SpecInterrupt> {
        let mut forwarded = None;
        let response = match self.pass(Direction::Request, request, answers)? {
            ScriptProgress::Through => {
                let request = self.forwarded();
                let answer = answers.answer("", &request)?;
                forwarded = Some(request);
                match answer {
                    MockResponse::Response(response) => response,
                    MockResponse::None(why) => self.refusal(if why == b"timeout" { 504 } else { 503 }),
                }
            }
            ScriptProgress::Replied => self.local(),
            ScriptProgress::Failed(status) => self.refusal(status),
        };
        let response = match self.respond(&response, answers)? {
            ScriptProgress::Through => return Ok(self.told(forwarded.as_ref())),
            ScriptProgress::Replied => self.local(),
            ScriptProgress::Failed(status) => self.refusal(status),
        };
        // The response of the gateway passes the script, too; a reply to it is not sent.
        if let ScriptProgress::Failed(status) = self.respond(&response, answers)? {
            let response = self.refusal(status);
            self.respond(&response, answers)?;
        }
        Ok(self.told(forwarded.as_ref()))
    }

    /// Passes a response through the script.
    fn respond(
        &mut self,
        response: &SpecMessage,
        answers: &mut SpecUpstream<'_>,
    ) -> Result<ScriptProgress, SpecInterrupt> {
        (self.response, self.response_bytes) = response.response_head().map_err(SpecInterrupt::Impossible)?;
        self.pass(Direction::Response, response, answers)
    }

    /// Returns the script's own response.
    fn local(&mut self) -> SpecMessage {
        self.is_local = true;
        std::mem::take(&mut self.reply)
    }

    /// Returns eddy's local reply, for example for a failed script.
    fn refusal(&mut self, status: u16) -> SpecMessage {
        self.is_local = true;
        SpecMessage { status, ..SpecMessage::default() }
    }

    /// Passes a message through the script: head, body (in pieces or as a whole) and trailers.
    fn pass(
        &mut self,
        direction: Direction,
        message: &SpecMessage,
        answers: &mut SpecUpstream<'_>,
    ) -> Result<ScriptProgress, SpecInterrupt> {
        let trailers = message.kept_trailers().map_err(SpecInterrupt::Impossible)?;
        let is_reply = direction == Direction::Response && self.is_local;
        let whole = message.pieces.concat();
        let has_body = !message.pieces.is_empty() || !trailers.fields.is_empty();
        let body = match has_body {
            // The gateway has its own replies, and those of filters, as a whole.
            _ if is_reply => IncomingBody::Whole(&whole),
            true => IncomingBody::Streamed,
            false => IncomingBody::Absent,
        };
        let travel = StepOrder::new(direction, &self.chain);
        self.run.message_mut(direction).begin(travel, body);
        self.passed[direction as usize].clear();
        let mut pieces = message.pieces.iter();
        loop {
            let run = self.run.message_mut(direction);
            let output = run.poll(&self.chain);
            match output {
                RunOutput::Enter(call) => {
                    let progress = self.enter(direction, call, answers)?;
                    let is_ignored = progress == ScriptProgress::Replied && is_reply;
                    if progress != ScriptProgress::Through && !is_ignored {
                        return Ok(progress);
                    }
                }
                RunOutput::Read => {
                    // Trailers need a body, even if it is empty.
                    let piece = pieces.next().map_or(&[][..], Vec::as_slice);
                    if pieces.len() == 0 {
                        run.push_last(piece, trailers.fields())
                    } else {
                        run.push_piece(piece)
                    }
                }
                RunOutput::Head => run.seal(),
                RunOutput::Piece | RunOutput::LastPiece => {
                    self.passed[direction as usize].push(run.data().to_vec());
                    run.taken();
                }
                RunOutput::Message | RunOutput::Body => {
                    let is_empty = is_reply && run.data().is_empty();
                    self.passed[direction as usize].extend((!is_empty).then(|| run.data().to_vec()));
                    run.seal();
                    return Ok(ScriptProgress::Through);
                }
                RunOutput::End => return Ok(ScriptProgress::Through),
                // The script's pauses end before `enter` returns.
                RunOutput::Waiting(_) => {
                    return Err(SpecInterrupt::Impossible(
                        "the script still waits; this is a bug in eddy".to_owned(),
                    ));
                }
                RunOutput::TooLarge(_) => {
                    self.failure
                        .get_or_insert_with(|| "the body is larger than its `body_bytes_max`".to_owned());
                    return Ok(ScriptProgress::Failed(match direction {
                        Direction::Request => 413,
                        Direction::Response => 502,
                    }));
                }
            }
        }
    }

    /// Runs a phase of the script, and answers its requests until it continues.
    fn enter(
        &mut self,
        direction: Direction,
        call: PhaseCall,
        answers: &mut SpecUpstream<'_>,
    ) -> Result<ScriptProgress, SpecInterrupt> {
        self.run.select(&self.chain, &call, &mut self.steps, &mut self.places);
        if self.steps.is_empty() {
            self.run.message_mut(direction).passed(&self.chain, &call);
            return Ok(ScriptProgress::Through);
        }
        self.turn += 1;
        let mut edits = EditLog::new();
        let mut verdict = self.cross(&call, &mut edits);
        loop {
            if let Err(why) = self.apply(call.phase, verdict, &edits) {
                self.failure.get_or_insert(why);
                return Ok(self.fail());
            }
            let result = match verdict {
                Verdict::Continue | Verdict::Reply => StepResult::Continue,
                Verdict::Buffer => StepResult::Buffer,
                Verdict::Hold => StepResult::Hold,
                Verdict::Pause => {
                    let ScriptResume { verdict: next, edits: more } = self.wait(answers)?;
                    (verdict, edits) = (next, more);
                    continue;
                }
                Verdict::Fault | Verdict::Reset => return Ok(self.fail()),
            };
            self.run.message_mut(direction).stopped(call.phase, SCRIPT, result);
            self.deliver_unawaited(answers)?;
            let is_replied = verdict == Verdict::Reply;
            return Ok(if is_replied { ScriptProgress::Replied } else { ScriptProgress::Through });
        }
    }

    /// Records that the script has failed: it is not entered again.
    fn fail(&mut self) -> ScriptProgress {
        self.run.fail(SCRIPT, FilterPolicy::default().on_failure);
        ScriptProgress::Failed(500)
    }

    /// Answers the script's requests until the exchange continues.
    fn wait(&mut self, answers: &mut SpecUpstream<'_>) -> Result<ScriptResume, SpecInterrupt> {
        loop {
            let sent = self.take_sent(|_| true);
            let Some(ScriptRequest { cluster, token, is_awaited, request }) = sent else {
                return Err(SpecInterrupt::Impossible(
                    "the filter waits for something other than the response to a request of its own, which a \
                     spec cannot bring about"
                        .to_owned(),
                ));
            };
            let answer = answers.answer(&cluster, &request)?;
            if !is_awaited {
                continue;
            }
            match answer {
                MockResponse::Response(response) => {
                    let (head, bytes) = response.response_head().map_err(SpecInterrupt::Impossible)?;
                    let body = response.pieces.concat();
                    self.tell(EventKind::Response, token, head.status, head.fields(&bytes), &body);
                }
                MockResponse::None(why) => self.tell(EventKind::Failed, token, 0, Fields::default(), &why),
            }
            if let Some(resumed) = self.script.host.noted().resumed.take() {
                return Ok(resumed);
            }
        }
    }

    fn tell(&self, kind: EventKind, token: u64, status: u16, fields: Fields<'_>, body: &[u8]) {
        self.script.library.event(&FilterEvent { kind, filter: 1, token, worker: 0, status, fields, body });
    }

    /// Passes requests to the spec whose responses the script does not wait for.
    fn deliver_unawaited(&self, answers: &mut SpecUpstream<'_>) -> Result<(), SpecInterrupt> {
        while let Some(sent) = self.take_sent(|sent| !sent.is_awaited) {
            answers.answer(&sent.cluster, &sent.request)?;
        }
        Ok(())
    }

    fn take_sent(&self, is_wanted: fn(&ScriptRequest) -> bool) -> Option<ScriptRequest> {
        let mut noted = self.script.host.noted();
        let place = noted.sent.iter().position(is_wanted)?;
        Some(noted.sent.remove(place))
    }

    fn cross(&mut self, call: &PhaseCall, edits: &mut EditLog) -> Verdict {
        let current = AtomicU32::new(0);
        let mut steps = std::mem::take(&mut self.steps);
        let view = self.view(call);
        let mut call = LibraryCall {
            worker: 0,
            exchange: Handle::from_number(1),
            turn: self.turn,
            is_sampled: false,
            view: Some(&view),
            steps: &mut steps,
            ended: &[],
            edits,
            stopped: 0,
            wait: None,
            current: &current,
        };
        let phase = view.phase;
        self.script.library.run(&mut call);
        self.steps = steps;
        let step = self.steps.first().copied().unwrap_or_default();
        self.run.keep_state(SCRIPT, step.state);
        self.run.entered(phase, SCRIPT);
        step.verdict
    }

    fn view(&self, call: &PhaseCall) -> ExchangeView<'_> {
        let (request, bytes) = (&self.request, &self.request_bytes);
        let phase = call.phase;
        let message = self.run.message(direction_of(phase));
        let is_body = matches!(phase, Phase::RequestBody | Phase::ResponseBody);
        ExchangeView {
            phase,
            is_end: call.is_end,
            is_buffered: call.is_buffered,
            request: RequestView {
                fields: request.fields(bytes),
                method: request.method,
                method_name: request.method_name(bytes),
                target: request.target.of(bytes),
                authority: request.authority.of(bytes),
                version: request.version,
                is_tls: false,
            },
            response: phase.is_reversed().then(|| ResponseView {
                fields: self.response.fields(&self.response_bytes),
                status: self.response.status,
                is_local: self.is_local,
            }),
            trailers: message.trailers(),
            body: if is_body { message.data() } else { &[] },
            facts: self,
        }
    }

    /// Applies the edits that a script returned besides its verdict.
    fn apply(&mut self, phase: Phase, verdict: Verdict, edits: &EditLog) -> Result<(), String> {
        for record in edits.records() {
            let edit = record.map_err(|error| error.to_string())?.edit;
            match (edit, verdict) {
                (FilterEdit::Fault(why) | FilterEdit::LimitFault { why, .. }, _) => {
                    return Err(String::from_utf8_lossy(why).into_owned());
                }
                // Changes of a script that failed are discarded.
                (_, Verdict::Fault) => {}
                (edit, _) => self.apply_one_edit(phase, &edit)?,
            }
        }
        Ok(())
    }

    fn apply_one_edit(&mut self, phase: Phase, edit: &FilterEdit<'_>) -> Result<(), String> {
        match *edit {
            FilterEdit::BodySet(_)
            | FilterEdit::BodyAppend(_)
            | FilterEdit::BodyPrepend(_)
            | FilterEdit::BodyDrain(_) => {
                if !matches!(phase, Phase::RequestBody | Phase::ResponseBody) {
                    return Err("a body can be changed only in a body hook".to_owned());
                }
                let message = self.run.message_mut(direction_of(phase));
                return message.edit_body(SCRIPT, edit).map_err(|refused| refused.to_string());
            }
            FilterEdit::Reply { status, body, .. } => {
                self.reply = SpecMessage {
                    status: u16::try_from(status).unwrap_or(500),
                    pieces: if body.is_empty() { Vec::new() } else { vec![body.to_vec()] },
                    ..SpecMessage::default()
                };
            }
            FilterEdit::ReplyField { name, value } => {
                self.reply.fields.push(SpecField::new(name, value));
            }
            FilterEdit::Metadata { space, key, value } => {
                self.metadata.set(space, key, value).map_err(|full| full.to_string())?;
            }
            FilterEdit::Endpoint { address, .. } => self.endpoint = address.to_vec(),
            FilterEdit::ClearRoute
            | FilterEdit::ReplyGrpc(_)
            | FilterEdit::Trailer { .. }
            | FilterEdit::Fault(_)
            | FilterEdit::LimitFault { .. } => {}
            FilterEdit::Set { .. } | FilterEdit::Add { .. } if edit.ends_connection() => {
                self.ends_connection = true
            }
            FilterEdit::Set { .. }
            | FilterEdit::Add { .. }
            | FilterEdit::Remove { .. }
            | FilterEdit::Method(_)
            | FilterEdit::Target(_)
            | FilterEdit::Authority(_)
            | FilterEdit::Status(_) => return self.change_fields(phase, edit),
        }
        Ok(())
    }

    fn change_fields(&mut self, phase: Phase, edit: &FilterEdit<'_>) -> Result<(), String> {
        let message = self.run.message_mut(direction_of(phase));
        let is_sealed = !message.is_head_open();
        let (bytes, fields) = message.trailers_mut();
        let mut head = match phase {
            Phase::RequestTrailers | Phase::ResponseTrailers => {
                EditableSection::Trailers(FieldsEditor::new(bytes, fields))
            }
            Phase::RequestHead | Phase::RequestBody if !is_sealed => {
                EditableSection::Request(&mut self.request, &mut self.request_bytes)
            }
            Phase::ResponseHead | Phase::ResponseBody if !is_sealed => {
                EditableSection::Response(&mut self.response, &mut self.response_bytes)
            }
            Phase::RequestHead
            | Phase::RequestBody
            | Phase::ResponseHead
            | Phase::ResponseBody
            | Phase::Log
            | Phase::End => return Err("the head is already sent and can no longer be changed".to_owned()),
        };
        apply_to_fields(edit, &mut head).map_err(|refused| refused.to_string())
    }

    /// Returns the request as sent to the endpoint.
    fn forwarded(&self) -> SpecMessage {
        let bytes = &self.request_bytes;
        SpecMessage {
            method: self.request.method_name(bytes).to_vec(),
            target: self.request.target.of(bytes).to_vec(),
            authority: self.request.authority.of(bytes).to_vec(),
            status: 0,
            fields: named_of(self.request.fields(bytes)),
            ..self.filtered_message(Direction::Request)
        }
    }

    /// Returns body and trailers that have passed the script.
    fn filtered_message(&self, direction: Direction) -> SpecMessage {
        SpecMessage {
            pieces: self.passed[direction as usize].clone(),
            trailers: named_of(self.run.message(direction).trailers()),
            ..SpecMessage::default()
        }
    }

    /// Returns the result of the exchange for the spec.
    fn told(&self, forwarded: Option<&SpecMessage>) -> Vec<SpecPart> {
        let response = SpecMessage {
            status: self.response.status,
            fields: named_of(self.response.fields(&self.response_bytes)),
            ..self.filtered_message(Direction::Response)
        };
        let mut parts = vec![SpecPart::new("result", "", "")];
        parts.extend(response.parts());
        parts.extend(self.failure.iter().map(|why| SpecPart::new("failure", "", why)));
        for (space, key, value) in self.metadata.iter() {
            parts.push(SpecPart::new("note", [space, b"\0", key].concat(), value));
        }
        for record in std::mem::take(&mut self.script.host.noted().records) {
            parts.push(SpecPart::new("log", name_of(record.level), record.text));
        }
        if self.ends_connection {
            parts.push(SpecPart::new("closes", "", ""));
        }
        if let Some(forwarded) = forwarded {
            parts.push(SpecPart::new("forwarded", "", ""));
            parts.extend(forwarded.parts());
            if !self.endpoint.is_empty() {
                parts.push(SpecPart::new("endpoint", "", &self.endpoint));
            }
        }
        parts
    }
}

/// Returns the direction that a phase belongs to.
fn direction_of(phase: Phase) -> Direction {
    if phase.is_reversed() { Direction::Response } else { Direction::Request }
}

fn name_of(level: FilterLogLevel) -> &'static str {
    match level {
        FilterLogLevel::Trace => "trace",
        FilterLogLevel::Debug => "debug",
        FilterLogLevel::Info => "info",
        FilterLogLevel::Warn => "warn",
        FilterLogLevel::Error => "error",
        FilterLogLevel::Off => "off",
    }
}
