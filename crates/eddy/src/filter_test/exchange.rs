//! One exchange in a spec: a request and its response pass through a script.

use std::sync::atomic::AtomicU32;

use eddy_filter::{
    Direction, DynamicMetadata, EditLog, EditableSection, EventKind, ExchangeInfo, ExchangeView, FilterEdit,
    FilterEvent, FilterInvocation, FilterLibrary, FilterLogLevel, Handle, KeptFields, LibraryCall, Phase,
    RequestView, ResponseView, Verdict, apply_to_body, apply_to_fields,
};
use eddy_guest::SpecPart;
use eddy_http::{Fields, FieldsEditor, RequestHead, ResponseHead};

use super::host::{ScriptRequest, ScriptResume};
use super::message::{SpecField, SpecMessage, named_of};
use super::script::ScriptFilter;

/// Exchange that passes through a script.
pub(super) struct ScriptExchange<'a> {
    script: &'a ScriptFilter,
    request: RequestHead,
    request_bytes: Vec<u8>,
    response: ResponseHead,
    response_bytes: Vec<u8>,
    /// Indexed by direction.
    ways: [ScriptDirection; 2],
    is_local: bool,
    reply: SpecMessage,
    metadata: DynamicMetadata,
    step: FilterInvocation,
    turn: u32,
    endpoint: Vec<u8>,
    ends_connection: bool,
    failure: Option<String>,
}

/// Body and trailers of a message.
#[derive(Default)]
struct ScriptDirection {
    pieces: Vec<Vec<u8>>,
    trailers: KeptFields,
    /// Whether the head has been passed on.
    is_head_sealed: bool,
}

/// Mock of endpoints and clusters.
pub(super) trait MockUpstream {
    /// Returns the response to a request; `cluster` is empty for the endpoint.
    ///
    /// # Errors
    /// Why the exchange does not continue.
    fn answer(&mut self, cluster: &str, request: &SpecMessage) -> Result<MockResponse, SpecInterrupt>;
}

/// Outcome of a request.
pub(super) enum MockResponse {
    Response(SpecMessage),
    /// No response, with the word for the reason.
    None(Vec<u8>),
}

/// Why an exchange ends early.
pub(super) enum SpecInterrupt {
    /// The spec continued before it replied: its test is over.
    Said(Vec<SpecPart>),
    /// The spec requests something impossible.
    Wrong(String),
    /// The spec cannot continue.
    Broken(String),
}

/// Progress of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScriptProgress {
    Through,
    /// The script wants the whole body first.
    Collect,
    Replied,
    Failed,
}

/// Part of a body that the script sees.
#[derive(Clone, Copy, Default)]
struct BodyPosition {
    piece: Option<usize>,
    is_end: bool,
    is_buffered: bool,
}

impl<'a> ScriptExchange<'a> {
    /// Creates an exchange whose request the script has not seen yet; `config` is the number of the rule's
    /// configuration.
    ///
    /// # Errors
    /// Why eddy would refuse the request.
    pub(super) fn new(script: &'a ScriptFilter, request: &SpecMessage, config: u64) -> Result<Self, String> {
        let (head, bytes) = request.request_head()?;
        Ok(Self {
            script,
            request: head,
            request_bytes: bytes,
            response: ResponseHead::new(),
            response_bytes: Vec::new(),
            ways: [ScriptDirection::of(request)?, ScriptDirection::default()],
            is_local: false,
            reply: SpecMessage::default(),
            metadata: DynamicMetadata::new(),
            step: FilterInvocation {
                filter: script.made.number,
                config,
                id: 1,
                ..FilterInvocation::default()
            },
            turn: 0,
            endpoint: Vec::new(),
            ends_connection: false,
            failure: None,
        })
    }

    /// Runs the exchange to its end and returns its result for the spec.
    ///
    /// # Errors
    /// [`SpecInterrupt`].
    pub(super) fn run(mut self, answers: &mut dyn MockUpstream) -> Result<Vec<SpecPart>, SpecInterrupt> {
        let mut forwarded = None;
        let response = match self.pass(Direction::Request, answers)? {
            ScriptProgress::Through | ScriptProgress::Collect => {
                let request = self.forwarded();
                let answer = answers.answer("", &request)?;
                forwarded = Some(request);
                match answer {
                    MockResponse::Response(response) => response,
                    MockResponse::None(why) => {
                        self.is_local = true;
                        SpecMessage {
                            status: if why == b"timeout" { 504 } else { 503 },
                            ..SpecMessage::default()
                        }
                    }
                }
            }
            ScriptProgress::Replied => self.local(),
            ScriptProgress::Failed => self.refusal(),
        };
        self.begin_response(&response)?;
        let replaced = match self.pass(Direction::Response, answers)? {
            ScriptProgress::Through | ScriptProgress::Collect => None,
            ScriptProgress::Replied => Some(self.local()),
            ScriptProgress::Failed => Some(self.refusal()),
        };
        if let Some(response) = replaced {
            self.begin_response(&response)?;
        }
        Ok(self.told(forwarded.as_ref()))
    }

    fn begin_response(&mut self, response: &SpecMessage) -> Result<(), SpecInterrupt> {
        (self.response, self.response_bytes) = response.response_head().map_err(SpecInterrupt::Wrong)?;
        self.ways[1] = ScriptDirection::of(response).map_err(SpecInterrupt::Wrong)?;
        Ok(())
    }

    /// Returns the script's own response.
    fn local(&mut self) -> SpecMessage {
        self.is_local = true;
        std::mem::take(&mut self.reply)
    }

    /// Returns eddy's local reply for a failed script.
    fn refusal(&mut self) -> SpecMessage {
        self.is_local = true;
        SpecMessage { status: 500, ..SpecMessage::default() }
    }

    /// Passes a message through the script: head, body (in pieces or as a whole) and trailers.
    fn pass(
        &mut self,
        direction: Direction,
        answers: &mut dyn MockUpstream,
    ) -> Result<ScriptProgress, SpecInterrupt> {
        let [head, body, trailers] = match direction {
            Direction::Request => [Phase::RequestHead, Phase::RequestBody, Phase::RequestTrailers],
            Direction::Response => [Phase::ResponseHead, Phase::ResponseBody, Phase::ResponseTrailers],
        };
        let has_trailers = !self.way(head).trailers.fields.is_empty();
        let has_body = !self.way(head).pieces.is_empty();
        let came =
            self.enter(head, BodyPosition { is_end: !has_body, ..BodyPosition::default() }, answers)?;
        match came {
            ScriptProgress::Replied | ScriptProgress::Failed => return Ok(came),
            ScriptProgress::Through => {
                self.way(head).is_head_sealed = true;
                for piece in 0..self.way(head).pieces.len() {
                    let is_last = piece + 1 == self.way(head).pieces.len();
                    let at = BodyPosition {
                        piece: Some(piece),
                        is_end: is_last && !has_trailers,
                        is_buffered: false,
                    };
                    let came = self.enter(body, at, answers)?;
                    if matches!(came, ScriptProgress::Replied | ScriptProgress::Failed) {
                        return Ok(came);
                    }
                }
            }
            ScriptProgress::Collect => {
                let way = self.way(head);
                way.pieces = vec![way.pieces.concat()];
                let at = BodyPosition { piece: Some(0), is_end: !has_trailers, is_buffered: true };
                let came = self.enter(body, at, answers)?;
                if matches!(came, ScriptProgress::Replied | ScriptProgress::Failed) {
                    return Ok(came);
                }
                self.way(head).is_head_sealed = true;
            }
        }
        if has_trailers {
            self.enter(trailers, BodyPosition { is_end: true, ..BodyPosition::default() }, answers)
        } else {
            Ok(ScriptProgress::Through)
        }
    }

    /// Runs a phase of the script, and answers its requests until it continues.
    fn enter(
        &mut self,
        phase: Phase,
        at: BodyPosition,
        answers: &mut dyn MockUpstream,
    ) -> Result<ScriptProgress, SpecInterrupt> {
        if !self.script.made.info.interest.has(phase) {
            return Ok(ScriptProgress::Through);
        }
        self.turn += 1;
        let mut edits = EditLog::new();
        let mut verdict = self.cross(phase, at, &mut edits);
        loop {
            if let Err(why) = self.apply(phase, at, verdict, &edits) {
                self.failure.get_or_insert(why);
                return Ok(ScriptProgress::Failed);
            }
            match verdict {
                // Scripts cannot hold.
                Verdict::Continue | Verdict::Hold => {
                    break self.tell_unawaited(answers).map(|()| ScriptProgress::Through);
                }
                Verdict::Buffer => break self.tell_unawaited(answers).map(|()| ScriptProgress::Collect),
                Verdict::Reply => break self.tell_unawaited(answers).map(|()| ScriptProgress::Replied),
                Verdict::Pause => {
                    let ScriptResume { verdict: next, edits: more } = self.wait(answers)?;
                    (verdict, edits) = (next, more);
                }
                Verdict::Fault | Verdict::Reset => break Ok(ScriptProgress::Failed),
            }
        }
    }

    /// Answers the script's requests until the exchange continues.
    fn wait(&mut self, answers: &mut dyn MockUpstream) -> Result<ScriptResume, SpecInterrupt> {
        loop {
            let sent = self.take_sent(|_| true);
            let Some(ScriptRequest { cluster, token, is_awaited, request }) = sent else {
                return Err(SpecInterrupt::Wrong(
                    "the script waits without a request; this is a bug in eddy".to_owned(),
                ));
            };
            let answer = answers.answer(&cluster, &request)?;
            if !is_awaited {
                continue;
            }
            match answer {
                MockResponse::Response(response) => {
                    let (head, bytes) = response.response_head().map_err(SpecInterrupt::Wrong)?;
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
    fn tell_unawaited(&self, answers: &mut dyn MockUpstream) -> Result<(), SpecInterrupt> {
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

    fn cross(&mut self, phase: Phase, at: BodyPosition, edits: &mut EditLog) -> Verdict {
        let current = AtomicU32::new(0);
        let mut steps = [self.step];
        let view = self.view(phase, at);
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
            wait_ms: 0,
            current: &current,
        };
        self.script.library.run(&mut call);
        let [step] = steps;
        self.step = step;
        step.verdict
    }

    fn view(&self, phase: Phase, at: BodyPosition) -> ExchangeView<'_> {
        let (request, bytes) = (&self.request, &self.request_bytes);
        let way = &self.ways[usize::from(phase.is_reversed())];
        let is_trailers = matches!(phase, Phase::RequestTrailers | Phase::ResponseTrailers);
        ExchangeView {
            phase,
            is_end: at.is_end,
            is_buffered: at.is_buffered,
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
            trailers: if is_trailers { way.trailers.fields() } else { Fields::default() },
            body: at.piece.and_then(|piece| way.pieces.get(piece)).map_or(&[], Vec::as_slice),
            about: ExchangeInfo {
                peer: b"127.0.0.1:50000",
                peer_ip: Some(std::net::Ipv4Addr::LOCALHOST.into()),
                local: b"127.0.0.1:8080",
                listener: b"rehearsal",
                rule: b"rehearsal",
                cluster: b"endpoint",
                metadata: Some(&self.metadata),
                ..ExchangeInfo::default()
            },
        }
    }

    /// Applies the edits that a script returned besides its verdict.
    fn apply(
        &mut self,
        phase: Phase,
        at: BodyPosition,
        verdict: Verdict,
        edits: &EditLog,
    ) -> Result<(), String> {
        for record in edits.records() {
            let edit = record.map_err(|error| error.to_string())?.edit;
            match (edit, verdict) {
                (FilterEdit::Fault(why) | FilterEdit::LimitFault { why, .. }, _) => {
                    return Err(String::from_utf8_lossy(why).into_owned());
                }
                // Changes of a script that failed are discarded.
                (_, Verdict::Fault) => {}
                (edit, _) => self.carry_out(phase, at, &edit)?,
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, phase: Phase, at: BodyPosition, edit: &FilterEdit<'_>) -> Result<(), String> {
        match *edit {
            FilterEdit::BodySet(_)
            | FilterEdit::BodyAppend(_)
            | FilterEdit::BodyPrepend(_)
            | FilterEdit::BodyDrain(_) => {
                let piece = at.piece.and_then(|piece| self.way(phase).pieces.get_mut(piece));
                let piece = piece.ok_or("a body can be changed only in a body hook")?;
                return apply_to_body(edit, piece).map_err(|refused| refused.to_string());
            }
            FilterEdit::Reply { status, body, .. } => {
                self.reply = SpecMessage {
                    status: u16::try_from(status).unwrap_or(500),
                    pieces: if body.is_empty() { Vec::new() } else { vec![body.to_vec()] },
                    ..SpecMessage::default()
                };
            }
            FilterEdit::ReplyField { name, value } => {
                self.reply.fields.push(SpecField { name: name.to_vec(), value: value.to_vec() });
            }
            FilterEdit::Metadata { space, key, value } => {
                self.metadata.set(space, key, value).map_err(|full| full.to_string())?;
            }
            FilterEdit::Endpoint { address, .. } => self.endpoint = address.to_vec(),
            FilterEdit::ClearRoute
            | FilterEdit::ReplyGrpc(_)
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
        let is_sealed = self.way(phase).is_head_sealed;
        let way = &mut self.ways[usize::from(phase.is_reversed())];
        let mut head = match phase {
            Phase::RequestTrailers | Phase::ResponseTrailers => EditableSection::Trailers(FieldsEditor::new(
                &mut way.trailers.bytes,
                &mut way.trailers.fields,
            )),
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

    fn way(&mut self, phase: Phase) -> &mut ScriptDirection {
        &mut self.ways[usize::from(phase.is_reversed())]
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
            ..self.ways[0].message()
        }
    }

    /// Returns the result of the exchange for the spec.
    fn told(&self, forwarded: Option<&SpecMessage>) -> Vec<SpecPart> {
        let response = SpecMessage {
            status: self.response.status,
            fields: named_of(self.response.fields(&self.response_bytes)),
            ..self.ways[1].message()
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

impl ScriptDirection {
    fn of(message: &SpecMessage) -> Result<Self, String> {
        let trailers = message.kept_trailers()?;
        let mut pieces = message.pieces.clone();
        if pieces.is_empty() && !trailers.fields.is_empty() {
            // Trailers need a body, even if it is empty.
            pieces.push(Vec::new());
        }
        Ok(Self { pieces, trailers, is_head_sealed: false })
    }

    fn message(&self) -> SpecMessage {
        let trailers = named_of(self.trailers.fields());
        SpecMessage { pieces: self.pieces.clone(), trailers, ..SpecMessage::default() }
    }
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
