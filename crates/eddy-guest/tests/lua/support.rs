//! A host that keeps what it is told, and exchanges taken through a script phase by phase.

use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use eddy_filter::{
    About, Call, Edit, EditLog, EndReason, Ended, Event, EventKind, Handle, Host, HostError, Level, Library,
    LoadError, Metadata, MetricRegistry, Outbound, Phase, RequestView, ResponseView, Step, Verdict, View,
};
use eddy_guest::{Guest, LuaLimits, LuaScript, LuaSource, MadeFilter, ReclaimQueue};
use eddy_http::{Fields, HeadLimits, Method, RequestHead, ResponseHead};

/// A host of two workers.
pub(crate) struct FakeHost {
    metrics: MetricRegistry,
    pub(crate) said: Mutex<Vec<(Level, String)>>,
    /// What was sent, as text, and its token.
    pub(crate) sent: Mutex<Vec<(String, u64)>>,
    /// How exchanges were resumed: verdict and changes.
    pub(crate) resumed: Mutex<Vec<(Verdict, Vec<String>)>>,
}

impl Host for FakeHost {
    fn workers(&self) -> usize {
        2
    }

    fn level(&self) -> Level {
        Level::Trace
    }

    fn resume(&self, _: Handle, _: u32, verdict: Verdict, edits: &[u8]) -> Result<(), HostError> {
        let mut log = EditLog::new();
        log.append(edits).unwrap();
        self.resumed.lock().unwrap().push((verdict, shown(&log)));
        Ok(())
    }

    fn log(&self, _: u32, level: Level, text: &[u8]) -> Result<(), HostError> {
        self.said.lock().unwrap().push((level, String::from_utf8_lossy(text).into_owned()));
        Ok(())
    }

    fn metrics(&self) -> &MetricRegistry {
        &self.metrics
    }

    fn send(&self, request: &Outbound<'_>) -> Result<(), HostError> {
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
            request.timeout_ms,
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

/// A host of its own for a test.
pub(crate) fn host() -> Arc<FakeHost> {
    Arc::new(FakeHost {
        metrics: MetricRegistry::new(2),
        said: Mutex::default(),
        sent: Mutex::default(),
        resumed: Mutex::default(),
    })
}

/// Loads a script with these limits.
pub(crate) fn load(text: &str, limits: LuaLimits, host: &Arc<FakeHost>) -> Result<Arc<LuaScript>, LoadError> {
    let host: Arc<dyn Host> = host.clone();
    let source = LuaSource { filter: "test", chunk: "test.lua", text: text.as_bytes(), limits };
    LuaScript::load(&source, &host)
}

/// A script and what is made of it.
pub(crate) struct Play {
    pub(crate) host: Arc<FakeHost>,
    pub(crate) script: Arc<LuaScript>,
    pub(crate) made: MadeFilter,
    /// The filter's configuration under the rule; 0 for none.
    pub(crate) config: u64,
    exchanges: AtomicU32,
}

/// An exchange on its way through a script.
pub(crate) struct Exchange<'a> {
    play: &'a Play,
    step: Step,
    turn: u32,
    handle: Handle,
    pub(crate) worker: u16,
    pub(crate) request: String,
    pub(crate) response: String,
    pub(crate) metadata: Metadata,
}

/// What came of a phase.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Came {
    pub(crate) verdict: Verdict,
    pub(crate) edits: Vec<String>,
}

/// One phase as a test writes it.
#[derive(Clone, Copy, Default)]
pub(crate) struct At<'a> {
    pub(crate) body: &'a str,
    pub(crate) is_end: bool,
    pub(crate) is_buffered: bool,
    pub(crate) trailers: &'a str,
}

impl Play {
    /// Loads a script with default limits.
    pub(crate) fn new(text: &str) -> Self {
        Self::with(text, LuaLimits::default())
    }

    /// Loads a script that passes every response.
    pub(crate) fn with(text: &str, limits: LuaLimits) -> Self {
        let host = host();
        let script = load(text, limits, &host).unwrap_or_else(|error| panic!("{error}"));
        let made = script.filter("", "{\"own\":1}", 1, &ReclaimQueue::new(|| ())).unwrap();
        Self { host, script, made, config: 0, exchanges: AtomicU32::new(1) }
    }

    /// An exchange that has not begun.
    pub(crate) fn exchange(&self) -> Exchange<'_> {
        let number = self.exchanges.fetch_add(1, Ordering::Relaxed);
        Exchange {
            play: self,
            step: Step { filter: self.made.number, config: self.config, id: 7, ..Step::default() },
            turn: 0,
            handle: Handle::from_number(number.into()),
            worker: 0,
            request: "GET /a?b=c HTTP/1.1\r\nHost: a.test\r\nX-One: 1\r\nx-two: 2\r\nX-Two: 22\r\n\r\n"
                .to_owned(),
            response: "HTTP/1.1 200 OK\r\nServer: origin\r\nContent-Type: text/plain\r\n\r\n".to_owned(),
            metadata: Metadata::new(),
        }
    }

    /// The request's head of a new exchange without a body.
    pub(crate) fn request(&self) -> Came {
        self.exchange().request_head(true)
    }

    /// The response's head of a new exchange without a body.
    pub(crate) fn response(&self) -> Came {
        self.exchange().enter(Phase::ResponseHead, At { is_end: true, ..At::default() })
    }

    /// What the script has logged so far.
    pub(crate) fn said(&self) -> Vec<String> {
        self.host.said.lock().unwrap().iter().map(|(_, text)| text.clone()).collect()
    }

    /// Tells the script of exchanges that are over.
    pub(crate) fn tell(&self, ended: &[Ended]) {
        let (mut edits, current) = (EditLog::new(), AtomicU32::new(0));
        self.script.run(&mut Call {
            worker: 0,
            exchange: Handle::from_number(0),
            turn: 0,
            is_sampled: false,
            view: None,
            steps: &mut [],
            ended,
            edits: &mut edits,
            stopped: 0,
            wait_ms: 0,
            current: &current,
        });
    }

    /// Tells the script how a request of its own ended, and gives what the exchange was resumed with.
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
        self.tell_event(&Event {
            kind: EventKind::Response,
            filter: 7,
            token,
            worker: 0,
            status,
            fields: parsed.fields(text.as_bytes()),
            body: body.as_bytes(),
        })
    }

    /// Tells the script that there is no answer.
    pub(crate) fn fail(&self, token: u64, why: &str) -> Vec<(Verdict, Vec<String>)> {
        self.tell_event(&Event {
            kind: EventKind::Failed,
            filter: 7,
            token,
            worker: 0,
            status: 0,
            fields: Fields::default(),
            body: why.as_bytes(),
        })
    }

    fn tell_event(&self, event: &Event<'_>) -> Vec<(Verdict, Vec<String>)> {
        self.script.event(event);
        std::mem::take(&mut self.host.resumed.lock().unwrap())
    }

    /// What was sent last, and its token.
    pub(crate) fn last_sent(&self) -> (String, u64) {
        self.host.sent.lock().unwrap().last().expect("something was sent").clone()
    }
}

impl Exchange<'_> {
    pub(crate) fn request_head(&mut self, is_end: bool) -> Came {
        self.enter(Phase::RequestHead, At { is_end, ..At::default() })
    }

    pub(crate) fn response_head(&mut self, is_end: bool) -> Came {
        self.enter(Phase::ResponseHead, At { is_end, ..At::default() })
    }

    /// Whether the script keeps something of the exchange.
    pub(crate) fn has_state(&self) -> bool {
        self.step.state != 0
    }

    /// The exchange as one that is over.
    pub(crate) fn ended(&self) -> Ended {
        Ended { filter: self.step.filter, state: self.step.state, reason: EndReason::Cut }
    }

    pub(crate) fn enter(&mut self, phase: Phase, at: At<'_>) -> Came {
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
        Came { verdict, edits: shown(&edits) }
    }

    /// Enters a phase as often as `run` wants, each time as if for the first; nothing else is done between.
    pub(crate) fn repeat(&self, phase: Phase, at: At<'_>, run: impl FnOnce(&mut dyn FnMut() -> Verdict)) {
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

    fn cross(&self, view: &View<'_>, turn: u32, steps: &mut [Step], edits: &mut EditLog) -> usize {
        let current = AtomicU32::new(0);
        let mut call = Call {
            worker: self.worker,
            exchange: self.handle,
            turn,
            is_sampled: false,
            view: Some(view),
            steps,
            ended: &[],
            edits,
            stopped: 9,
            wait_ms: 0,
            current: &current,
        };
        self.play.script.run(&mut call);
        assert_eq!(current.load(Ordering::Relaxed), 0);
        call.stopped
    }

    fn show(&self, phase: Phase, at: At<'_>, enter: impl FnOnce(&View<'_>)) {
        let (mut request, mut response) = (RequestHead::new(), ResponseHead::new());
        request.parse(self.request.as_bytes(), &HeadLimits::default()).unwrap();
        response.parse(self.response.as_bytes(), &HeadLimits::default(), Method::Get).unwrap();
        let trailers_text = format!("HTTP/1.1 200 OK\r\n{}\r\n", at.trailers);
        let mut trailers = ResponseHead::new();
        trailers.parse(trailers_text.as_bytes(), &HeadLimits::default(), Method::Get).unwrap();
        let bytes = self.request.as_bytes();
        let view = View {
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
            about: About {
                peer: b"192.0.2.1:5000",
                local: b"192.0.2.2:80",
                listener: b"web",
                rule: b"site/1",
                cluster: b"origin",
                metadata: Some(&self.metadata),
                ..About::default()
            },
        };
        enter(&view);
    }
}

/// Goes on with these changes.
pub(crate) fn goes_on(edits: &[&str]) -> Came {
    Came { verdict: Verdict::Continue, edits: edits.iter().map(|edit| (*edit).to_owned()).collect() }
}

/// The reason of a hook that failed.
pub(crate) fn reason(came: &Came) -> &str {
    assert_eq!(came.verdict, Verdict::Fault, "{came:?}");
    assert_eq!(came.edits.len(), 1, "{came:?}");
    came.edits[0].strip_prefix("fault ").expect("a reason")
}

/// The changes as text.
fn shown(edits: &EditLog) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let line = |edit: Edit<'_>| match edit {
        Edit::Set { name, value } => format!("set {}={}", text(name), text(value)),
        Edit::Add { name, value } => format!("add {}={}", text(name), text(value)),
        Edit::Remove { name } => format!("remove {}", text(name)),
        Edit::Method(value) => format!("method {}", text(value)),
        Edit::Target(value) => format!("target {}", text(value)),
        Edit::Authority(value) => format!("authority {}", text(value)),
        Edit::Status(status) => format!("status {status}"),
        Edit::BodySet(value) => format!("body {}", text(value)),
        Edit::Reply { status, body, details } => format!("reply {status} {} [{}]", text(details), text(body)),
        Edit::ReplyField { name, value } => format!("reply {}={}", text(name), text(value)),
        Edit::Metadata { space, key, value } => format!("note {}.{}={}", text(space), text(key), text(value)),
        Edit::ClearRoute => "clear route".to_owned(),
        Edit::Endpoint { address, is_strict } => format!("endpoint {} {is_strict}", text(address)),
        Edit::Fault(why) | Edit::LimitFault { why, .. } => format!("fault {}", text(why)),
        Edit::BodyAppend(_) | Edit::BodyPrepend(_) | Edit::BodyDrain(_) | Edit::ReplyGrpc(_) => {
            format!("{edit:?}")
        }
    };
    edits.records().map(|record| line(record.unwrap().edit)).collect()
}
