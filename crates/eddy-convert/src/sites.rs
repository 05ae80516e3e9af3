//! Converts NGINX servers and locations to rules, as far as ordered rules can express them.
//!
//! Ranks preserve NGINX's order: exact paths, prefixes with `^~`, regular expressions, other prefixes, and finally the
//! server itself, so that no rule of a less specific host applies instead.

use std::collections::HashSet;

use eddy_config::{Action, ActionKind, GatewayConfig, Redirect, Respond, SitesAt, SitesConfig};
use eddy_route::nginx::{
    BlockKind, BlockSpec, FieldText, LetterCase, LocationHandler, NameForm, ProxyPassSettings,
    ProxyPassTarget, RewriteDirective, Sites, TextTemplate, TryFilesFallback,
};
use eddy_route::{HostPattern, PathPattern, PathRewrite, Rule};

use super::named::is_name_letter;
use super::plain::{Loss, PlainRule};

/// Returns the rules of the servers that listen at an address.
pub(super) fn rules(config: &GatewayConfig, at: SitesAt, losses: &mut Vec<Loss>) -> Vec<PlainRule> {
    let sites = &config.sites[at.sites];
    let listening = &sites.program.addresses()[at.address];
    let mut lowering = SitesConverter {
        config: sites,
        sites: &sites.program,
        losses,
        rules: Vec::new(),
        taken: HashSet::new(),
    };
    for server in &listening.servers {
        lowering.server(*server, *server == listening.default);
    }
    lowering.rules
}

struct SitesConverter<'l> {
    config: &'l SitesConfig,
    sites: &'l Sites,
    losses: &'l mut Vec<Loss>,
    rules: Vec<PlainRule>,
    /// Hosts of earlier servers.
    taken: HashSet<HostPattern>,
}

/// Locations of a server: those with paths, and those with regular expressions, in their order.
#[derive(Default)]
struct ServerLocations {
    paths: Vec<u32>,
    patterns: Vec<u32>,
}

impl<'l> SitesConverter<'l> {
    fn add_loss(&mut self, place: &BlockSpec, reason: &str) {
        let reason = format!("`{}`: {reason}", place.name);
        self.losses.push(Loss { origin: place.origin.clone(), reason });
    }

    fn server(&mut self, server: u32, is_default: bool) {
        let sites = self.sites;
        let spec = &sites.servers()[server as usize];
        let place = &sites.places()[spec.place as usize];
        let mut hosts = Vec::new();
        for name in &spec.names {
            match &name.form {
                NameForm::Exact(host) if !host.is_empty() => hosts.push(HostPattern::Exact(host.to_string())),
                NameForm::Exact(_) if is_default => {}
                NameForm::Leading(end) => {
                    hosts.push(HostPattern::Suffix(end.trim_start_matches('.').to_owned()));
                }
                NameForm::Domain(domain) => {
                    hosts.push(HostPattern::Exact(domain.to_string()));
                    hosts.push(HostPattern::Suffix(domain.to_string()));
                }
                NameForm::Exact(_) | NameForm::Trailing(_) | NameForm::Pattern(_) => {
                    self.add_loss(
                        place,
                        &format!("hosts like `{}` cannot be expressed; they are left out", name.text),
                    );
                }
            }
        }
        hosts.retain(|host| self.taken.insert(host.clone()));
        let mut own = Vec::new();
        self.locations(spec.place, &spec.locations, &mut own);
        // The default server also has the hosts of no other server: its rules apply to any host as well.
        let named = (!hosts.is_empty()).then_some(hosts);
        for hosts in named.into_iter().chain(is_default.then(Vec::new)) {
            for plain in &own {
                let mut rule = plain.rule.clone();
                rule.hosts.clone_from(&hosts);
                rule.name = format!("{}/{}", rule.name, self.rules.len() + 1).into();
                self.rules.push(PlainRule { rule, action: plain.action.clone() });
            }
        }
    }

    fn locations(&mut self, server: u32, locations: &[u32], own: &mut Vec<PlainRule>) {
        let places = self.sites.places();
        let place = &places[server as usize];
        match place.steps.as_slice() {
            [] => {}
            [RewriteDirective::Return { .. }, ..] => {
                if let Some((action, rewrite)) = self.action(server, place, None) {
                    push(own, place, PathPattern::Any, CLOSING, action, rewrite);
                }
                return;
            }
            _ => self.add_loss(place, "`if`, `rewrite` and `set` of the server are left out"),
        }
        let mut level = ServerLocations::default();
        let has_patterns = self.has_patterns(locations);
        self.collect_locations(locations, has_patterns, &mut level);
        self.check_final_prefixes(&level);
        let paths = level.paths.iter().map(|index| &places[*index as usize]);
        let texts: HashSet<&str> = paths.clone().map(text_of).collect();
        let exacts: HashSet<&str> =
            paths.filter(|place| matches!(place.kind, BlockKind::Exact(_))).map(text_of).collect();
        // Without regular expressions, `^~` has no effect.
        let final_rank = if level.patterns.is_empty() { PLAIN } else { FINAL };
        for index in &level.paths {
            let location = &places[*index as usize];
            let (BlockKind::Exact(text) | BlockKind::Prefix(text) | BlockKind::FinalPrefix(text)) =
                &location.kind
            else {
                continue;
            };
            if !is_plain_path(text) {
                self.add_loss(
                    location,
                    "its path is not in the normal form of request paths; it is left out",
                );
                continue;
            }
            let is_proxied =
                matches!(location.hand, LocationHandler::Proxy(_)) && location.try_files_fallback.is_none();
            let trimmed = text.strip_suffix('/').filter(|trimmed| !trimmed.is_empty());
            let redirected = trimmed.filter(|trimmed| is_proxied && !texts.contains(trimmed));
            if let Some(trimmed) = redirected {
                let to = Some(PathRewrite::Full(text.to_string()));
                let action = redirect(301, None, None, RedirectQuery::Kept);
                push(own, location, PathPattern::Exact(trimmed.to_owned()), 0, action, to);
            }
            let has_twin = redirected.is_some() || trimmed.is_some_and(|trimmed| exacts.contains(trimmed));
            self.static_rule(*index, text, (has_twin, final_rank), own);
        }
        for (number, index) in (0..).zip(&level.patterns) {
            self.pattern_rule(*index, number, own);
        }
        if let Some((action, rewrite)) = self.action(server, place, None) {
            push(own, place, PathPattern::Any, CLOSING, action, rewrite);
        }
    }

    /// Adds the rule of a location with a path. With `has_twin`, another rule has the path without its final slash.
    /// `final_rank` is the rank of prefixes with `^~`, before they are ordered by length.
    fn static_rule(
        &mut self,
        index: u32,
        text: &str,
        (has_twin, final_rank): (bool, i32),
        own: &mut Vec<PlainRule>,
    ) {
        let place = &self.sites.places()[index as usize];
        let length = i32::try_from(text.len()).unwrap_or(LENGTH_MAX).min(LENGTH_MAX);
        let (mut path, rank) = match &place.kind {
            BlockKind::Exact(_) => (PathPattern::Exact(text.to_owned()), 0),
            BlockKind::FinalPrefix(_) => (PathPattern::Prefix(text.to_owned()), final_rank - length),
            BlockKind::Server
            | BlockKind::Prefix(_)
            | BlockKind::Pattern(_)
            | BlockKind::Named(_)
            | BlockKind::If => (PathPattern::Prefix(text.to_owned()), PLAIN - length),
        };
        let is_by_segment = text == "/" || text.ends_with('/') && has_twin;
        let Some((action, rewrite)) = self.action(index, place, Some(text)) else { return };
        let rewrite = match (rewrite, &path) {
            (Some(PathRewrite::Full(uri)), PathPattern::Exact(_)) => Some(PathRewrite::Full(uri)),
            (Some(PathRewrite::Full(to)), _) if matches!(action.kind, ActionKind::Redirect(_)) => {
                Some(PathRewrite::Full(to))
            }
            (Some(PathRewrite::Full(uri)), _) if is_by_segment && uri.ends_with('/') => {
                Some(PathRewrite::Prefix(uri))
            }
            (Some(PathRewrite::Full(uri)), _) => {
                path = PathPattern::Regex(format!("{}(?P<rest>(?s:.*))", regex_syntax::escape(text)));
                Some(PathRewrite::Full(format!("{uri}{{rest}}")))
            }
            (rewrite, _) => rewrite,
        };
        if matches!(path, PathPattern::Prefix(_)) && !is_by_segment {
            path = PathPattern::Regex(format!("{}(?s:.*)", regex_syntax::escape(text)));
        }
        push(own, place, path, rank, action, rewrite);
    }

    fn pattern_rule(&mut self, index: u32, number: i32, own: &mut Vec<PlainRule>) {
        let place = &self.sites.places()[index as usize];
        let BlockKind::Pattern(pattern) = &place.kind else { return };
        let flag = if pattern.letter_case() == LetterCase::Ignored { "i" } else { "" };
        let expression = format!("(?s:.*)(?{flag}:{})(?s:.*)", pattern.syntax());
        if let Some((action, rewrite)) = self.action(index, place, None) {
            push(own, place, PathPattern::Regex(expression), PATTERNS + number, action, rewrite);
        }
    }

    fn has_patterns(&self, locations: &[u32]) -> bool {
        locations.iter().any(|index| {
            let place = &self.sites.places()[*index as usize];
            matches!(place.kind, BlockKind::Pattern(_)) || self.has_patterns(&place.locations)
        })
    }

    /// Collects locations, including nested ones if flattening them changes nothing.
    fn collect_locations(&mut self, locations: &[u32], has_patterns: bool, level: &mut ServerLocations) {
        let places = self.sites.places();
        for index in locations {
            let place = &places[*index as usize];
            match place.kind {
                BlockKind::Named(_) | BlockKind::Server | BlockKind::If => continue,
                BlockKind::Pattern(_) => level.patterns.push(*index),
                BlockKind::Exact(_) | BlockKind::Prefix(_) | BlockKind::FinalPrefix(_) => {
                    level.paths.push(*index);
                }
            }
            if place.locations.is_empty() {
                continue;
            }
            let is_covered = |inner: &u32| {
                let inner = text_of(&places[*inner as usize]);
                locations.iter().any(|other| {
                    let (own, other) = (text_of(place), text_of(&places[*other as usize]));
                    other.len() > own.len() && !other.is_empty() && inner.starts_with(other)
                })
            };
            if has_patterns || place.locations.iter().any(is_covered) {
                self.add_loss(
                    place,
                    "its nested locations are left out: no order of rules tries them as NGINX does",
                );
                continue;
            }
            self.collect_locations(&place.locations, has_patterns, level);
        }
    }

    /// Reports `^~` prefixes that a longer prefix without `^~` disables, which ordered rules cannot express.
    fn check_final_prefixes(&mut self, level: &ServerLocations) {
        if level.patterns.is_empty() {
            return;
        }
        let places = self.sites.places();
        for index in &level.paths {
            let place = &places[*index as usize];
            let BlockKind::FinalPrefix(text) = &place.kind else { continue };
            let is_undone = level.paths.iter().any(|other| {
                matches!(&places[*other as usize].kind, BlockKind::Prefix(longer) if longer.len() > text.len() && longer.starts_with(&**text))
            });
            if is_undone {
                self.add_loss(
                    place,
                    "NGINX tries regular expressions after longer prefixes without `^~`; these rules do not",
                );
            }
        }
    }

    /// Returns the action of a location, and the path that replaces the whole path or the location's text.
    fn action(
        &mut self,
        index: u32,
        place: &BlockSpec,
        text: Option<&str>,
    ) -> Option<(Action, Option<PathRewrite>)> {
        if !place.error_pages.is_empty() {
            self.add_loss(place, "`error_page` is left out");
        }
        if place.is_internal {
            return Some((respond(404, "", "text/plain"), None));
        }
        if place.guard.methods.is_some() {
            self.add_loss(place, "`limit_except` cannot be expressed; it is left out");
            return None;
        }
        let (mut action, rewrite) = match (place.steps.first(), &place.try_files_fallback) {
            (None, _) if place.guard.is_closed => (respond(403, "", "text/plain"), None),
            (Some(RewriteDirective::Return { status, text }), _) => {
                self.returned(place, *status, text.as_ref())?
            }
            (Some(_), _) => {
                self.add_loss(place, "its `if`, `rewrite` or `set` cannot be expressed; it is left out");
                return None;
            }
            (None, Some(TryFilesFallback::Status(status))) => (respond(*status, "", "text/plain"), None),
            (None, Some(TryFilesFallback::Named(name))) => {
                let named = self.named(index, name)?;
                return self.action(index, named, text);
            }
            (None, Some(TryFilesFallback::Path(_))) => {
                self.add_loss(place, "`try_files` to a path cannot be expressed; it is left out");
                return None;
            }
            (None, None) => match &place.hand {
                LocationHandler::None => (respond(404, "", "text/plain"), None),
                LocationHandler::Proxy(proxy) => self.proxied(place, proxy, text)?,
            },
        };
        for field in place.added_headers.iter() {
            self.answer_field(place, field, &mut action);
        }
        Some((action, rewrite))
    }

    fn named(&self, index: u32, name: &str) -> Option<&'l BlockSpec> {
        let sites = self.sites;
        let server = &sites.servers()[sites.server_of(index) as usize];
        let mut places = server.locations.iter().map(|index| &sites.places()[*index as usize]);
        places.find(|place| matches!(&place.kind, BlockKind::Named(own) if **own == *name))
    }

    fn returned(
        &mut self,
        place: &BlockSpec,
        status: u16,
        text: Option<&TextTemplate>,
    ) -> Option<(Action, Option<PathRewrite>)> {
        let written = text.map_or("", TextTemplate::written);
        if matches!(status, 301 | 302 | 303 | 307 | 308) {
            let moved = moved_to(status, written);
            if moved.is_none() {
                self.add_loss(
                    place,
                    &format!("the redirect to `{written}` cannot be expressed; it is left out"),
                );
            }
            return moved;
        }
        if !(200..=599).contains(&status) || written.contains('$') {
            self.add_loss(place, &format!("`return {status} {written}` cannot be expressed; it is left out"));
            return None;
        }
        Some((respond(status, written, &place.default_type), None))
    }

    fn proxied(
        &mut self,
        place: &BlockSpec,
        proxy: &ProxyPassSettings,
        text: Option<&str>,
    ) -> Option<(Action, Option<PathRewrite>)> {
        let ProxyPassTarget::Fixed { action, host, .. } = &proxy.upstream else {
            self.add_loss(place, "an upstream given by variables cannot be expressed; it is left out");
            return None;
        };
        let mut own = Action::clone(self.config.action(*action));
        match proxy.host.written() {
            "$proxy_host" => own.host_rewrite = Some((**host).into()),
            "$http_host" => {}
            "$host" => self.add_loss(place, "`$host` is sent as in the request, with its port"),
            plain if !plain.contains('$') => own.host_rewrite = Some(plain.into()),
            other => self.add_loss(place, &format!("`Host {other}` is left out")),
        }
        for field in &proxy.fields {
            let edited = match field.value.as_plain().map(std::str::from_utf8) {
                Some(Ok("")) => own.request_edits.remove(&field.name).is_ok(),
                Some(Ok(value)) => own.request_edits.set(&field.name, value).is_ok(),
                Some(Err(_)) | None => false,
            };
            if !edited {
                self.add_loss(
                    place,
                    &format!("the header `{} {}` is left out", field.name, field.value.written()),
                );
            }
        }
        let rewrite = match (&proxy.uri, text) {
            (Some(uri), Some(_)) if uri.contains(['?', '{', '}', '%']) => {
                self.add_loss(
                    place,
                    &format!("the URI `{uri}` of `proxy_pass` cannot be expressed; it is left out"),
                );
                return None;
            }
            (Some(uri), Some(text)) if **uri != *text => Some(PathRewrite::Full(uri.to_string())),
            (Some(_) | None, _) => None,
        };
        Some((own, rewrite))
    }

    fn answer_field(&mut self, place: &BlockSpec, field: &FieldText, action: &mut Action) {
        let is_usual = match &action.kind {
            ActionKind::Respond(respond) => matches!(respond.status, 200 | 201 | 204 | 206 | 304),
            ActionKind::Redirect(_) => true,
            ActionKind::Cluster(_)
            | ActionKind::Weighted(_)
            | ActionKind::Split(_)
            | ActionKind::Sites(_) => field.is_for_all,
        };
        let is_proxied = matches!(action.kind, ActionKind::Cluster(_) | ActionKind::Weighted(_));
        let value = field.value.as_plain().and_then(|value| std::str::from_utf8(value).ok());
        let added = match value {
            Some("") => true,
            Some(_) if !is_usual && !field.is_for_all && !is_proxied => true,
            Some(value) if is_usual || field.is_for_all => {
                action.response_edits.add(&field.name, value).is_ok()
            }
            Some(_) | None => false,
        };
        if !added {
            let reason = format!("`add_header {} {}` is left out", field.name, field.value.written());
            self.add_loss(place, &reason);
        }
    }
}

fn push(
    own: &mut Vec<PlainRule>,
    place: &BlockSpec,
    path: PathPattern,
    rank: i32,
    mut action: Action,
    rewrite: Option<PathRewrite>,
) {
    action.filters.clear();
    let letters = place.name.chars().map(|letter| if is_name_letter(letter) { letter } else { '_' });
    let name: String = letters.take(NAME_LETTERS_MAX).collect();
    let name = name.trim_start_matches(|first: char| !first.is_ascii_alphanumeric());
    let rule =
        Rule { path, rank: (rank != 0).then_some(rank), rewrite, ..Rule::new(name, place.origin.clone()) };
    own.push(PlainRule { rule, action });
}

fn respond(status: u16, body: &str, content_type: &str) -> Action {
    let kind = ActionKind::Respond(Respond {
        status,
        body: body.as_bytes().into(),
        content_type: content_type.into(),
    });
    Action::new(kind)
}

/// Handling of the query of a redirected request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RedirectQuery {
    Kept,
    Dropped,
}

fn redirect(status: u16, scheme: Option<&str>, host: Option<&str>, query: RedirectQuery) -> Action {
    let (scheme, host) = (scheme.map(Into::into), host.map(Into::into));
    Action::new(ActionKind::Redirect(Redirect {
        status,
        scheme,
        host,
        strip_query: query == RedirectQuery::Dropped,
        port: None,
        path: None,
        is_absolute: false,
    }))
}

/// Returns the redirect to the target of a `return`.
fn moved_to(status: u16, written: &str) -> Option<(Action, Option<PathRewrite>)> {
    if written.starts_with('/') && is_plain_path(written) {
        return Some((
            redirect(status, None, None, RedirectQuery::Dropped),
            Some(PathRewrite::Full(written.to_owned())),
        ));
    }
    let (scheme, rest) = written.split_once("://")?;
    if !matches!(scheme, "http" | "https") {
        return None;
    }
    if let Some(host) = rest.strip_suffix("$request_uri") {
        let host = if host == "$host" { None } else { Some(host) };
        if host.is_some_and(|host| host.is_empty() || host.contains(['$', '/', '?'])) {
            return None;
        }
        return Some((redirect(status, Some(scheme), host, RedirectQuery::Kept), None));
    }
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = if path.is_empty() { "/" } else { path };
    if host.is_empty() || host.contains('$') || !is_plain_path(path) {
        return None;
    }
    let to = PathRewrite::Full(path.to_owned());
    Some((redirect(status, Some(scheme), Some(host), RedirectQuery::Dropped), Some(to)))
}

/// Whether a request for this path has exactly these bytes.
fn is_plain_path(path: &str) -> bool {
    path.starts_with('/')
        && !path.contains("//")
        && !path.split('/').any(|segment| matches!(segment, "." | ".."))
        && path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/-._~!&'()*+,;=:@".contains(&byte))
}

/// Returns the path of a location; empty for a location without a path.
fn text_of(place: &BlockSpec) -> &str {
    match &place.kind {
        BlockKind::Exact(text) | BlockKind::Prefix(text) | BlockKind::FinalPrefix(text) => text,
        BlockKind::Server | BlockKind::Pattern(_) | BlockKind::Named(_) | BlockKind::If => "",
    }
}

/// Maximum length of a rule name, without its number.
const NAME_LETTERS_MAX: usize = 100;
const LENGTH_MAX: i32 = 5000;
/// Ranks: exact paths have 0, longer prefixes precede shorter ones.
const FINAL: i32 = LENGTH_MAX + 1;
const PATTERNS: i32 = 10_000;
const PLAIN: i32 = 1_000_000;
const CLOSING: i32 = 2_000_000;
