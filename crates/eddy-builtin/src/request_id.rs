//! Request IDs.

use std::sync::Arc;

use eddy_filter::{FilterEdit, Interest, Phase, REQUEST_ID_METADATA, Verdict};

use super::address::IpBlock;
use super::context::BuiltinContext;
use super::draw::draw;
use super::json::json_text;
use super::library::{Builtin, PhaseContext};

/// Configuration of `request_id`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestIdConfig {
    /// Header with the request ID.
    pub field: Arc<str>,
    /// Format of a new ID.
    pub format: IdFormat,
    /// Peers whose own request ID is kept.
    pub trusted: Vec<IpBlock>,
    /// Whether the response carries the ID, too.
    pub is_in_response: bool,
}

/// Format of a request ID.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IdFormat {
    /// 32 hexadecimal digits.
    Hex,
    /// A random UUID (RFC 9562, version 4).
    Uuid4,
    /// A UUID that begins with the time (RFC 9562, version 7).
    #[default]
    Uuid7,
}

impl Default for RequestIdConfig {
    fn default() -> Self {
        Self {
            field: "x-request-id".into(),
            format: IdFormat::default(),
            trusted: Vec::new(),
            is_in_response: false,
        }
    }
}

/// Filter that assigns request IDs.
#[derive(Debug)]
pub(super) struct RequestIdFilter {
    config: RequestIdConfig,
    seed: u64,
}

impl RequestIdFilter {
    /// Creates the filter.
    pub(super) fn new(config: &RequestIdConfig, context: &BuiltinContext) -> Self {
        Self { config: config.clone(), seed: context.seed[0] }
    }

    fn set(&self, answer: &mut PhaseContext<'_>) {
        let view = answer.view;
        let trusted = |block: &IpBlock| view.about.peer_ip.is_some_and(|peer| block.contains(peer));
        let mut sent = view.request.fields.all_named(self.config.field.as_bytes());
        let is_kept = self.config.trusted.iter().any(trusted)
            && sent.next().is_some_and(is_id)
            // With two IDs it is ambiguous which one is meant.
            && sent.next().is_none();
        if is_kept {
            if let Some(kept) = view.request.fields.first_named(self.config.field.as_bytes()) {
                note(kept, answer);
            }
            return;
        }
        let entropy = draw(view.about.entropy, self.seed);
        let mut text = [0; 36];
        let length = write_id(self.config.format, entropy, view.about.started_unix_us / 1000, &mut text);
        let value = text.get(..length).unwrap_or_default();
        answer.edit(&FilterEdit::Set { name: self.config.field.as_bytes(), value });
        note(value, answer);
    }

    fn tell(&self, answer: &mut PhaseContext<'_>) {
        let name = self.config.field.as_bytes();
        if let Some(value) = answer.view.request.fields.first_named(name) {
            answer.edit(&FilterEdit::Set { name, value });
        }
    }
}

impl Builtin for RequestIdFilter {
    fn interest(&self) -> Interest {
        let phases = [Phase::RequestHead, Phase::ResponseHead];
        Interest::of(if self.config.is_in_response { &phases } else { &[Phase::RequestHead] })
    }

    fn enter(&self, answer: &mut PhaseContext<'_>) -> Verdict {
        if answer.view.phase == Phase::RequestHead {
            self.set(answer);
        } else if answer.view.phase == Phase::ResponseHead {
            self.tell(answer);
        }
        Verdict::Continue
    }
}

/// Stores the ID as metadata, from which the gateway takes the ID of the access log entry.
fn note(id: &[u8], answer: &mut PhaseContext<'_>) {
    // An ID is ASCII.
    let json = json_text(&String::from_utf8_lossy(id));
    let (space, key) = REQUEST_ID_METADATA;
    answer.edit(&FilterEdit::Metadata { space, key, value: json.as_bytes() });
}

fn is_id(value: &[u8]) -> bool {
    (1..=ID_BYTES_MAX).contains(&value.len()) && value.iter().all(u8::is_ascii_graphic)
}

/// Writes an ID and returns its length.
///
/// # Spec
/// [RFC 9562 §5.4 and §5.7](https://www.rfc-editor.org/rfc/rfc9562#section-5.4)
fn write_id(format: IdFormat, entropy: [u64; 2], unix_ms: u64, out: &mut [u8; 36]) -> usize {
    let random = u128::from(entropy[0]) << 64 | u128::from(entropy[1]);
    let versioned =
        |bits: u128, version: u128| bits & !(0xf << 76) & !(0x3 << 62) | version << 76 | 0x2 << 62;
    let (bits, has_dashes) = match format {
        IdFormat::Hex => (random, false),
        IdFormat::Uuid4 => (versioned(random, 4), true),
        IdFormat::Uuid7 => {
            let time = u128::from(unix_ms) & 0xffff_ffff_ffff;
            (versioned(time << 80 | random & ((1 << 80) - 1), 7), true)
        }
    };
    let mut length = 0;
    for digit in 0..32_u32 {
        if has_dashes && matches!(digit, 8 | 12 | 16 | 20) {
            put(out, &mut length, b'-');
        }
        let nibble = bits >> (124 - 4 * digit) & 0xf;
        put(out, &mut length, DIGITS.get(nibble as usize).copied().unwrap_or_default());
    }
    length
}

fn put(out: &mut [u8; 36], length: &mut usize, byte: u8) {
    if let Some(place) = out.get_mut(*length) {
        *place = byte;
        *length += 1;
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";
/// Maximum length in bytes of a peer's ID that is kept.
const ID_BYTES_MAX: usize = 128;
