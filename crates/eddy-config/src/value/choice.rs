//! Keywords of the file format, each with its meaning.

use eddy_route::RegexRank;
use eddy_tls::{ServerCheck, TlsVersion};
use eddy_upstream::{Balance, LinkProtocol};

use crate::acme::AcmeChallenge;
use crate::config::FailoverReason;
use crate::config::LogFormat;
use crate::forward::ProxyVersion;
use crate::read::{FromScalar, Misfit, WordInfo, WordKind, listed};

/// Minimum severity of messages that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogLevelName(pub(crate) &'static str);

/// Scheme of a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scheme(pub(crate) &'static str);

/// Status of a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RedirectStatus(pub(crate) u16);

/// Dialect of a route table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DialectName {
    /// eddy's own rules.
    Eddy,
    /// Rules of NGINX.
    Nginx,
}

/// Verification of endpoint certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServerCheckName(pub(crate) ServerCheck);

/// A TLS version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TlsVersionName(pub(crate) TlsVersion);

/// ACME challenge that proves control of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChallengeName(pub(crate) AcmeChallenge);

/// A version of the PROXY protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProxyVersionName(pub(crate) ProxyVersion);

/// Transport protocol of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransportName {
    /// TCP connections.
    Tcp,
    /// UDP datagrams.
    Udp,
}

/// A keyword, its value and its meaning.
pub(super) type Meaning<T> = (&'static str, T, &'static str);

impl FromScalar for Balance {
    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, BALANCES)
    }

    fn info() -> WordInfo {
        info(BALANCES, WordKind::Text)
    }
}

impl FromScalar for LinkProtocol {
    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, PROTOCOLS)
    }

    fn info() -> WordInfo {
        info(PROTOCOLS, WordKind::Text)
    }
}

impl FromScalar for FailoverReason {
    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, FAILOVER_REASONS)
    }

    fn info() -> WordInfo {
        info(FAILOVER_REASONS, WordKind::Text)
    }
}

impl FromScalar for LogFormat {
    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, FORMATS)
    }

    fn info() -> WordInfo {
        info(FORMATS, WordKind::Text)
    }
}

impl FromScalar for LogLevelName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, LEVELS)
    }

    fn info() -> WordInfo {
        info(LEVELS, WordKind::Text)
    }
}

impl FromScalar for Scheme {
    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, SCHEMES)
    }

    fn info() -> WordInfo {
        info(SCHEMES, WordKind::Text)
    }
}

impl FromScalar for RedirectStatus {
    const IS_PLAIN: bool = true;

    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, REDIRECT_STATUSES)
    }

    fn info() -> WordInfo {
        info(REDIRECT_STATUSES, WordKind::Number { least: 301, most: 308 })
    }
}

impl FromScalar for RegexRank {
    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, REGEX_RANKS)
    }

    fn info() -> WordInfo {
        info(REGEX_RANKS, WordKind::Text)
    }
}

impl FromScalar for DialectName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, DIALECTS).map_err(|_| {
            let known: Vec<&str> = DIALECTS.iter().map(|(word, ..)| *word).collect();
            Misfit::reason(format!(
                "is not a dialect that this version reads; there is {}",
                listed(&known, "and")
            ))
        })
    }

    fn info() -> WordInfo {
        info(DIALECTS, WordKind::Text)
    }
}

impl FromScalar for TlsVersionName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, TLS_VERSIONS)
    }

    fn info() -> WordInfo {
        info(TLS_VERSIONS, WordKind::Text)
    }
}

impl FromScalar for TransportName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, TRANSPORTS)
    }

    fn info() -> WordInfo {
        info(TRANSPORTS, WordKind::Text)
    }
}

impl FromScalar for ChallengeName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        if text == "dns-01" {
            return Err(Misfit::form(
                "eddy writes no records of DNS: name each host, and use one of the others",
            ));
        }
        choose(text, CHALLENGES)
    }

    fn info() -> WordInfo {
        info(CHALLENGES, WordKind::Text)
    }
}

impl FromScalar for ProxyVersionName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, PROXY_VERSIONS)
    }

    fn info() -> WordInfo {
        info(PROXY_VERSIONS, WordKind::Text)
    }
}

impl FromScalar for ServerCheckName {
    fn parse(text: &str) -> Result<Self, Misfit> {
        choose(text, SERVER_CHECKS)
    }

    fn info() -> WordInfo {
        info(SERVER_CHECKS, WordKind::Text)
    }
}

pub(super) fn choose<T: Copy>(text: &str, meanings: &[Meaning<T>]) -> Result<T, Misfit> {
    if let Some((_, value, _)) = meanings.iter().find(|(word, ..)| *word == text) {
        return Ok(*value);
    }
    // Numbers are not suggested: one number is not a misspelling of another.
    let words = meanings.iter().map(|(word, ..)| *word);
    Err(Misfit::Choice {
        words: words.filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())).collect(),
    })
}

pub(super) fn info<T>(meanings: &[Meaning<T>], kind: WordKind) -> WordInfo {
    let words: Vec<&str> = meanings.iter().map(|(word, ..)| *word).collect();
    let choices = meanings.iter().map(|(word, _, meaning)| (*word, *meaning)).collect();
    WordInfo { kind, choices, ..WordInfo::text(&listed(&words, "or")) }
}

const BALANCES: &[Meaning<Balance>] = &[
    ("round_robin", Balance::RoundRobin, "each endpoint in turn, smooth by weight"),
    ("least_request", Balance::LeastRequest, "the less loaded of two endpoints drawn at random by weight"),
    ("random", Balance::Random, "at random by weight"),
    (
        "client_address",
        Balance::ClientAddress,
        "the same network of clients to the same endpoint: the first three bytes of an IPv4 address, all of an IPv6 one",
    ),
    (
        "hash",
        Balance::Hash,
        "the same `key` to the same endpoint; another number of endpoints moves most keys",
    ),
    (
        "ring",
        Balance::Ring,
        "the same `key` to the same endpoint; another number of endpoints moves few keys",
    ),
    ("maglev", Balance::Maglev, "as `ring`, and as even as the weights say: over a table of 65,537 places"),
];

const PROTOCOLS: &[Meaning<LinkProtocol>] = &[
    ("http1", LinkProtocol::Http1, "HTTP/1.1, one request at a time on a link"),
    ("http2", LinkProtocol::Http2, "HTTP/2, many requests at once on a link; endpoints must speak it"),
    ("auto", LinkProtocol::Auto, "over TLS HTTP/2 with endpoints that agree, HTTP/1.1 with the others"),
];

const FAILOVER_REASONS: &[Meaning<FailoverReason>] = &[
    (
        "unreachable",
        FailoverReason::Unreachable,
        "no endpoint has looked at the request: none can be reached, or is there, or has room",
    ),
    ("not_found", FailoverReason::NotFound, "the answer was 404"),
    (
        "any",
        FailoverReason::Any,
        "`unreachable`, no answer in time or to its end, or one of 404 or 500 and above",
    ),
];

const FORMATS: &[Meaning<LogFormat>] =
    &[("text", LogFormat::Text, "a line for people"), ("json", LogFormat::Json, "a JSON object a line")];

const LEVELS: &[Meaning<LogLevelName>] = &[
    ("error", LogLevelName("error"), "what failed"),
    ("warn", LogLevelName("warn"), "what will need attention, too"),
    ("info", LogLevelName("info"), "starts, reloads and stops, too"),
    ("debug", LogLevelName("debug"), "what eddy decides and why, too"),
    ("trace", LogLevelName("trace"), "everything"),
];

const SCHEMES: &[Meaning<Scheme>] =
    &[("http", Scheme("http"), "without TLS"), ("https", Scheme("https"), "with TLS")];

const TLS_VERSIONS: &[Meaning<TlsVersionName>] = &[
    (
        "tls1.2",
        TlsVersionName(TlsVersion::Tls12),
        "1.2, with forward secrecy and authenticated encryption only, and 1.3",
    ),
    ("tls1.3", TlsVersionName(TlsVersion::Tls13), "1.3 alone"),
];

const PROXY_VERSIONS: &[Meaning<ProxyVersionName>] = &[
    ("v1", ProxyVersionName(ProxyVersion::V1), "a line of text, which every proxy understands"),
    ("v2", ProxyVersionName(ProxyVersion::V2), "binary, shorter and quicker to read"),
];

const TRANSPORTS: &[Meaning<TransportName>] = &[
    ("tcp", TransportName::Tcp, "connections"),
    ("udp", TransportName::Udp, "datagrams, which are passed on by session: it needs `forward`"),
];

const CHALLENGES: &[Meaning<ChallengeName>] = &[
    (
        "tls-alpn-01",
        ChallengeName(AcmeChallenge::TlsAlpn01),
        "in a handshake of TLS with the listener that has the certificate, which the authority reaches at port 443 of each host",
    ),
    (
        "http-01",
        ChallengeName(AcmeChallenge::Http01),
        "by an answer over HTTP, which the authority asks for at port 80 of each host, without TLS",
    ),
];

const SERVER_CHECKS: &[Meaning<ServerCheckName>] = &[
    ("full", ServerCheckName(ServerCheck::Full), "a certificate that an authority has issued for the name"),
    (
        "authority",
        ServerCheckName(ServerCheck::Authority),
        "a certificate that an authority has issued, for whatever name",
    ),
    ("none", ServerCheckName(ServerCheck::Nothing), "any certificate"),
];

const REDIRECT_STATUSES: &[Meaning<RedirectStatus>] = &[
    ("301", RedirectStatus(301), "moved for good; clients may change the method to GET"),
    ("302", RedirectStatus(302), "found elsewhere for now; clients may change the method to GET"),
    ("303", RedirectStatus(303), "see other: clients change the method to GET"),
    ("307", RedirectStatus(307), "elsewhere for now, with the same method"),
    ("308", RedirectStatus(308), "moved for good, with the same method"),
];

const REGEX_RANKS: &[Meaning<RegexRank>] = &[
    (
        "before_prefix",
        RegexRank::BeforePrefix,
        "after exact paths, before prefixes: as most gateways have it",
    ),
    ("before_catch_all", RegexRank::BeforeCatchAll, "after prefixes other than `/`"),
    ("last", RegexRank::Last, "after all prefixes, so that a rule for `/` without conditions hides them"),
];

const DIALECTS: &[Meaning<DialectName>] = &[
    ("eddy", DialectName::Eddy, "eddy's own rules and their order"),
    ("nginx", DialectName::Nginx, "servers and locations of an nginx.conf, from a `file`"),
];
