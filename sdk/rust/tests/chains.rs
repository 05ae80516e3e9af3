//! The exchanges of `abi/chains`, which pass a chain of the fake host as they pass one of the gateway.
#![cfg(not(miri))]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use eddy_sdk::prelude::*;
use eddy_sdk::test::{Chain, Library, Request, Response, TestFields};
use eddy_sdk::{Head, Reply};
use serde::Deserialize;
use serde_json::json;

eddy_sdk::filters! { "chain" => CaseFilter }

/// File of cases; `abi/chains/README.md` describes the format.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChainCases {
    cases: Vec<ChainCase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChainCase {
    name: String,
    filters: Vec<CaseSteps>,
    request: CaseMessage,
    response: CaseMessage,
    calls: Vec<CaseCall>,
    forwarded: Option<CaseWritten>,
    answered: CaseWritten,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseSteps {
    phases: Vec<String>,
    actions: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseMessage {
    pieces: Vec<String>,
    trailers: bool,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct CaseCall {
    filter: usize,
    phase: String,
    end: bool,
    buffered: bool,
    body: String,
    head: String,
    /// Whether the head can still be changed.
    open: bool,
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
struct CaseWritten {
    head: String,
    body: String,
    trailers: String,
}

/// Calls of the case that runs, and the expected ones.
static CALLS: Mutex<(Vec<CaseCall>, Vec<CaseCall>)> = Mutex::new((Vec::new(), Vec::new()));

fn calls() -> MutexGuard<'static, (Vec<CaseCall>, Vec<CaseCall>)> {
    CALLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Configuration of a filter that acts as a case says.
#[derive(Deserialize)]
struct CaseConfig {
    index: usize,
    phases: Vec<String>,
    actions: Vec<String>,
}

struct CaseFilter {
    config: CaseConfig,
    calls: AtomicUsize,
}

impl Filter for CaseFilter {
    type Config = CaseConfig;
    type State = ();
    const INTEREST: Interest = Interest::of(&Phase::ALL);

    fn new(config: CaseConfig, _: &Context) -> Result<Self, String> {
        Ok(Self { config, calls: AtomicUsize::new(0) })
    }

    fn interest(&self) -> Interest {
        let is_named = |phase: &&Phase| self.config.phases.iter().any(|name| name == name_of(**phase));
        Interest::of(&Phase::ALL.iter().filter(is_named).copied().collect::<Vec<_>>())
    }

    fn request_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        self.act(x, x.request())
    }

    fn request_body(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        self.act(x, x.request())
    }

    fn request_trailers(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        self.act(x, x.request())
    }

    fn response_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        self.act(x, x.response())
    }

    fn response_body(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        self.act(x, x.response())
    }

    fn response_trailers(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        self.act(x, x.response())
    }
}

impl CaseFilter {
    fn act(&self, x: &mut Exchange<'_, ()>, head: Head<'_>) -> Result<Verdict, Fault> {
        let (phase, letter) = (x.phase(), letter(self.config.index));
        let is_open = {
            let (made, expected) = &mut *calls();
            let open = expected.get(made.len()).is_some_and(|expected| expected.open);
            made.push(CaseCall {
                filter: self.config.index,
                phase: name_of(phase).to_owned(),
                end: x.is_end(),
                buffered: x.is_buffered(),
                body: if phase.is_body() { text(x.body()) } else { String::new() },
                head: head.all("x-mark").map(text).collect(),
                open,
            });
            open
        };
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let action = &self.config.actions[call.min(self.config.actions.len() - 1)];
        let (edit, verdict) = action.split_once(' ').expect("an edit and a verdict");
        let is_head = matches!(phase, Phase::RequestHead | Phase::ResponseHead);
        match edit {
            "head" if is_head || (phase.is_body() && is_open) => x.add("x-mark", &letter)?,
            "append" if phase.is_body() => x.append_body(&letter)?,
            "replace" if phase.is_body() => x.set_body(&letter)?,
            "drain" if phase.is_body() => x.drain_body(2)?,
            "clear" if phase.is_body() => x.set_body("")?,
            "trailer" if phase.is_trailers() => x.add("x-step", &letter)?,
            _ => {}
        }
        Ok(match verdict {
            "buffer" => Verdict::Buffer,
            "reply" => Reply::new(418).body("reply").into(),
            _ => Verdict::Continue,
        })
    }
}

#[test]
fn a_test_chain_calls_filters_like_the_gateway() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../abi/chains/cases.json");
    let text = std::fs::read_to_string(path).expect("there are cases");
    let file: ChainCases = serde_json::from_str(&text).expect("the format is known");
    assert!(file.cases.len() >= 100, "there are only {} cases", file.cases.len());
    file.cases.iter().for_each(ChainCase::check);
}

impl ChainCase {
    fn check(&self) {
        let library = Library::of::<Filters>();
        let mut chain = Chain::new();
        for (index, steps) in self.filters.iter().enumerate() {
            let config = json!({"index": index, "phases": steps.phases, "actions": steps.actions});
            chain = chain.then(&library.filter("chain", &config.to_string()).expect("right"));
        }
        *calls() = (Vec::new(), self.calls.clone());
        let request =
            self.request.pieces.iter().fold(Request::new("POST", "/"), |to, piece| to.piece(&**piece));
        let request = if self.request.trailers { request.trailer("x-end", "1") } else { request };
        let response = self.response.pieces.iter().fold(Response::new(200), |to, piece| to.piece(&**piece));
        let response = if self.response.trailers { response.trailer("x-end", "1") } else { response };
        let outcome = chain.send(request, |_| response);
        let name = &self.name;
        assert_eq!(outcome.faults(), [""; 0], "case {name}");
        let (made, expected) = &*calls();
        for (index, (made, expected)) in made.iter().zip(expected).enumerate() {
            assert_eq!(made, expected, "call {index} of case {name}");
        }
        assert_eq!(made.len(), expected.len(), "case {name}");
        let forwarded = outcome.was_sent().then(|| outcome.sent());
        let forwarded = forwarded.map(|sent| written(&sent.fields, sent.whole_body(), &sent.trailers));
        assert_eq!(forwarded, self.forwarded, "case {name}");
        let answered = outcome.answered();
        let answered = written(&answered.fields, answered.whole_body(), &answered.trailers);
        assert_eq!(answered, self.answered, "case {name}");
    }
}

fn written(fields: &TestFields, body: Vec<u8>, trailers: &TestFields) -> CaseWritten {
    CaseWritten {
        head: fields.all("x-mark").collect(),
        body: text(&body),
        trailers: trailers.all("x-step").collect(),
    }
}

fn name_of(phase: Phase) -> &'static str {
    match phase {
        Phase::RequestHead => "request_head",
        Phase::RequestBody => "request_body",
        Phase::RequestTrailers => "request_trailers",
        Phase::ResponseHead => "response_head",
        Phase::ResponseBody => "response_body",
        Phase::ResponseTrailers => "response_trailers",
        Phase::Log => "log",
    }
}

fn letter(index: usize) -> String {
    char::from(b'a' + u8::try_from(index).expect("few filters")).to_string()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
