//! Filters that the tests configure.
#![expect(clippy::panic, reason = "how filters fail is what is tested")]

use std::sync::{Mutex, PoisonError};
use std::thread;

use eddy_sdk::prelude::*;
use eddy_sdk::{Counter, EditError, End, Gauge, Histogram, OnlyThere, Outbound};
use serde::Deserialize;

eddy_sdk::filters! {
    "mark" => Mark,
    "script" => ScriptedFilter,
    "body" => BodyFilter,
    "pause" => Pausing,
    "stateful" => Stateful,
    "ask" => ClusterCallFilter,
    "meter" => MetricsFilter,
    "fragile" => Fragile,
    "elsewhere" => Elsewhere,
    "places" => FieldPositions,
}

static NOTES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Returns the notes that filters made about ends.
pub(crate) fn notes() -> Vec<String> {
    NOTES.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn note(text: String) {
    NOTES.lock().unwrap_or_else(PoisonError::into_inner).push(text);
}

pub(crate) struct Mark {
    config: MarkConfig,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MarkConfig {
    value: String,
    #[serde(default = "x_mark")]
    name: String,
}

fn x_mark() -> String {
    "x-mark".to_owned()
}

impl Filter for Mark {
    type Config = MarkConfig;
    type State = ();
    const INTEREST: Interest = Interest::of(&[Phase::RequestHead]);

    fn new(config: MarkConfig, _: &Context) -> Result<Self, String> {
        match config.value.as_str() {
            "never" => Err("never say never".to_owned()),
            "panic" => panic!("no such value"),
            _ => Ok(Self { config }),
        }
    }

    fn request_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        x.set(&self.config.name, &self.config.value)?;
        Ok(Verdict::Continue)
    }
}

/// Performs its configuration line by line.
pub(crate) struct ScriptedFilter {
    lines: Vec<String>,
}

#[derive(Default)]
pub(crate) struct Bomb(bool);

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(!self.0, "a drop that panics");
    }
}

impl Filter for ScriptedFilter {
    type Config = Vec<String>;
    type State = u32;
    const INTEREST: Interest =
        Interest::of(&[Phase::RequestHead, Phase::RequestTrailers, Phase::ResponseTrailers]);

    fn new(lines: Vec<String>, _: &Context) -> Result<Self, String> {
        Ok(Self { lines })
    }

    fn interest(&self) -> Interest {
        match self.lines.iter().any(|line| line == "trailers") {
            true => Interest::of(&[Phase::RequestTrailers, Phase::ResponseTrailers]),
            false => Interest::of(&[Phase::RequestHead, Phase::Log]),
        }
    }

    fn request_head(&self, x: &mut Exchange<'_, u32>) -> Result<Verdict, Fault> {
        for line in &self.lines {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["set", name, value] => x.set(*name, value)?,
                ["add", name, value] => x.add(*name, value)?,
                ["target", target] => x.set_target(target)?,
                ["method", method] => x.set_method(method)?,
                ["copy", from, to] => {
                    x.request().all(*from).try_for_each(|value| x.add(*to, value))?;
                }
                ["copy-target", to] => x.set(*to, x.target())?,
                ["copy-method", to] => x.set(*to, x.method())?,
                ["thread", to] => x.set(*to, thread::current().name().unwrap_or_default())?,
                ["count"] => *x.state() += 1,
                ["metadata"] => {
                    let count = *x.state();
                    x.set_metadata("script", "seen", serde_json::json!([count, !x.request().is_empty()]))?;
                }
                ["reply", status, body] => return Ok(reply(status.parse()?, body).into()),
                ["fault", message] => return Err(Fault::new(*message)),
                ["overlay"] => overlay(x)?,
                ["misplaced"] => misplaced(x),
                ["flood"] => loop {
                    x.set("x-flood", vec![b'x'; 1 << 20])?;
                },
                ["choose"] => choose(x)?,
                ["lookup"] => lookup(x),
                ["panic"] => panic!("a hook that panics"),
                ["panic-string"] => panic!("a hook that panics with {}", words.len()),
                ["panic-any"] => std::panic::panic_any(Bomb(false)),
                ["panic-drop"] => drop(Bomb(true)),
                other => return Err(Fault::new(format!("what is {other:?}?"))),
            }
        }
        Ok(Verdict::Continue)
    }

    fn request_trailers(&self, x: &mut Exchange<'_, u32>) -> Result<Verdict, Fault> {
        exclaim(x)
    }

    fn response_trailers(&self, x: &mut Exchange<'_, u32>) -> Result<Verdict, Fault> {
        exclaim(x)
    }
}

fn exclaim(x: &mut Exchange<'_, u32>) -> Result<Verdict, Fault> {
    let sum = x.trailers().get_str("x-sum").ok_or_else(|| Fault::new("there is no sum"))?;
    x.set("x-sum", format!("{sum}!"))?;
    assert_eq!(x.trailers().get_str("x-sum"), Some(format!("{sum}!").as_str()));
    Ok(Verdict::Continue)
}

fn reply(status: u16, body: &str) -> Reply {
    Reply::new(status).field("x-reply", "1").field("x-reply", "2").body(body).details("script").grpc_status(7)
}

fn overlay(x: &mut Exchange<'_, u32>) -> Result<(), EditError> {
    let old = x.request().get_str("x-a").unwrap_or_default();
    x.set("x-a", "new")?;
    let new = x.request().get_str("X-A").unwrap_or_default();
    for round in 0..50 {
        x.set("x-other", format!("{round}"))?;
    }
    assert_eq!(x.request().all("x-other").collect::<Vec<_>>(), [b"49"]);
    x.remove("x-other")?;
    assert!(!x.request().has("x-other"));
    x.set_authority("other.example")?;
    assert_eq!(x.authority(), b"other.example");
    x.set_metadata("script", "note", 1)?;
    assert_eq!(x.metadata("script", "note"), Some(1.into()));
    x.set("x-seen", format!("{old},{new}"))
}

fn misplaced(x: &mut Exchange<'_, u32>) {
    assert_eq!(x.set_status(200), Err(EditError::Phase { what: "status" }));
    assert_eq!(x.set_body("no"), Err(EditError::Phase { what: "body" }));
    assert_eq!(x.drain_body(1), Err(EditError::Phase { what: "body" }));
    assert_eq!(x.body(), b"");
}

fn choose(x: &mut Exchange<'_, u32>) -> Result<(), EditError> {
    x.set_metadata("script", "gone", true)?;
    x.remove_metadata("script", "gone")?;
    x.set_metadata("script", "who", serde_json::json!({"id": 7}))?;
    x.clear_route()?;
    x.set_endpoint("127.0.0.1:9001", OnlyThere::No)
}

fn lookup(x: &mut Exchange<'_, u32>) {
    assert_eq!(x.request().get(FieldId::AUTHORIZATION), Some(&b"x"[..]));
    assert_eq!(x.request().get("AUTHORIZATION"), Some(&b"x"[..]));
    assert_eq!(x.request().all("x-two").collect::<Vec<_>>(), [b"1", b"2"]);
    assert_eq!(x.request().get(FieldId::COOKIE), None);
    let names: Vec<&[u8]> = x.request().fields().map(|field| field.name).collect();
    assert_eq!(names, [&b"Authorization"[..], b"X-Two", b"x-two"]);
    assert_eq!((x.path(), x.query()), (&b"/p"[..], Some(&b"q"[..])));
    assert_eq!((x.about().peer(), x.about().rule(), x.scheme()), ("192.0.2.1:4711", "rule", "http"));
    assert!(x.is_end() && !x.is_tls() && !x.is_local() && !x.is_buffered());
}

/// Changes bodies.
pub(crate) struct BodyFilter {
    mode: Mode,
}

#[derive(Deserialize)]
pub(crate) struct BodyConfig {
    mode: Mode,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mode {
    Upper,
    Reverse,
    Around,
}

impl Filter for BodyFilter {
    type Config = BodyConfig;
    type State = ();
    const INTEREST: Interest =
        Interest::of(&[Phase::RequestHead, Phase::RequestBody, Phase::ResponseHead, Phase::ResponseBody]);

    fn new(config: BodyConfig, _: &Context) -> Result<Self, String> {
        Ok(Self { mode: config.mode })
    }

    fn request_head(&self, _: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        Ok(if self.mode == Mode::Reverse { Verdict::Buffer } else { Verdict::Continue })
    }

    fn response_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        self.request_head(x)
    }

    fn request_body(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        let body = x.body();
        match self.mode {
            Mode::Upper => x.set_body(body.to_ascii_uppercase())?,
            Mode::Reverse => {
                assert!(x.is_buffered());
                x.set("x-len", body.len().to_string())?;
                x.set_body(body.iter().rev().copied().collect::<Vec<u8>>())?;
            }
            Mode::Around => {
                x.drain_body(1)?;
                x.prepend_body("<")?;
                x.append_body(">")?;
                assert_eq!(x.body().first(), Some(&b'<'));
            }
        }
        Ok(Verdict::Continue)
    }

    fn response_body(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        self.request_body(x)
    }
}

/// Pauses, and resumes from another thread.
pub(crate) struct Pausing {
    how: String,
}

#[derive(Deserialize)]
pub(crate) struct PausingConfig {
    how: String,
}

impl Filter for Pausing {
    type Config = PausingConfig;
    type State = ();
    const INTEREST: Interest = Interest::of(&[Phase::RequestHead]);

    fn new(config: PausingConfig, _: &Context) -> Result<Self, String> {
        Ok(Self { how: config.how })
    }

    fn request_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        x.set("x-before", "pause")?;
        let (verdict, mut paused) = x.pause();
        assert_eq!(x.set("x-after", "pause"), Err(EditError::Paused));
        let how = self.how.clone();
        thread::spawn(move || {
            let done = match how.as_str() {
                "resume" => paused.set("x-paused", "later").map(|()| paused.resume()).expect("it fits"),
                "reply" => paused.reply(&Reply::new(418)),
                "fault" => paused.fault("later"),
                "reset" => paused.reset(),
                "buffer" => paused.buffer(),
                _ => {
                    drop(paused);
                    Ok(())
                }
            };
            done.expect("the exchange waits");
        });
        Ok(verdict)
    }
}

/// Counts its hooks.
pub(crate) struct Stateful {
    name: String,
}

impl Filter for Stateful {
    type Config = String;
    type State = Vec<Phase>;
    const INTEREST: Interest = Interest::of(&[Phase::RequestHead, Phase::ResponseHead, Phase::Log]);

    fn new(name: String, _: &Context) -> Result<Self, String> {
        Ok(Self { name })
    }

    fn request_head(&self, x: &mut Exchange<'_, Vec<Phase>>) -> Result<Verdict, Fault> {
        let phase = x.phase();
        x.state().push(phase);
        Ok(Verdict::Continue)
    }

    fn response_head(&self, x: &mut Exchange<'_, Vec<Phase>>) -> Result<Verdict, Fault> {
        let phase = x.phase();
        x.state().push(phase);
        let hooks = x.state().len();
        x.set("x-hooks", hooks.to_string())?;
        Ok(Verdict::Continue)
    }

    fn log(&self, x: &mut Exchange<'_, Vec<Phase>>) {
        assert_eq!(x.response().get_str("x-hooks"), Some("2"));
        x.state().push(Phase::Log);
    }

    fn ended(&self, state: Vec<Phase>, end: End) {
        note(format!("{} {} {end:?}", self.name, state.len()));
    }
}

/// Sends a request to a cluster.
pub(crate) struct ClusterCallFilter {
    cluster: String,
}

impl Filter for ClusterCallFilter {
    type Config = String;
    type State = ();
    const INTEREST: Interest = Interest::of(&[Phase::RequestHead]);

    fn new(cluster: String, _: &Context) -> Result<Self, String> {
        Ok(Self { cluster })
    }

    fn request_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        let target = x.target();
        let request =
            Outbound::new(&self.cluster, "POST", "/check").field("accept", "text/plain").body(target);
        let (verdict, mut paused) = x.pause();
        x.send(&request, move |answer| {
            let text = match answer {
                Ok(answer) => {
                    let user = answer.head.get_str("x-user").unwrap_or_default();
                    format!("{user} {}", String::from_utf8_lossy(answer.body))
                }
                Err(word) => word.to_owned(),
            };
            paused.set("x-answer", text).expect("it fits");
            paused.resume().expect("it waits");
        })?;
        Ok(verdict)
    }
}

/// Records metrics.
pub(crate) struct MetricsFilter {
    context: Context,
    requests: Counter,
    open: Gauge,
    sizes: Histogram,
}

impl Filter for MetricsFilter {
    type Config = Option<u8>;
    type State = ();
    const INTEREST: Interest = Interest::of(&[Phase::RequestBody, Phase::RequestHead, Phase::Log]);
    const ONLY_READS_BODIES: bool = true;

    fn new(_: Option<u8>, context: &Context) -> Result<Self, String> {
        assert!(context.counter("no-name").is_err());
        let metric = |error: eddy_sdk::MetricError| error.to_string();
        Ok(Self {
            context: *context,
            requests: context.counter("requests").map_err(metric)?,
            open: context.gauge("open").map_err(metric)?,
            sizes: context.histogram("sizes", &[1, 10]).map_err(metric)?,
        })
    }

    fn request_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        self.requests.increment();
        self.open.add(1);
        eddy_sdk::warn!(x, "plain");
        Ok(Verdict::Buffer)
    }

    fn request_body(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        let len = x.body().len();
        self.sizes.record(len as u64);
        eddy_sdk::info!(self.context, "a request of {len} bytes");
        Ok(Verdict::Continue)
    }

    fn log(&self, _: &mut Exchange<'_, ()>) {
        let open = self.open;
        thread::spawn(move || open.add(-1)).join().expect("it does not panic");
    }
}

/// Panics when it or its state is dropped.
pub(crate) struct Fragile(#[expect(dead_code, reason = "it is there for its drop")] Bomb);

impl Filter for Fragile {
    type Config = Option<u8>;
    type State = Option<Bomb>;
    const INTEREST: Interest = Interest::of(&[Phase::RequestHead]);

    fn new(_: Option<u8>, _: &Context) -> Result<Self, String> {
        Ok(Self(Bomb(true)))
    }

    fn request_head(&self, x: &mut Exchange<'_, Option<Bomb>>) -> Result<Verdict, Fault> {
        *x.state() = Some(Bomb(true));
        Ok(Verdict::Continue)
    }
}

/// Continues its hook on another thread.
pub(crate) struct Elsewhere {
    name: String,
}

impl Filter for Elsewhere {
    type Config = String;
    type State = u64;
    const INTEREST: Interest = Interest::of(&[Phase::RequestHead]);

    fn new(name: String, _: &Context) -> Result<Self, String> {
        Ok(Self { name })
    }

    fn request_head(&self, x: &mut Exchange<'_, u64>) -> Result<Verdict, Fault> {
        *x.state() += 1;
        let name = self.name.clone();
        x.elsewhere(move |x| {
            assert_ne!(name, "panic");
            *x.state() += 1;
            let count = *x.state();
            let before = x.request().get_str("x-a").unwrap_or_default();
            let thread = thread::current();
            let thread = thread.name().unwrap_or_default();
            x.set("x-b", format!("{before} {thread} {count}"))?;
            Ok(Verdict::Continue)
        })
    }

    fn ended(&self, state: u64, end: End) {
        if self.name == "elsewhere" && state == 2 && end == End::Complete {
            note(format!("elsewhere {:?}", thread::current().name()));
        }
    }
}

/// Reports the positions of a protobuf field, and copies it from the body.
pub(crate) struct FieldPositions {
    places: serde_json::Value,
}

impl Filter for FieldPositions {
    type Config = serde_json::Value;
    type State = ();
    const INTEREST: Interest = Interest::of(&[Phase::RequestHead, Phase::RequestBody]);

    fn new(places: serde_json::Value, _: &Context) -> Result<Self, String> {
        Ok(Self { places })
    }

    fn request_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        x.set_metadata("message_fields", "tenant_at", self.places.clone())?;
        if x.places("tenant").any(|place| place.offset == 0) {
            return Ok(Verdict::Continue);
        }
        Ok(Verdict::Buffer)
    }

    fn request_body(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        let tenant = x.field_bytes("tenant").unwrap_or(b"none").to_vec();
        x.set_metadata("seen", "tenant", serde_json::json!(String::from_utf8_lossy(&tenant)))?;
        Ok(Verdict::Continue)
    }
}
