//! Well-known field names.

use super::traits::Traits;
use crate::octet::{NameBytes, SwarWord, load, word_of};

/// Declares the names once; generates the enum and the tables of names and traits by ID.
macro_rules! field_ids {
    ($($variant:ident = $name:literal, $traits:expr;)*) => {
        /// ID of a field name that eddy knows, or one of three classes of other names.
        ///
        /// The numbers are those of `abi/eddy_filter.h`: new names are appended, and numbers never change.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum FieldId {
            /// A name that eddy does not know.
            #[default]
            Other,
            $(#[doc = concat!("`", $name, "`.")] $variant,)*
            /// An unknown name that begins with `x-forwarded-`.
            XForwarded = 254,
            /// A name that some programs take for a known one, because they treat other separators as `-`.
            Alias = 255,
        }

        const NAMES: &[&str] = &["", $($name,)*];
        const KNOWN_TRAITS: &[Traits] = &[Traits::UNKNOWN, $($traits,)*];
        pub(super) const IDS: &[FieldId] = &[$(FieldId::$variant,)*];
    };
}

field_ids! {
    Host = "host", Traits::FRAMING;
    ContentLength = "content-length", Traits::FRAMING;
    TransferEncoding = "transfer-encoding", Traits::FRAMING.and(Traits::HOP);
    Connection = "connection", Traits::HOP;
    Expect = "expect", Traits::HOP;
    Upgrade = "upgrade", Traits::HOP;
    Te = "te", Traits::HOP;
    MaxForwards = "max-forwards", Traits::PLAIN;
    Trailer = "trailer", Traits::FRAMING;
    KeepAlive = "keep-alive", Traits::HOP;
    // Not a field of HTTP, but CGI programs take it for their own proxy setting (CVE-2016-5385 and similar).
    Proxy = "proxy", Traits::HOP;
    ProxyConnection = "proxy-connection", Traits::HOP;
    ProxyAuthenticate = "proxy-authenticate", Traits::HOP;
    ProxyAuthorization = "proxy-authorization", Traits::HOP;
    Http2Settings = "http2-settings", Traits::HOP;
    Via = "via", Traits::PLAIN;
    Date = "date", Traits::PLAIN;
    Forwarded = "forwarded", Traits::FORWARDED;
    XForwardedFor = "x-forwarded-for", Traits::FORWARDED;
    XForwardedProto = "x-forwarded-proto", Traits::FORWARDED;
    XForwardedHost = "x-forwarded-host", Traits::FORWARDED;
    XForwardedPort = "x-forwarded-port", Traits::FORWARDED;
    XRealIp = "x-real-ip", Traits::FORWARDED;
    XRequestId = "x-request-id", Traits::PLAIN;
    Accept = "accept", Traits::PLAIN;
    AcceptEncoding = "accept-encoding", Traits::PLAIN;
    AcceptLanguage = "accept-language", Traits::PLAIN;
    AcceptRanges = "accept-ranges", Traits::PLAIN;
    AccessControlAllowOrigin = "access-control-allow-origin", Traits::PLAIN;
    Age = "age", Traits::PLAIN;
    Allow = "allow", Traits::PLAIN;
    AltSvc = "alt-svc", Traits::PLAIN;
    Authorization = "authorization", Traits::PLAIN;
    CacheControl = "cache-control", Traits::PLAIN;
    ContentDisposition = "content-disposition", Traits::PLAIN;
    ContentEncoding = "content-encoding", Traits::PLAIN;
    ContentLanguage = "content-language", Traits::PLAIN;
    ContentLocation = "content-location", Traits::PLAIN;
    ContentRange = "content-range", Traits::PLAIN;
    ContentSecurityPolicy = "content-security-policy", Traits::PLAIN;
    ContentType = "content-type", Traits::PLAIN;
    Cookie = "cookie", Traits::PLAIN;
    Etag = "etag", Traits::TRAILER;
    Expires = "expires", Traits::PLAIN;
    IfMatch = "if-match", Traits::PLAIN;
    IfModifiedSince = "if-modified-since", Traits::PLAIN;
    IfNoneMatch = "if-none-match", Traits::PLAIN;
    IfRange = "if-range", Traits::PLAIN;
    IfUnmodifiedSince = "if-unmodified-since", Traits::PLAIN;
    LastModified = "last-modified", Traits::PLAIN;
    Link = "link", Traits::PLAIN;
    Location = "location", Traits::PLAIN;
    Origin = "origin", Traits::PLAIN;
    Pragma = "pragma", Traits::PLAIN;
    Prefer = "prefer", Traits::PLAIN;
    Priority = "priority", Traits::PLAIN;
    Range = "range", Traits::PLAIN;
    Referer = "referer", Traits::PLAIN;
    RetryAfter = "retry-after", Traits::PLAIN;
    SecFetchDest = "sec-fetch-dest", Traits::PLAIN;
    SecFetchMode = "sec-fetch-mode", Traits::PLAIN;
    SecFetchSite = "sec-fetch-site", Traits::PLAIN;
    SecFetchUser = "sec-fetch-user", Traits::PLAIN;
    Server = "server", Traits::PLAIN;
    ServerTiming = "server-timing", Traits::TRAILER;
    SetCookie = "set-cookie", Traits::PLAIN;
    StrictTransportSecurity = "strict-transport-security", Traits::PLAIN;
    Traceparent = "traceparent", Traits::PLAIN;
    Tracestate = "tracestate", Traits::PLAIN;
    UpgradeInsecureRequests = "upgrade-insecure-requests", Traits::PLAIN;
    UserAgent = "user-agent", Traits::PLAIN;
    Vary = "vary", Traits::PLAIN;
    Warning = "warning", Traits::PLAIN;
    WwwAuthenticate = "www-authenticate", Traits::PLAIN;
    AuthenticationInfo = "authentication-info", Traits::PLAIN;
    GrpcStatus = "grpc-status", Traits::TRAILER;
    GrpcMessage = "grpc-message", Traits::TRAILER;
    GrpcTimeout = "grpc-timeout", Traits::PLAIN;
}

/// A name of at most 32 bytes as words, in lower case; two names are equal if and only if their keys are.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FieldNameKey {
    len: usize,
    first: SwarWord,
    second: SwarWord,
    third: SwarWord,
    /// The last eight bytes, or `first` of a shorter name.
    last: SwarWord,
}

impl FieldId {
    /// Returns the ID of a field name in any case; [`FieldId::Other`] for invalid names.
    pub fn from_name(name: &[u8]) -> Self {
        let bytes = NameBytes::of(name);
        if !bytes.are_token() {
            return Self::Other;
        }
        let id = classify(name, name.len());
        if id.is_known() { id } else { classify_unknown(name, &bytes) }
    }

    /// Returns the name in lower case; empty for [`FieldId::Other`], [`FieldId::XForwarded`] and [`FieldId::Alias`].
    pub fn name(self) -> &'static str {
        NAMES.get(self as usize).copied().unwrap_or_default()
    }

    /// Whether the ID identifies a single name, so that equal IDs mean equal names.
    pub fn is_known(self) -> bool {
        !matches!(self, Self::Other | Self::XForwarded | Self::Alias)
    }

    /// Returns the forwarding rules of the field.
    #[inline]
    #[expect(clippy::indexing_slicing, reason = "an id is a byte, and the table has a place for each")]
    pub(crate) fn traits(self) -> Traits {
        TRAITS[self as usize]
    }

    /// Returns the bit of this ID in a set of the first 64 IDs; zero for later ones.
    #[inline]
    pub(crate) fn bit(self) -> u64 {
        1_u64.checked_shl(self as u32).unwrap_or(0)
    }
}

/// Returns the ID of the known name in the first `len` bytes, which have no control byte or space; `Other` if none.
#[inline]
pub(crate) fn classify(bytes: &[u8], len: usize) -> FieldId {
    if len > NAME_BYTES_MAX || len == 0 {
        return FieldId::Other;
    }
    let word = |at: usize| fold(load(bytes.get(at..).unwrap_or_default()));
    let first = fold(load(bytes)) & mask(len);
    let last = if len >= 8 { word(len - 8) } else { first };
    let id = SLOTS.get(slot(first, last, len)).copied().unwrap_or_default();
    let Some(key) = KEYS.get(id as usize) else { return FieldId::Other };
    let is_same = key.len == len
        && key.first == first
        && key.last == last
        && (len <= 16 || key.second == word(8) & mask(len - 8))
        && (len <= 24 || key.third == word(16) & mask(len - 16));
    if is_same { id } else { FieldId::Other }
}

/// Returns the class of an unknown name; `None` if it is not a token.
pub(crate) fn check_unknown(name: &[u8]) -> Option<FieldId> {
    let bytes = NameBytes::of(name);
    (bytes.are_token() && !name.is_empty()).then(|| classify_unknown(name, &bytes))
}

/// Whether `name` equals `other`, in any case, when all separators are treated as the same.
///
/// Programs that map names to variables (CGI and its successors) see the two as one field.
pub(crate) fn is_alias_of(name: &[u8], other: &[u8]) -> bool {
    name.len() == other.len() && name.iter().zip(other).all(|(a, b)| fold_byte(*a) == fold_byte(*b))
}

fn classify_unknown(name: &[u8], bytes: &NameBytes) -> FieldId {
    let has_family =
        name.len() > FAMILY.len() && name.get(..FAMILY.len()).is_some_and(|head| is_alias_of(head, FAMILY));
    if bytes.are_plain() {
        return if has_family { FieldId::XForwarded } else { FieldId::Other };
    }
    if has_family {
        return FieldId::Alias;
    }
    let mut folded = [0; NAME_BYTES_MAX];
    let Some(place) = folded.get_mut(..name.len()) else { return FieldId::Other };
    for (to, from) in place.iter_mut().zip(name) {
        *to = fold_byte(*from);
    }
    if classify(place, name.len()).is_known() { FieldId::Alias } else { FieldId::Other }
}

/// Converts to lower case and every byte except letters and digits to `-`.
fn fold_byte(byte: u8) -> u8 {
    if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase() } else { b'-' }
}

/// Converts letters to lower case; exact for names of letters, digits and `-`, where bytes below 0x21 are ruled out.
#[inline(always)]
const fn fold(word: SwarWord) -> SwarWord {
    word | 0x2020_2020_2020_2020
}

/// Returns the mask of the first `len` bytes of a word; all bytes for eight or more.
#[inline(always)]
const fn mask(len: usize) -> SwarWord {
    if len >= 8 { SwarWord::MAX } else { (1 << (len * 8)) - 1 }
}

#[inline(always)]
const fn slot(first: SwarWord, last: SwarWord, len: usize) -> usize {
    let mixed = first ^ last.rotate_left(13) ^ ((len as u64) << 56);
    (mixed.wrapping_mul(SLOTS_FACTOR) >> (64 - SLOTS_BITS)) as usize
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn keys() -> [FieldNameKey; IDS.len() + 1] {
    let mut table = [FieldNameKey { len: 0, first: 0, second: 0, third: 0, last: 0 }; IDS.len() + 1];
    let mut index = 0;
    while index < NAMES.len() {
        table[index] = key(NAMES[index].as_bytes());
        index += 1;
    }
    table
}

const fn key(name: &[u8]) -> FieldNameKey {
    let len = name.len();
    assert!(len <= NAME_BYTES_MAX, "a known name fits a key");
    let first = part(name, 0);
    let last = if len >= 8 { part(name, len - 8) } else { first };
    FieldNameKey { len, first, second: part(name, 8), third: part(name, 16), last }
}

/// Returns up to eight bytes of a name in lower case.
const fn part(name: &[u8], at: usize) -> SwarWord {
    if at >= name.len() {
        return 0;
    }
    let (_, rest) = name.split_at(at);
    if rest.len() > 8 { word_of(rest.split_at(8).0) } else { word_of(rest) }
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn slots() -> [FieldId; 1 << SLOTS_BITS] {
    let mut table = [FieldId::Other; 1 << SLOTS_BITS];
    let mut index = 0;
    while index < IDS.len() {
        let id = IDS[index];
        let key = key(NAMES[id as usize].as_bytes());
        let slot = slot(key.first, key.last, key.len);
        assert!(table[slot] as u8 == FieldId::Other as u8, "two names share a slot: choose another factor");
        table[slot] = id;
        index += 1;
    }
    table
}

#[expect(clippy::indexing_slicing, reason = "evaluated by the compiler")]
const fn traits() -> [Traits; 256] {
    let mut table = [Traits::PLAIN; 256];
    let mut index = 0;
    while index < KNOWN_TRAITS.len() {
        table[index] = KNOWN_TRAITS[index];
        index += 1;
    }
    table[FieldId::XForwarded as usize] = Traits::FORWARDED;
    table
}

/// Maximum length of a known name, bytes.
const NAME_BYTES_MAX: usize = 32;

/// Common prefix of the names that only a trusted peer may send.
const FAMILY: &[u8] = b"x-forwarded-";

const SLOTS_BITS: u32 = 9;

/// Chosen such that no two names share a slot; `slots` asserts it.
const SLOTS_FACTOR: u64 = 0x4f1e_ba00_5bd7_4cc9;

static SLOTS: [FieldId; 1 << SLOTS_BITS] = slots();
static KEYS: [FieldNameKey; IDS.len() + 1] = keys();
static TRAITS: [Traits; 256] = traits();
