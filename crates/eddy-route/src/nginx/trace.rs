//! Record of the steps of a lookup, for explanations.

use std::fmt;

use serde::Serialize;

use super::names::{NameForm, NameFound};
use super::search::Located;
use super::sites::Sites;
use super::spec::{BlockKind, BlockSpec};
use super::step::{RewriteEnd, RewriteStep};
use crate::compile::PatternScratch;
use crate::normalise::PathFault;

/// A server and the reason for its selection.
#[derive(Clone, Debug, Serialize)]
pub struct ServerChoice {
    /// Server.
    pub server: BlockRef,
    /// Reason.
    pub why: String,
}

/// A server or location and its place in the configuration.
#[derive(Clone, Debug, Serialize)]
pub struct BlockRef {
    /// Name.
    pub name: String,
    /// File.
    pub file: String,
    /// Line.
    pub line: u32,
}

/// A location search, a rewrite, or an internal redirect to a named location.
#[derive(Clone, Debug, Serialize)]
pub struct Hop {
    /// Path at this step.
    pub path: String,
    /// Query at this step.
    pub query: String,
    /// Server or location that was found, if this is a search.
    pub place: Option<BlockRef>,
    /// Reason.
    pub why: String,
    /// Other locations that match the path.
    pub others: Vec<Other>,
}

/// Another location that matches the path.
#[derive(Clone, Debug, Serialize)]
pub struct Other {
    /// Location.
    pub place: BlockRef,
    /// Reason for not selecting it.
    pub why: String,
}

/// Records the steps of a lookup for an explanation.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    pub(super) server: Option<ServerChoice>,
    pub(super) hops: Vec<Hop>,
    pub(super) refused: Option<String>,
}

impl Trace {
    pub(crate) fn refuse(&mut self, fault: PathFault) {
        self.refused = Some(format!("400: {}", fault.reason()));
    }

    pub(crate) fn choose_server(
        &mut self,
        sites: &Sites,
        address: usize,
        host: &[u8],
        found: Option<NameFound>,
    ) {
        let listening = &sites.addresses()[address];
        let server = found.map_or(listening.default, |found| found.server);
        let mut scratch = PatternScratch::default();
        let name = sites.names_of(server).iter().find(|name| name.matches(host, &mut scratch));
        let why = match (found, name) {
            (Some(_), Some(name)) => match &name.form {
                NameForm::Exact(_) => format!("exact name {}", name.text),
                NameForm::Leading(_) => format!("longest leading wildcard: {}", name.text),
                NameForm::Domain(_) => format!("name {} and all its subdomains", name.text),
                NameForm::Trailing(_) => format!("longest trailing wildcard: {}", name.text),
                NameForm::Pattern(_) => format!("first matching expression: {}", name.text),
            },
            _ => format!("no name matches the host: the default server of {}", listening.text),
        };
        let place = &sites.places()[sites.servers()[server as usize].place as usize];
        self.server = Some(ServerChoice { server: place_ref(place), why });
    }

    pub(crate) fn locate(
        &mut self,
        sites: &Sites,
        server_block: u32,
        path: &[u8],
        query: &[u8],
        located: Located,
    ) {
        let (at, why) = match located {
            Located::Nothing => (server_block, "no location matches the path: the server itself"),
            Located::Redirect(place) => {
                (place, "the path lacks the final / of this location, and its proxy_pass redirects there")
            }
            Located::Prefix(place) | Located::Final(place) => {
                (place, match_reason(&sites.places()[place as usize]))
            }
        };
        let mut others = Vec::new();
        add_others(sites, server_block, at, path, &mut others);
        let place = Some(place_ref(&sites.places()[at as usize]));
        self.push(path, query, place, why.to_owned(), others);
    }

    pub(crate) fn send_to_name(&mut self, sites: &Sites, place: u32, path: &[u8], query: &[u8]) {
        let place = Some(place_ref(&sites.places()[place as usize]));
        self.push(path, query, place, "internal redirect to a named location".to_owned(), Vec::new());
    }

    pub(crate) fn rewrite(&mut self, step: &RewriteStep, path: &[u8], query: &[u8]) {
        let end = match step.end {
            RewriteEnd::Next => "continue",
            RewriteEnd::Last => "last",
            RewriteEnd::Break => "break",
            RewriteEnd::Redirect(_) => "redirect",
        };
        let why = format!("rewrite {} {} ({end})", step.pattern.text(), step.text);
        self.push(path, query, None, why, Vec::new());
    }

    fn push(&mut self, path: &[u8], query: &[u8], place: Option<BlockRef>, why: String, others: Vec<Other>) {
        self.hops.push(Hop { path: shown(path), query: shown(query), place, why, others });
    }
}

fn match_reason(place: &BlockSpec) -> &'static str {
    match place.kind {
        BlockKind::Exact(_) => "the exact path ends the search",
        BlockKind::Prefix(_) => "the longest prefix, and no regex location matches",
        BlockKind::FinalPrefix(_) => "the longest prefix; its ^~ disables the regex locations of its level",
        BlockKind::Pattern(_) => {
            "the first matching regex location; they are tried once the longest prefix is known"
        }
        BlockKind::Named(_) => "internal redirect to a named location",
        BlockKind::Server | BlockKind::If => "the server itself",
    }
}

/// Collects the locations below `place`, except `taken`, that match the path.
fn add_others(sites: &Sites, place: u32, taken: u32, path: &[u8], others: &mut Vec<Other>) {
    let spec = &sites.places()[place as usize];
    let is_in_pattern = matches!(spec.kind, BlockKind::Pattern(_));
    let locations = match spec.kind {
        BlockKind::Server => &sites.servers()[sites.server_of(place) as usize].locations,
        BlockKind::Exact(_)
        | BlockKind::Prefix(_)
        | BlockKind::FinalPrefix(_)
        | BlockKind::Pattern(_)
        | BlockKind::Named(_)
        | BlockKind::If => &spec.locations,
    };
    let winner = &sites.places()[taken as usize];
    for location in locations {
        let other = &sites.places()[*location as usize];
        let fits = match &other.kind {
            BlockKind::Exact(text) => text.as_bytes() == path,
            BlockKind::Prefix(text) | BlockKind::FinalPrefix(text) => path.starts_with(text.as_bytes()),
            BlockKind::Pattern(pattern) => pattern.is_in(path, &mut PatternScratch::default()),
            BlockKind::Server | BlockKind::Named(_) | BlockKind::If => false,
        };
        if fits && *location != taken {
            let why = why_not(winner, other, is_in_pattern);
            others.push(Other { place: place_ref(other), why: why.to_owned() });
        }
        add_others(sites, *location, taken, path, others);
    }
}

fn why_not(winner: &BlockSpec, other: &BlockSpec, is_in_pattern: bool) -> &'static str {
    let is_pattern = matches!(other.kind, BlockKind::Pattern(_));
    if is_in_pattern && !is_pattern {
        return "prefix locations inside a regex location are never tried";
    }
    match (&winner.kind, is_pattern) {
        (BlockKind::Exact(_), _) => "an exact path ends the search",
        (BlockKind::FinalPrefix(_), true) => "^~ disables the regex locations",
        (BlockKind::Pattern(_), true) => "another regex location comes first",
        (BlockKind::Pattern(_), false) => "a regex location comes before a prefix",
        (_, true) => "its level is not searched for this path",
        (_, false) => "a longer or an outer prefix matches the path",
    }
}

pub(super) fn place_ref(place: &BlockSpec) -> BlockRef {
    BlockRef { name: place.name.to_string(), file: place.origin.file.to_string(), line: place.origin.line }
}

pub(super) fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl fmt::Display for BlockRef {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}  {}:{}", self.name, self.file, self.line)
    }
}
