//! Directives that guard: `--lenient` never passes over them; what they would decide on is answered 403.

use eddy_route::nginx::PlaceGuard;

use super::block::{HTTP, IF, LOCATION, SERVER};
use super::catalogue::{self, DirectiveInfo, Use};
use super::reader::NginxReader;
use super::tree::Directive;
use crate::check::Leniency;
use crate::problem::{SourceSpan, closest};

/// The guards that hold in a block and that eddy cannot carry out.
#[derive(Clone, Debug, Default)]
pub(super) struct Guards {
    /// The names of the directives.
    undecided: Vec<String>,
    /// Whether `deny all` is the first of `allow` and `deny`.
    denies_all: bool,
}

impl Guards {
    /// The guards of a block within.
    pub(super) fn within(&self, block: &[Directive]) -> Self {
        let mut guards = self.clone();
        // A block that has a rule of its own has none of those outside.
        if let Some(first) = block.iter().find(|directive| is_access_rule(directive)) {
            guards.denies_all = is_rule(first, "deny");
            guards.set("deny", !is_plain_rule(first));
        }
        for directive in block {
            let name = directive.name.text.as_str();
            if !is_access_rule(directive) && name != "limit_except" && is_guard(name) {
                guards.set(name, !is_off(directive));
            }
        }
        guards
    }

    /// What becomes of requests to a place with these guards.
    pub(super) fn place_guard(&self) -> PlaceGuard {
        PlaceGuard { is_closed: self.denies_all || !self.undecided.is_empty(), methods: None }
    }

    fn set(&mut self, name: &str, is_on: bool) {
        self.undecided.retain(|other| other != name);
        if is_on {
            self.undecided.push(name.to_owned());
        }
    }
}

/// The methods that `limit_except` of a location lets in, if it has one.
pub(super) fn methods(block: &[Directive]) -> Option<Box<[Box<str>]>> {
    let directive = block.iter().find(|directive| directive.name.text == "limit_except")?;
    let named = directive.arguments.iter().map(|word| word.text.to_ascii_uppercase());
    let with_head = named.flat_map(|name| match name.as_str() {
        "GET" => vec![name, "HEAD".to_owned()],
        _ => vec![name],
    });
    Some(with_head.map(String::into_boxed_str).collect())
}

/// Whether a directive guards in a way that eddy carries out: everybody is turned away, or nobody.
pub(super) fn is_decided(directive: &Directive) -> bool {
    match directive.name.text.as_str() {
        "allow" | "deny" => is_plain_rule(directive),
        "limit_except" => {
            let block = directive.block.as_deref().unwrap_or_default();
            block.first().is_some_and(|first| is_rule(first, "deny")) && block.iter().all(is_access_rule)
        }
        _ => false,
    }
}

/// What the published list says of a directive that is refused, beside the reason.
pub(super) fn remark(name: &str) -> &'static str {
    match guard_consequence(name, HTTP | SERVER | LOCATION | IF) {
        Consequence::PassedOver => "",
        Consequence::Closes => "; with `--lenient` the requests that it guards are answered 403",
        Consequence::Kept(_) => "; with `--lenient`, too",
    }
}

/// What `--lenient` makes of a directive that eddy does not have.
enum Consequence {
    PassedOver,
    /// The requests that it guards are answered 403.
    Closes,
    /// It is an error all the same, for this reason.
    Kept(&'static str),
}

fn guard_consequence(name: &str, here: u16) -> Consequence {
    if let Some((_, reason)) = KEPT.iter().find(|(kept, _)| *kept == name) {
        return Consequence::Kept(reason);
    }
    match is_guard(name) {
        true if here & (HTTP | SERVER | LOCATION | IF) != 0 => Consequence::Closes,
        true => Consequence::Kept("it may guard"),
        false => Consequence::PassedOver,
    }
}

impl NginxReader<'_> {
    /// Notes a directive that eddy does not have, or does not know; one that guards is not passed over.
    pub(super) fn refuse_directive(
        &mut self,
        directive: &Directive,
        here: u16,
        message: String,
        hint: Option<String>,
    ) {
        let (place, is_lenient) = (directive.name.place, self.leniency == Leniency::Lenient);
        match guard_consequence(&directive.name.text, here) {
            Consequence::Kept(reason) if !is_off(directive) => {
                let hint = hint.unwrap_or_else(|| format!("`--lenient` does not pass over it: {reason}"));
                self.report.error(place, message).hint(hint);
            }
            Consequence::Closes if is_lenient && !is_off(directive) => {
                let message = format!("{message}; the requests that it guards are answered 403");
                self.report.warning(place, message).hint("take it out to let them through");
            }
            Consequence::Closes if !is_off(directive) => {
                let usual = "take it out, or give `--lenient` to answer what it guards with 403";
                self.refuse(place, message, hint.unwrap_or_else(|| usual.to_owned()));
            }
            Consequence::PassedOver | Consequence::Closes | Consequence::Kept(_) => {
                let usual = "take it out, or give `--lenient` to pass over it";
                self.refuse(place, message, hint.unwrap_or_else(|| usual.to_owned()));
            }
        }
    }

    /// Notes that `--lenient` makes an answer of 403 of something in a program, which decides what is let through.
    pub(super) fn note_denial(&mut self, place: SourceSpan) {
        if self.leniency == Leniency::Lenient {
            self.report
                .warning(
                    place,
                    "what eddy cannot read may guard; the requests that come here are answered 403",
                )
                .hint("take it out to let them through");
        }
    }
}

fn is_access_rule(directive: &Directive) -> bool {
    matches!(directive.name.text.as_str(), "allow" | "deny")
}

/// Whether it is `allow all` or `deny all`.
fn is_plain_rule(directive: &Directive) -> bool {
    is_rule(directive, "allow") || is_rule(directive, "deny")
}

fn is_rule(directive: &Directive, name: &str) -> bool {
    directive.name.text == name && matches!(directive.arguments.as_slice(), [all] if all.text == "all")
}

fn is_off(directive: &Directive) -> bool {
    matches!(directive.arguments.as_slice(), [word] if word.text == "off")
}

/// Whether a directive decides which requests are let through, as far as its name tells.
fn is_guard(name: &str) -> bool {
    if GUARDS.contains(&name) {
        return true;
    }
    // Of a directive that nobody knows, the name is all there is.
    let is_known = catalogue::find(name, u16::MAX).is_some();
    let is_alike = || BEGINNINGS.iter().any(|beginning| name.to_ascii_lowercase().starts_with(beginning));
    let mut budget = COMPARISONS_MAX;
    !is_known && (is_alike() || closest(name, GUARDS.iter().copied(), &mut budget).is_some())
}

/// Work that is spent on whether a name was meant to be that of a guard.
const COMPARISONS_MAX: usize = 10_000;

/// The directives that guard.
const GUARDS: &[&str] = &[
    "allow",
    "auth_basic",
    "auth_jwt",
    "auth_jwt_require",
    "auth_request",
    "deny",
    "limit_except",
    "modsecurity",
];

/// How names of directives of other modules begin that guard.
const BEGINNINGS: &[&str] = &[
    "access_by",
    "app_protect",
    "auth",
    "basicrule",
    "checkrule",
    "deniedurl",
    "ip_access",
    "js_access",
    "jwt",
    "modsecurity",
    "naxsi",
    "oidc",
    "perl_access",
    "rewrite_by",
    "secrules",
    "security_rules",
    "server_rewrite_by",
    "testcookie",
    "vouch",
    "waf",
];

/// Directives that are never passed over, and why.
const KEPT: &[(&str, &str)] = &[
    ("proxy_ssl_crl", "certificates that were revoked would be taken"),
    ("real_ip_header", "the address of the proxy in front would be taken for the client's"),
    ("set_real_ip_from", "the address of the proxy in front would be taken for the client's"),
    ("ssl", "clients would be served without TLS"),
    ("ssl_ocsp", "certificates that were revoked would be taken"),
];

/// Directives of modules that guard, which eddy does not have.
#[rustfmt::skip]
pub(super) static ACCESS: &[DirectiveInfo] = &[
    known("auth_jwt", HTTP | SERVER | LOCATION, (1, 2), Use::Refused("eddy has no JWT module")),
    known("auth_jwt_key_file", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it is for `auth_jwt`")),
    known("auth_jwt_key_request", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it is for `auth_jwt`")),
    known("auth_jwt_require", HTTP | SERVER | LOCATION, (1, usize::MAX), Use::Refused("eddy has no JWT module")),
    known("auth_request_set", HTTP | SERVER | LOCATION, (2, 2), Use::Refused("it is for `auth_request`")),
    known("referer_hash_bucket_size", SERVER | LOCATION, (1, 1), Use::Idle("it is for `valid_referers`")),
    known("referer_hash_max_size", SERVER | LOCATION, (1, 1), Use::Idle("it is for `valid_referers`")),
    known("secure_link", HTTP | SERVER | LOCATION, (1, 1), Use::Refused("eddy has no `$secure_link`; what asks for it is answered 403 with `--lenient`")),
    known("secure_link_md5", HTTP | SERVER | LOCATION, (1, 1), Use::Idle("it is for `secure_link`")),
    known("secure_link_secret", LOCATION, (1, 1), Use::Refused("eddy has no `$secure_link`; what asks for it is answered 403 with `--lenient`")),
    known("valid_referers", SERVER | LOCATION, (1, usize::MAX), Use::Refused("eddy has no `$invalid_referer`; what asks for it is answered 403 with `--lenient`")),
];

const fn known(name: &'static str, blocks: u16, arguments: (usize, usize), use_: Use) -> DirectiveInfo {
    DirectiveInfo { name, blocks, arguments, use_ }
}
