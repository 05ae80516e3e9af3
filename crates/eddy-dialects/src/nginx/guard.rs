//! Access control directives: `--lenient` never ignores them; requests that an unsupported one decides on are answered
//! 403.

use eddy_route::nginx::BlockAccess;
use eddy_spec::problem::closest;

use super::block::{HTTP, IF, LOCATION, SERVER};
use super::catalogue;
use super::tree::Directive;

/// Access control of a block that eddy cannot carry out.
#[derive(Clone, Debug, Default)]
pub(super) struct Guards {
    /// Names of the directives.
    undecided: Vec<String>,
    /// Whether `deny all` is the first of the `allow` and `deny` rules.
    denies_all: bool,
}

impl Guards {
    /// Returns the guards of an inner block.
    pub(super) fn within(&self, block: &[Directive]) -> Self {
        let mut guards = self.clone();
        // A block with a rule of its own inherits none.
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

    /// Returns the treatment of requests to a place with these guards.
    pub(super) fn block_access(&self) -> BlockAccess {
        BlockAccess { is_closed: self.denies_all || !self.undecided.is_empty(), methods: None }
    }

    fn set(&mut self, name: &str, is_on: bool) {
        self.undecided.retain(|other| other != name);
        if is_on {
            self.undecided.push(name.to_owned());
        }
    }
}

/// Returns the methods that `limit_except` of a location allows, if there is one.
pub(super) fn methods(block: &[Directive]) -> Option<Box<[Box<str>]>> {
    let directive = block.iter().find(|directive| directive.name.text == "limit_except")?;
    let named = directive.arguments.iter().map(|word| word.text.to_ascii_uppercase());
    let with_head = named.flat_map(|name| match name.as_str() {
        "GET" => vec![name, "HEAD".to_owned()],
        _ => vec![name],
    });
    Some(with_head.map(String::into_boxed_str).collect())
}

/// Whether eddy can carry out an access control directive: it rejects all clients, or none.
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

/// Returns the remark in the published list for a directive that is rejected, in addition to the reason.
pub(super) fn remark(name: &str) -> &'static str {
    match guard_consequence(name, HTTP | SERVER | LOCATION | IF) {
        Consequence::Skipped => "",
        Consequence::Closes => "; with `--lenient`, the requests that it protects are rejected with 403",
        Consequence::Kept(_) => "; even with `--lenient`",
    }
}

/// Effect of `--lenient` on a directive that eddy does not support.
pub(super) enum Consequence {
    Skipped,
    /// Requests that the directive controls are answered 403.
    Closes,
    /// The directive is an error even so, for this reason.
    Kept(&'static str),
}

pub(super) fn guard_consequence(name: &str, here: u16) -> Consequence {
    if let Some((_, reason)) = KEPT.iter().find(|(kept, _)| *kept == name) {
        return Consequence::Kept(reason);
    }
    match is_guard(name) {
        true if here & (HTTP | SERVER | LOCATION | IF) != 0 => Consequence::Closes,
        true => Consequence::Kept("it may control access"),
        false => Consequence::Skipped,
    }
}

fn is_access_rule(directive: &Directive) -> bool {
    matches!(directive.name.text.as_str(), "allow" | "deny")
}

/// Whether a rule is `allow all` or `deny all`.
fn is_plain_rule(directive: &Directive) -> bool {
    is_rule(directive, "allow") || is_rule(directive, "deny")
}

fn is_rule(directive: &Directive, name: &str) -> bool {
    directive.name.text == name && matches!(directive.arguments.as_slice(), [all] if all.text == "all")
}

pub(super) fn is_off(directive: &Directive) -> bool {
    matches!(directive.arguments.as_slice(), [word] if word.text == "off")
}

/// Whether a directive controls access, as far as its name tells.
fn is_guard(name: &str) -> bool {
    if GUARDS.contains(&name) {
        return true;
    }
    // For an unknown directive, the name is the only information.
    let is_known = catalogue::find(name, u16::MAX).is_some();
    let is_alike = || BEGINNINGS.iter().any(|beginning| name.to_ascii_lowercase().starts_with(beginning));
    let mut budget = COMPARISONS_MAX;
    !is_known && (is_alike() || closest(name, GUARDS.iter().copied(), &mut budget).is_some())
}

/// Work spent on guessing whether a name was meant as that of an access control directive.
const COMPARISONS_MAX: usize = 10_000;

/// Directives that control access.
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

/// Prefixes of access control directives in modules that are not part of NGINX.
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

/// Directives that are never ignored, with the reason.
const KEPT: &[(&str, &str)] = &[
    ("proxy_ssl_crl", "revoked certificates would be accepted"),
    ("real_ip_header", "the address of the proxy in front would count as the client address"),
    ("set_real_ip_from", "the address of the proxy in front would count as the client address"),
    ("ssl", "clients would be served without TLS"),
    ("ssl_ocsp", "revoked certificates would be accepted"),
];
