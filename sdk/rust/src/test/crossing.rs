//! One crossing into a library, as a host makes it.

use eddy_filter::{IncomingBody, MessageRun, StepOrder};

use super::apply::EditTarget;
use super::library::{Configured, Library, RuleConfig};
use super::message::{Request, Response, TestFields};
use super::outcome::ChainOutcome;
use crate::abi;
use crate::edit_log::EditLogRecords;
use crate::phase::Phase;

/// Data that a library sees in one crossing.
#[derive(Clone, Debug)]
pub struct TestLibraryCall<'m> {
    /// ABI number of the phase.
    pub phase: u8,
    /// `CALL_*` flags of the filter ABI.
    pub flags: u8,
    /// Number of the exchange.
    pub exchange: u64,
    /// Turn number.
    pub turn: u32,
    /// Request.
    pub request: &'m Request,
    /// Response, once there is one.
    pub response: Option<&'m Response>,
    /// Trailers, in their phases.
    pub trailers: Option<&'m TestFields>,
    /// Body, in its phases.
    pub body: &'m [u8],
    /// Metadata entries.
    pub metadata: &'m [Note],
    /// Facts other than the messages.
    pub facts: &'m ExchangeFacts,
    /// Initial size of the edit buffer in bytes.
    pub room: u32,
}

/// Facts other than the messages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of `About`")]
pub struct ExchangeFacts {
    pub scheme: String,
    /// 10, 11, 20 or 30.
    pub version: u8,
    pub peer: String,
    pub local: String,
    pub listener: String,
    pub rule: String,
    pub cluster: String,
    pub endpoint: String,
    pub request_id: String,
    pub details: String,
    pub attempts: u32,
    pub request_bytes: u64,
    pub response_bytes: u64,
}

impl ExchangeFacts {
    /// Creates facts that are all unknown.
    #[must_use]
    pub fn none() -> Self {
        let none = String::new;
        Self {
            scheme: "http".to_owned(),
            version: 11,
            peer: none(),
            local: none(),
            listener: none(),
            rule: none(),
            cluster: none(),
            endpoint: none(),
            request_id: none(),
            details: none(),
            attempts: 0,
            request_bytes: 0,
            response_bytes: 0,
        }
    }
}

impl Default for ExchangeFacts {
    /// Returns facts of an exchange in progress.
    fn default() -> Self {
        Self {
            peer: "192.0.2.1:4711".to_owned(),
            local: "192.0.2.2:80".to_owned(),
            listener: "test".to_owned(),
            rule: "rule".to_owned(),
            cluster: "cluster".to_owned(),
            request_id: "request-1".to_owned(),
            ..Self::none()
        }
    }
}

/// One metadata entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Namespace.
    pub space: String,
    /// Key within the namespace.
    pub key: String,
    /// Value as JSON.
    pub value: String,
}

/// A filter to be called.
#[derive(Clone, Debug)]
pub struct Entered<'f> {
    /// The filter.
    pub filter: &'f Configured,
    /// Rule configuration for it.
    pub rule: Option<&'f RuleConfig>,
    /// State that it left in the exchange so far.
    pub state: u64,
    /// Whether it must not run on this thread.
    pub is_blocking: bool,
}

/// Result of a crossing.
#[derive(Clone, Debug)]
pub struct Crossed {
    /// The steps after the library has returned.
    pub steps: Vec<abi::AbiStep>,
    /// Index of the step that did not continue; the number of steps if there is none.
    pub stopped: usize,
    /// Encoded edits.
    pub edits: Vec<u8>,
}

/// One decoded edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// `EDIT_*` code of the filter ABI.
    pub op: u16,
    /// Step that made it.
    pub step: u16,
    /// Numeric operand.
    pub number: u32,
    /// Name.
    pub name: Vec<u8>,
    /// Value.
    pub value: Vec<u8>,
}

/// A call with its edit buffer, which `edits_grow` finds by the call's address.
#[repr(C)]
struct CallWithRoom {
    call: abi::AbiCall,
    room: Vec<u64>,
}

impl Crossed {
    /// Returns the edits, in order.
    #[must_use]
    pub fn written(&self) -> Vec<Written> {
        Written::all(&self.edits)
    }
}

impl Written {
    /// Decodes the edits in these bytes.
    #[must_use]
    pub fn all(edits: &[u8]) -> Vec<Self> {
        let own = |record: crate::edit_log::EditLogRecord<'_>| Self {
            op: record.op,
            step: record.step,
            number: record.number,
            name: record.name.to_vec(),
            value: record.value.to_vec(),
        };
        EditLogRecords::of(edits).map(own).collect()
    }
}

impl TestLibraryCall<'_> {
    /// Checks the edits of a library as a host does; returns the reason if it rejects them.
    #[must_use]
    pub fn refusal(&self, edits: &[Written]) -> Option<String> {
        let phase = Phase::from_number(self.phase)?;
        let (mut request, mut response) = (self.request.clone(), self.response.cloned());
        let (mut reply, mut outcome) = (Response::new(0), ChainOutcome::default());
        let mut message = MessageRun::default();
        message.begin(StepOrder::default(), IncomingBody::Whole(self.body));
        let mut subject = EditTarget {
            phase,
            step: 0,
            request: &mut request,
            response: response.as_mut(),
            message: &mut message,
            outcome: &mut outcome,
            reply: &mut reply,
        };
        subject.apply(edits).err()
    }

    /// Calls filters of one library, in this order.
    ///
    /// # Panics
    /// If the library violates the ABI: it reports a stop at a step that does not exist, leaves its number in
    /// `current`, or writes incomplete edit records.
    #[must_use]
    pub fn run(&self, library: &Library, entered: &[Entered<'_>]) -> Crossed {
        let mut steps: Vec<abi::AbiStep> = entered.iter().map(Entered::step).collect();
        let request = self.request.fields.to_owned_head();
        let response = self.response.map(|response| response.fields.to_owned_head()).unwrap_or_default();
        let trailers = self.trailers.map(TestFields::to_owned_head).unwrap_or_default();
        let pairs: Vec<abi::AbiPair> = self.metadata.iter().map(Note::pair).collect();
        let about = self.facts.about(&pairs);
        let mut current = 0;
        let mut whole = CallWithRoom { call: EMPTY, room: vec![0; self.room.div_ceil(8) as usize] };
        let call = &mut whole.call;
        (call.phase, call.flags, call.exchange, call.turn) =
            (self.phase, self.flags, self.exchange, self.turn);
        (call.steps, call.steps_len) = (steps.as_mut_ptr(), len_32(steps.len()));
        (call.request, call.response, call.trailers) =
            (request.as_abi(), response.as_abi(), trailers.as_abi());
        call.status = self.response.map_or(0, |response| response.status);
        call.method = method_number(&self.request.method);
        call.method_name = abi::AbiText::of(self.request.method.as_bytes());
        call.target = abi::AbiText::of(self.request.target.as_bytes());
        call.authority = abi::AbiText::of(self.request.authority.as_bytes());
        call.scheme = abi::AbiText::of(self.facts.scheme.as_bytes());
        call.version = self.facts.version;
        call.body = abi::AbiText::of(self.body);
        (call.about, call.current) = (&raw const about, &raw mut current);
        whole.call.edits = whole.room.as_mut_ptr().cast();
        whole.call.edits_cap = 8 * len_32(whole.room.len());
        enter(library, &raw mut whole);
        let stopped = whole.call.stopped as usize;
        assert!(stopped <= steps.len(), "the library stopped at a step that does not exist");
        assert_eq!(current, 0, "the library left a step number in `current`");
        let edits = whole.edits();
        let size: usize = Written::all(&edits).iter().map(Written::size).sum();
        assert_eq!(size, edits.len(), "the edits are not complete records");
        Crossed { steps, stopped, edits }
    }
}

/// Reports ended exchanges to a library.
pub(super) fn report_ended(library: &Library, ended: &[abi::AbiExchangeEnd]) {
    let mut whole = CallWithRoom { call: EMPTY, room: Vec::new() };
    whole.call.phase = PHASE_NONE;
    (whole.call.ended, whole.call.ended_len) = (ended.as_ptr(), len_32(ended.len()));
    enter(library, &raw mut whole);
}

fn enter(library: &Library, whole: *mut CallWithRoom) {
    // SAFETY: the call follows the ABI, and the pointer leads to the structure of which it is the first member.
    unsafe { library.run(whole.cast()) };
}

/// The host's function of this name.
pub(super) unsafe extern "C" fn edits_grow(call: *mut abi::AbiCall, more: u32) -> i32 {
    // SAFETY: every call of this host is the first member of a `CallWithRoom`.
    let whole = unsafe { &mut *call.cast::<CallWithRoom>() };
    let needed = whole.call.edits_len as usize + more as usize;
    if needed > EDITS_BYTES_MAX {
        return abi::TOO_LARGE;
    }
    // A new address each time, to detect a library that keeps the old one.
    let mut room = vec![0_u64; needed.div_ceil(8)];
    let used = (whole.call.edits_len as usize).div_ceil(8);
    for (new, old) in room.iter_mut().zip(whole.room.iter().take(used)) {
        *new = *old;
    }
    whole.room = room;
    whole.call.edits = whole.room.as_mut_ptr().cast();
    whole.call.edits_cap = 8 * len_32(whole.room.len());
    abi::OK
}

impl CallWithRoom {
    fn edits(&self) -> Vec<u8> {
        let bytes = self.room.iter().flat_map(|word| word.to_ne_bytes());
        bytes.take(self.call.edits_len as usize).collect()
    }
}

impl Written {
    fn size(&self) -> usize {
        (size_of::<abi::AbiEdit>() + self.name.len() + self.value.len()).next_multiple_of(8)
    }
}

impl Entered<'_> {
    fn step(&self) -> abi::AbiStep {
        abi::AbiStep {
            filter: self.filter.number(),
            config: self.rule.map_or(0, RuleConfig::number),
            state: self.state,
            id: self.filter.id(),
            flags: if self.is_blocking { abi::STEP_BLOCKING } else { 0 },
            ..abi::AbiStep::default()
        }
    }
}

impl Note {
    fn pair(&self) -> abi::AbiPair {
        abi::AbiPair {
            space: abi::AbiText::of(self.space.as_bytes()),
            key: abi::AbiText::of(self.key.as_bytes()),
            value: abi::AbiText::of(self.value.as_bytes()),
        }
    }
}

impl ExchangeFacts {
    fn about(&self, pairs: &[abi::AbiPair]) -> abi::AbiAbout {
        let text = |text: &str| abi::AbiText::of(text.as_bytes());
        abi::AbiAbout {
            peer: text(&self.peer),
            local: text(&self.local),
            listener: text(&self.listener),
            rule: text(&self.rule),
            cluster: text(&self.cluster),
            endpoint: text(&self.endpoint),
            request_id: text(&self.request_id),
            details: text(&self.details),
            metadata: pairs.as_ptr(),
            metadata_len: pairs.len() as u64,
            started_unix_us: 1_700_000_000_000_000,
            duration_us: 0,
            connection: 1,
            request_bytes: self.request_bytes,
            response_bytes: self.response_bytes,
            attempts: self.attempts,
            reserved: 0,
        }
    }
}

fn method_number(name: &str) -> u8 {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];
    let found = known.iter().position(|known| *known == name);
    found.and_then(|place| u8::try_from(place + 1).ok()).unwrap_or(abi::METHOD_OTHER)
}

fn len_32(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

/// Phase number of a crossing that only reports ends.
const PHASE_NONE: u8 = 255;
const EDITS_BYTES_MAX: usize = 16 * 1024 * 1024;
const EMPTY: abi::AbiCall = abi::AbiCall {
    abi: abi::ABI,
    size: {
        #[expect(clippy::cast_possible_truncation, reason = "a call is small")]
        let size = size_of::<abi::AbiCall>() as u32;
        size
    },
    worker: 0,
    status: 0,
    phase: 0,
    flags: 0,
    version: 11,
    method: 0,
    exchange: 0,
    turn: 0,
    steps_len: 0,
    steps: std::ptr::null_mut(),
    request: abi::AbiHead::EMPTY,
    response: abi::AbiHead::EMPTY,
    trailers: abi::AbiHead::EMPTY,
    method_name: abi::AbiText::EMPTY,
    target: abi::AbiText::EMPTY,
    authority: abi::AbiText::EMPTY,
    scheme: abi::AbiText::EMPTY,
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
