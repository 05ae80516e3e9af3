//! Cost limits of calling a filter: no allocation per request.

use std::time::Instant;

use allocation_counter::measure;
use eddy_sdk::abi;
use eddy_sdk::prelude::*;

eddy_sdk::filters! {
    "nothing" => Nothing,
    "copy" => CopyFilter,
    "stateful" => Stateful,
}

struct Nothing;

impl Filter for Nothing {
    type Config = ();
    type State = ();
    const INTEREST: Interest = Interest::of(&[Phase::RequestHead]);

    fn new((): (), _: &Context) -> Result<Self, String> {
        Ok(Self)
    }
}

struct CopyFilter;

impl Filter for CopyFilter {
    type Config = ();
    type State = ();
    const INTEREST: Interest = Interest::of(&[Phase::RequestHead]);

    fn new((): (), _: &Context) -> Result<Self, String> {
        Ok(Self)
    }

    fn request_head(&self, x: &mut Exchange<'_, ()>) -> Result<Verdict, Fault> {
        let host = x.request().get(FieldId::HOST).unwrap_or_default();
        x.set("host2", host)?;
        // Another name was set: nothing has to be copied for this read.
        let agent = x.request().get("user-agent").unwrap_or_default();
        x.set("agent2", agent)?;
        eddy_sdk::debug!(x, "below the level: {}", agent.len());
        Ok(Verdict::Continue)
    }
}

struct Stateful;

impl Filter for Stateful {
    type Config = ();
    type State = u64;
    const INTEREST: Interest = Interest::of(&[Phase::RequestHead]);

    fn new((): (), _: &Context) -> Result<Self, String> {
        Ok(Self)
    }

    fn request_head(&self, x: &mut Exchange<'_, u64>) -> Result<Verdict, Fault> {
        *x.state() += 1;
        Ok(Verdict::Continue)
    }
}

#[test]
fn entering_reading_and_editing_allocate_nothing() {
    let library = open();
    for name in ["nothing", "copy"] {
        let mut call = OneCall::of(library, name);
        call.enter(library);
        let spent = measure(|| (0..100).for_each(|_| call.enter(library)));
        assert_eq!((spent.count_total, spent.bytes_total), (0, 0), "{name}");
        assert_eq!(call.steps[0].verdict, abi::CONTINUE);
    }
}

/// Not a guarantee but a measurement, to be read with `--nocapture` in a release build.
#[test]
fn the_time_of_a_crossing_is_measured() {
    let library = open();
    for name in ["nothing", "copy", "stateful"] {
        let mut call = OneCall::of(library, name);
        let mut best = f64::MAX;
        for _ in 0..ROUNDS {
            let started = Instant::now();
            (0..CROSSINGS).for_each(|_| call.enter(library));
            best = best.min(started.elapsed().as_secs_f64() * 1e9 / f64::from(CROSSINGS));
        }
        println!("{name}: {best:.1} ns a crossing");
    }
}

#[test]
fn a_state_is_one_allocation() {
    let library = open();
    let mut call = OneCall::of(library, "stateful");
    let first = measure(|| call.enter(library));
    assert_eq!(first.count_total, 1);
    let later = measure(|| (0..100).for_each(|_| call.enter(library)));
    assert_eq!(later.count_total, 0);
    assert_ne!(call.steps[0].state, 0);
    call.tell(library);
}

/// A call that can be repeated.
struct OneCall {
    steps: [abi::AbiStep; 1],
    room: [u64; 64],
}

impl OneCall {
    fn of(library: &abi::AbiLibrary, name: &str) -> Self {
        let mut info = abi::FilterInfo::default();
        let mut error = abi::AbiText::EMPTY;
        let (name, config) = (abi::AbiText::of(name.as_bytes()), abi::AbiText::of(b"null"));
        // SAFETY: the texts are valid, and both locations can be written.
        let made = unsafe { (library.filter_new)(name, config, 1, &raw mut info, &raw mut error) };
        assert_eq!(made, abi::OK);
        Self {
            steps: [abi::AbiStep { filter: info.filter, id: 1, ..abi::AbiStep::default() }],
            room: [0; 64],
        }
    }

    fn enter(&mut self, library: &abi::AbiLibrary) {
        let mut call = EMPTY;
        (call.steps, call.steps_len) = (self.steps.as_mut_ptr(), 1);
        (call.edits, call.edits_cap) = (self.room.as_mut_ptr().cast(), 512);
        // SAFETY: the call follows the ABI.
        unsafe { (library.run)(&raw mut call) };
    }

    fn tell(&self, library: &abi::AbiLibrary) {
        let [step] = self.steps;
        let ended = abi::AbiExchangeEnd { filter: step.filter, state: step.state, reason: 0, reserved: 0 };
        let mut call = EMPTY;
        call.phase = 255;
        (call.ended, call.ended_len) = (&raw const ended, 1);
        // SAFETY: the call follows the ABI.
        unsafe { (library.run)(&raw mut call) };
    }
}

fn open() -> &'static abi::AbiLibrary {
    // SAFETY: the table is a static.
    let table = unsafe { eddy_sdk::open::<Filters>(&raw const HOST) };
    // SAFETY: null, or a table that lives as long as the process.
    unsafe { table.as_ref() }.expect("a library of this version opens")
}

unsafe extern "C" fn resume(_: u64, _: u32, _: u32, _: *const u8, _: u32) -> i32 {
    abi::STALE
}

unsafe extern "C" fn edits_grow(_: *mut abi::AbiCall, _: u32) -> i32 {
    abi::TOO_LARGE
}

unsafe extern "C" fn log(_: u32, _: u32, _: *const u8, _: usize) -> i32 {
    abi::OK
}

unsafe extern "C" fn metric(
    _: u32,
    _: u32,
    _: *const u8,
    _: usize,
    _: *const u64,
    _: u32,
    _: *mut abi::Metric,
) -> i32 {
    abi::FULL
}

unsafe extern "C" fn send(_: *const abi::AbiOutbound) -> i32 {
    abi::UNKNOWN
}

unsafe extern "C" fn cancel(_: u32, _: u64) -> i32 {
    abi::UNKNOWN
}

unsafe extern "C" fn about(_: *mut abi::AbiCall) -> i32 {
    abi::UNKNOWN
}

static HOST: abi::AbiHost = abi::AbiHost {
    abi: abi::ABI,
    size: 80,
    workers: 1,
    level: abi::INFO,
    resume,
    edits_grow,
    log,
    metric,
    send,
    cancel,
    memory_soft_bytes: 0,
    about,
};

const ROUNDS: u32 = if cfg!(debug_assertions) { 1 } else { 20 };
const CROSSINGS: u32 = if cfg!(debug_assertions) { 100 } else { 100_000 };
const BYTES: &[u8] = b"Hostexample.comuser-agenttest";
const FIELDS: &[abi::AbiField] =
    &[field(0, 4, 15, abi::FIELD_HOST), field(15, 25, 29, abi::FIELD_USER_AGENT)];

const fn field(start: u32, middle: u32, end: u32, id: u8) -> abi::AbiField {
    let (name, value) = (abi::AbiSpan { start, end: middle }, abi::AbiSpan { start: middle, end });
    abi::AbiField { name, value, id, flags: 0, reserved: 0 }
}

const EMPTY: abi::AbiCall = abi::AbiCall {
    abi: abi::ABI,
    size: 240,
    worker: 0,
    status: 0,
    phase: abi::REQUEST_HEAD,
    flags: abi::CALL_END,
    version: 11,
    method: abi::METHOD_GET,
    exchange: 1,
    turn: 1,
    steps_len: 0,
    steps: std::ptr::null_mut(),
    request: abi::AbiHead { bytes: BYTES.as_ptr(), fields: FIELDS.as_ptr(), bytes_len: 29, fields_len: 2 },
    response: abi::AbiHead::EMPTY,
    trailers: abi::AbiHead::EMPTY,
    method_name: abi::AbiText::of(b"GET"),
    target: abi::AbiText::of(b"/"),
    authority: abi::AbiText::of(b"example.com"),
    scheme: abi::AbiText::of(b"http"),
    body: abi::AbiText::EMPTY,
    about: std::ptr::null(),
    edits: std::ptr::null_mut(),
    edits_cap: 0,
    edits_len: 0,
    ended: std::ptr::null(),
    ended_len: 0,
    stopped: 0,
    current: std::ptr::null_mut(),
};
