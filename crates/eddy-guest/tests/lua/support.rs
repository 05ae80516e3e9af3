//! Recording host, and exchanges that pass through a script phase by phase.

use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use eddy_filter::{
    DynamicMetadata, EditLog, EndReason, EndedExchange, EventKind, ExchangeInfo, ExchangeView, FilterEdit,
    FilterEvent, FilterInvocation, FilterLibrary, FilterLogLevel, FilterOutboundRequest, Handle, HostApi,
    HostError, LibraryCall, LoadError, MetricRegistry, Phase, RequestView, ResponseView, TlsInfo, Verdict,
};
use eddy_guest::{CreatedFilter, Guest, LuaLimits, LuaScript, LuaSource, ReclaimQueue};
use eddy_http::{Fields, HeadLimits, Method, RequestHead, ResponseHead};

/// Host with two workers.
pub(crate) struct FakeLuaHost {
    metrics: MetricRegistry,
    pub(crate) said: Mutex<Vec<(FilterLogLevel, String)>>,
    /// Requests sent, as text, with their tokens.
    pub(crate) sent: Mutex<Vec<(String, u64)>>,
    /// Resumed exchanges: verdict and edits.
    pub(crate) resumed: Mutex<Vec<(Verdict, Vec<String>)>>,
}

impl HostApi for FakeLuaHost {
    fn workers(&self) -> usize {
        2
    }

    fn level(&self) -> FilterLogLevel {
        FilterLogLevel::Trace
    }

    fn resume(&self, _: Handle, _: u32, verdict: Verdict, edits: &[u8]) -> Result<(), HostError> {
        let mut log = EditLog::new();
        log.append(edits).unwrap();
        self.resumed.lock().unwrap().push((verdict, shown(&log)));
        Ok(())
    }

    fn log(&self, _: u32, level: FilterLogLevel, text: &[u8]) -> Result<(), HostError> {
        self.said.lock().unwrap().push((level, String::from_utf8_lossy(text).into_owned()));
        Ok(())
    }

    fn metrics(&self) -> &MetricRegistry {
        &self.metrics
    }

    fn send(&self, request: &FilterOutboundRequest<'_>) -> Result<(), HostError> {
        if request.cluster == "nowhere" {
            return Err(HostError::Unknown);
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let mut said = format!(
            "{} {} {} {} {}ms{}",
            request.cluster,
            text(request.method),
            text(request.target),
            text(request.authority),
            request.timeout.get(),
            if request.bond == eddy_filter::CallBond::Awaited { "" } else { " alone" }
        );
        let mut fields = request.fields.clone();
        fields.sort_unstable();
        for (name, value) in fields {
            write!(said, " {}={}", text(name), text(value)).unwrap();
        }
        write!(said, " [{}]", text(request.body)).unwrap();
        self.sent.lock().unwrap().push((said, request.token));
        Ok(())
    }
}

/// Returns a host for one test.
pub(crate) fn host() -> Arc<FakeLuaHost> {
    Arc::new(FakeLuaHost {
        metrics: MetricRegistry::new(2),
        said: Mutex::default(),
        sent: Mutex::default(),
        resumed: Mutex::default(),
    })
}

/// Loads a script with these limits.
pub(crate) fn load(
    text: &str,
    limits: LuaLimits,
    host: &Arc<FakeLuaHost>,
) -> Result<Arc<LuaScript>, LoadError> {
    let host: Arc<dyn HostApi> = host.clone();
    let source = LuaSource { filter: "test", chunk: "test.lua", text: text.as_bytes(), limits };
    LuaScript::load(&source, &host)
}

/// Script with its filter and host.
pub(crate) struct ScriptHarness {
    pub(crate) host: Arc<FakeLuaHost>,
    pub(crate) script: Arc<LuaScript>,
    pub(crate) made: CreatedFilter,
    /// Number of the rule's configuration; 0 for none.
    pub(crate) config: u64,
    exchanges: AtomicU32,
}

/// Exchange that passes through a script.
pub(crate) struct LuaTestExchange<'a> {
    play: &'a ScriptHarness,
    step: FilterInvocation,
    turn: u32,
    handle: Handle,
    pub(crate) worker: u16,
    pub(crate) request: String,
    pub(crate) response: String,
    pub(crate) metadata: DynamicMetadata,
    pub(crate) tls: Option<TlsInfo<'static>>,
}

/// Result of a phase.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LuaPhaseResult {
    pub(crate) verdict: Verdict,
    pub(crate) edits: Vec<String>,
}

/// Input of one phase.
#[derive(Clone, Copy, Default)]
pub(crate) struct LuaTestPhase<'a> {
    pub(crate) body: &'a str,
    pub(crate) is_end: bool,
    pub(crate) is_buffered: bool,
    pub(crate) trailers: &'a str,
}

impl ScriptHarness {
    /// Loads a script with default limits.
    pub(crate) fn new(text: &str) -> Self {
        Self::with(text, LuaLimits::default())
    }

    /// Loads a script with these limits and creates a filter.
    pub(crate) fn with(text: &str, limits: LuaLimits) -> Self {
        let host = host();
        let script = load(text, limits, &host).unwrap_or_else(|error| panic!("{error}"));
        let made = script.filter("", "{\"own\":1}", 1, &ReclaimQueue::new(|| ())).unwrap();
        Self { host, script, made, config: 0, exchanges: AtomicU32::new(1) }
    }

    /// Returns a new exchange.
    pub(crate) fn exchange(&self) -> LuaTestExchange<'_> {
        let number = self.exchanges.fetch_add(1, Ordering::Relaxed);
        LuaTestExchange {
            play: self,
            step: FilterInvocation {
                filter: self.made.number,
                config: self.config,
                id: 7,
                ..FilterInvocation::default()
            },
            turn: 0,
            handle: Handle::from_number(number.into()),
            worker: 0,
            request: "GET /a?b=c HTTP/1.1\r\nHost: a.test\r\nX-One: 1\r\nx-two: 2\r\nX-Two: 22\r\n\r\n"
                .to_owned(),
            response: "HTTP/1.1 200 OK\r\nServer: origin\r\nContent-Type: text/plain\r\n\r\n".to_owned(),
            metadata: DynamicMetadata::new(),
            tls: None,
        }
    }

    /// Enters the request head of a new exchange without a body.
    pub(crate) fn request(&self) -> LuaPhaseResult {
        self.exchange().request_head(true)
    }

    /// Enters the response head of a new exchange without a body.
    pub(crate) fn response(&self) -> LuaPhaseResult {
        self.exchange().enter(Phase::ResponseHead, LuaTestPhase { is_end: true, ..LuaTestPhase::default() })
    }

    /// Returns the messages that the script has logged so far.
    pub(crate) fn said(&self) -> Vec<String> {
        self.host.said.lock().unwrap().iter().map(|(_, text)| text.clone()).collect()
    }

    /// Reports ended exchanges to the script.
    pub(crate) fn tell(&self, ended: &[EndedExchange]) {
        let (mut edits, current) = (EditLog::new(), AtomicU32::new(0));
        self.script.run(&mut LibraryCall {
            worker: 0,
            exchange: Handle::from_number(0),
            turn: 0,
            is_sampled: false,
            view: None,
            steps: &mut [],
            ended,
            edits: &mut edits,
            stopped: 0,
            wait: None,
            current: &current,
        });
    }

    /// Delivers the response to an outbound request; returns the verdicts and edits with which exchanges were resumed.
    pub(crate) fn answer(
        &self,
        token: u64,
        status: u16,
        head: &str,
        body: &str,
    ) -> Vec<(Verdict, Vec<String>)> {
        let text = format!("HTTP/1.1 {status} X\r\n{head}\r\n");
        let mut parsed = ResponseHead::new();
        parsed.parse(text.as_bytes(), &HeadLimits::default(), Method::Get).unwrap();
        self.tell_event(&FilterEvent {
            kind: EventKind::Response,
            filter: 7,
            token,
            worker: 0,
            status,
            fields: parsed.fields(text.as_bytes()),
            body: body.as_bytes(),
        })
    }

    /// Reports a failed outbound request to the script.
    pub(crate) fn fail(&self, token: u64, why: &str) -> Vec<(Verdict, Vec<String>)> {
        self.tell_event(&FilterEvent {
            kind: EventKind::Failed,
            filter: 7,
            token,
            worker: 0,
            status: 0,
            fields: Fields::default(),
            body: why.as_bytes(),
        })
    }

    fn tell_event(&self, event: &FilterEvent<'_>) -> Vec<(Verdict, Vec<String>)> {
        self.script.event(event);
        std::mem::take(&mut self.host.resumed.lock().unwrap())
    }

    /// Returns the last request sent, and its token.
    pub(crate) fn last_sent(&self) -> (String, u64) {
        self.host.sent.lock().unwrap().last().expect("something was sent").clone()
    }
}

impl LuaTestExchange<'_> {
    pub(crate) fn request_head(&mut self, is_end: bool) -> LuaPhaseResult {
        self.enter(Phase::RequestHead, LuaTestPhase { is_end, ..LuaTestPhase::default() })
    }

    pub(crate) fn response_head(&mut self, is_end: bool) -> LuaPhaseResult {
        self.enter(Phase::ResponseHead, LuaTestPhase { is_end, ..LuaTestPhase::default() })
    }

    /// Whether the script keeps state for the exchange.
    pub(crate) fn has_state(&self) -> bool {
        self.step.state != 0
    }

    /// Returns the exchange as an ended one.
    pub(crate) fn ended(&self) -> EndedExchange {
        EndedExchange { filter: self.step.filter, state: self.step.state, reason: EndReason::Cut }
    }

    pub(crate) fn enter(&mut self, phase: Phase, at: LuaTestPhase<'_>) -> LuaPhaseResult {
        self.turn += 1;
        let (turn, mut step) = (self.turn, self.step);
        let (mut edits, mut stopped) = (EditLog::new(), 9);
        self.show(phase, at, |view| {
            let mut steps = [step];
            stopped = self.cross(view, turn, &mut steps, &mut edits);
            [step] = steps;
        });
        self.step = step;
        let verdict = step.verdict;
        assert_eq!(stopped, usize::from(verdict == Verdict::Continue));
        LuaPhaseResult { verdict, edits: shown(&edits) }
    }

    /// Enters a phase as often as `run` is called, each time as if for the first; nothing else is done in between.
    pub(crate) fn repeat(
        &self,
        phase: Phase,
        at: LuaTestPhase<'_>,
        run: impl FnOnce(&mut dyn FnMut() -> Verdict),
    ) {
        let mut edits = EditLog::new();
        self.show(phase, at, |view| {
            run(&mut || {
                let mut steps = [self.step];
                edits.clear();
                self.cross(view, 1, &mut steps, &mut edits);
                steps[0].verdict
            });
        });
    }

    fn cross(
        &self,
        view: &ExchangeView<'_>,
        turn: u32,
        steps: &mut [FilterInvocation],
        edits: &mut EditLog,
    ) -> usize {
        let current = AtomicU32::new(0);
        let mut call = LibraryCall {
            worker: self.worker,
            exchange: self.handle,
            turn,
            is_sampled: false,
            view: Some(view),
            steps,
            ended: &[],
            edits,
            stopped: 9,
            wait: None,
            current: &current,
        };
        self.play.script.run(&mut call);
        assert_eq!(current.load(Ordering::Relaxed), 0);
        call.stopped
    }

    fn show(&self, phase: Phase, at: LuaTestPhase<'_>, enter: impl FnOnce(&ExchangeView<'_>)) {
        let (mut request, mut response) = (RequestHead::new(), ResponseHead::new());
        request.parse(self.request.as_bytes(), &HeadLimits::default()).unwrap();
        response.parse(self.response.as_bytes(), &HeadLimits::default(), Method::Get).unwrap();
        let trailers_text = format!("HTTP/1.1 200 OK\r\n{}\r\n", at.trailers);
        let mut trailers = ResponseHead::new();
        trailers.parse(trailers_text.as_bytes(), &HeadLimits::default(), Method::Get).unwrap();
        let bytes = self.request.as_bytes();
        let view = ExchangeView {
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
            response: (phase >= Phase::ResponseHead).then(|| ResponseView {
                fields: response.fields(self.response.as_bytes()),
                status: response.status,
                is_local: false,
            }),
            trailers: if at.trailers.is_empty() {
                Fields::default()
            } else {
                trailers.fields(trailers_text.as_bytes())
            },
            body: at.body.as_bytes(),
            facts: &ExchangeInfo {
                peer: b"192.0.2.1:5000",
                local: b"192.0.2.2:80",
                listener: b"web",
                rule: b"site/1",
                cluster: b"origin",
                metadata: Some(&self.metadata),
                tls: self.tls,
                ..ExchangeInfo::UNKNOWN
            },
        };
        enter(&view);
    }
}

/// Result that continues with these edits.
pub(crate) fn continues_with(edits: &[&str]) -> LuaPhaseResult {
    LuaPhaseResult {
        verdict: Verdict::Continue,
        edits: edits.iter().map(|edit| (*edit).to_owned()).collect(),
    }
}

/// Returns the reason of a failed hook.
pub(crate) fn reason(came: &LuaPhaseResult) -> &str {
    assert_eq!(came.verdict, Verdict::Fault, "{came:?}");
    assert_eq!(came.edits.len(), 1, "{came:?}");
    came.edits[0].strip_prefix("fault ").expect("a reason")
}

/// Formats the edits as text.
fn shown(edits: &EditLog) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let line = |edit: FilterEdit<'_>| match edit {
        FilterEdit::Set { name, value } => format!("set {}={}", text(name), text(value)),
        FilterEdit::Add { name, value } => format!("add {}={}", text(name), text(value)),
        FilterEdit::Remove { name } => format!("remove {}", text(name)),
        FilterEdit::Method(value) => format!("method {}", text(value)),
        FilterEdit::Target(value) => format!("target {}", text(value)),
        FilterEdit::Authority(value) => format!("authority {}", text(value)),
        FilterEdit::Status(status) => format!("status {status}"),
        FilterEdit::BodySet(value) => format!("body {}", text(value)),
        FilterEdit::Reply { status, body, details } => {
            format!("reply {status} {} [{}]", text(details), text(body))
        }
        FilterEdit::ReplyField { name, value } => format!("reply {}={}", text(name), text(value)),
        FilterEdit::Metadata { space, key, value } => {
            format!("note {}.{}={}", text(space), text(key), text(value))
        }
        FilterEdit::ClearRoute => "clear route".to_owned(),
        FilterEdit::Endpoint { address, is_strict } => format!("endpoint {} {is_strict}", text(address)),
        FilterEdit::Fault(why) | FilterEdit::LimitFault { why, .. } => format!("fault {}", text(why)),
        FilterEdit::BodyAppend(_)
        | FilterEdit::BodyPrepend(_)
        | FilterEdit::BodyDrain(_)
        | FilterEdit::ReplyGrpc(_)
        | FilterEdit::Trailer { .. } => {
            format!("{edit:?}")
        }
    };
    edits.records().map(|record| line(record.unwrap().edit)).collect()
}
